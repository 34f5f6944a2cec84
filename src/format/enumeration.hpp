// SPDX-License-Identifier: BSD-3-Clause
// Names of integer values: "NAME=value", one per line, as in options, files and catalogs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

struct EnumerationMember {
  std::string name;
  uint64_t value = 0;  // two's complement of signed types
};

// Code::bad_argument: `type` is not an integer type, a line is not NAME=value, a name is empty or repeated, a value is
// repeated or out of range, or the list exceeds HDF5's limit. The last equals sign of a line separates.
Result<std::vector<EnumerationMember>> parse_enumeration(Type type, std::string_view text);

// The value as text of the type: "-1", "255".
std::string value_text(Type type, uint64_t value);

// One line of an enumeration, without the line end.
std::string member_text(Type type, const EnumerationMember& member);

}  // namespace windrow
