// SPDX-License-Identifier: BSD-3-Clause
// FileSizeCheck: checks whether the file system allows a file that is as long as its variables. Without it the file
// would be refused when it is closed, after all data was written. Local; used on rank 0.
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

  // Called before `definitions` become the next variables of the catalog. is_elsewhere(number): whether the elements of
  // that variable are in other files.
  Status check(const Catalog& catalog, std::span<const VariableDefinition> definitions,
               FunctionRef<bool(size_t)> is_elsewhere);
  // Called when variables have grown by this number of bytes.
  void add(int64_t bytes) noexcept;
  // Called when variables have changed: the next check counts all of them again.
  void restart() noexcept { counted_variables_ = 0; }

 private:
  std::string path_;
  size_t counted_variables_ = 0;  // number of variables that bytes_ includes
  int64_t bytes_ = 0;             // bytes of contiguous variables in the file itself
  int tried_width_ = 0;           // bits of the largest size that the file system has allowed
};

}  // namespace windrow
