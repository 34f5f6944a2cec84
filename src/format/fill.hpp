// SPDX-License-Identifier: BSD-3-Clause
// Fill values, which elements have that were never written. As text for users, as stored bytes in files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// One element as stored; empty if all its bytes are zero. Accepts "nan" and "-inf", "true", a complex number "1.5,-2"
// or only its real part, text of fixed length itself, and opaque bytes "0xfffe". Code::bad_argument: not a value of the
// type.
Result<std::vector<std::byte>> parse_fill(Type type, const Details& details, bool big_endian, std::string_view text);

// The inverse of parse_fill(), except for the payload of a NaN; "" for no fill value.
std::string fill_text(Type type, const Details& details, bool big_endian, const std::vector<std::byte>& fill);

// One element in native order, as text for users.
std::string element_text(Type type, const Details& details, std::span<const std::byte> element);

}  // namespace windrow
