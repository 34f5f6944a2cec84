// SPDX-License-Identifier: BSD-3-Clause
// The extendible dimensions of a file, their lengths, and which of them a format with a single one keeps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include <windrow/windrow.hpp>

#include "copy/contents.hpp"

namespace copying {

class Growth {
 public:
  // Local.
  explicit Growth(const Contents& contents);

  // The path of a variable's first dimension; "": none.
  std::string name_of(int variable) const;
  // Length of a variable's first dimension: by name, if it has one, which may be shared with shorter variables;
  // otherwise the variable's own.
  int64_t length(int variable) const;
  // Whether an extendible variable uses the most common extendible dimension. An unnamed one counts as the same if it
  // has as many records, or none.
  bool is_main(int variable) const;
  int64_t main_length() const noexcept { return main_length_; }

 private:
  const windrow_variable_info& of(int variable) const { return contents_.variables[static_cast<size_t>(variable)]; }

  const Contents& contents_;
  std::map<std::string, int64_t> lengths_;  // by path
  std::string main_;
  int64_t main_length_ = 0;
};

}  // namespace copying
