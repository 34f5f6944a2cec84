// SPDX-License-Identifier: BSD-3-Clause
// Names of integers: "NAME=value", one a line, as users, files and catalogs have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

struct EnumerationMember {
  std::string name;
  uint64_t value = 0;  // of signed types as two's complement
};

// Code::bad_argument: `type` is not of integers, a line is not NAME=value, a name is empty or there twice, a value is
// there twice or none of the type, or there are more than HDF5 can store. The last equals sign of a line counts.
Result<std::vector<EnumerationMember>> parse_enumeration(Type type, std::string_view text);

// The value as the type has it: "-1", "255".
std::string value_text(Type type, uint64_t value);

// One line of an enumeration, without the end of the line.
std::string member_text(Type type, const EnumerationMember& member);

}  // namespace windrow
