// SPDX-License-Identifier: BSD-3-Clause
// Along which dimensions the variables of a file grow, how long these are, and which of them is the one that a format
// with only one keeps.
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
  Growth(const windrow::File& file, const Contents& contents);

  // The path of a variable's first dimension; "" for none.
  std::string name_of(int variable) const;
  // Of a variable's first dimension: by its name, where it has one, which variables with fewer records may have too;
  // else the variable's own.
  int64_t length(int variable) const;
  // Of a variable that grows: whether it does along the dimension that most of them have. One without a name has it
  // where it has as many records, or none.
  bool is_main(int variable) const;
  int64_t main_length() const noexcept { return main_length_; }

 private:
  const windrow::File& file_;
  std::map<std::string, int64_t> lengths_;  // by path
  std::string main_;
  int64_t main_length_ = 0;
};

}  // namespace copying
