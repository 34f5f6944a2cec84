// SPDX-License-Identifier: BSD-3-Clause
// FileSizeCheck: whether the file system allows a file that is as long as its variables. Otherwise the file would be
// refused when it is closed, with all data in it. Local; used on rank 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "format/format.hpp"

namespace windrow {

class FileSizeCheck {
 public:
  explicit FileSizeCheck(std::string path) : path_(std::move(path)) {}

  // Before `definitions` become the next variables of the catalog. is_elsewhere(number): the elements of that variable
  // are in other files.
  Status check(const Catalog& catalog, std::span<const VariableDefinition> definitions,
               FunctionRef<bool(size_t)> is_elsewhere);
  void add(int64_t bytes) noexcept;                    // a variable has got so many more
  void restart() noexcept { counted_variables_ = 0; }  // variables have changed: the next check counts all again

 private:
  std::string path_;
  size_t counted_variables_ = 0;  // bytes_ is the sum of these
  int64_t bytes_ = 0;             // of contiguous variables in the file itself
  int tried_width_ = 0;           // bits of the largest size that the file system has allowed
};

}  // namespace windrow
