// SPDX-License-Identifier: BSD-3-Clause
// Fill values: what elements hold that nobody has written. As text for users, as stored bytes for files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// One element as it is stored; empty when all its bytes are zero, which needs no word. "nan", "-inf"; "true"; a complex
// number "1.5,-2", or its real part alone; text of fixed length itself; opaque bytes "0xfffe". Code::bad_argument: not
// one of the type.
Result<std::vector<std::byte>> parse_fill(Type type, const Details& details, bool big_endian, std::string_view text);

// What parse_fill() makes the same bytes of, but for the payload of a NaN; "" for none.
std::string fill_text(Type type, const Details& details, bool big_endian, const std::vector<std::byte>& fill);

// The value of one element in native order, as text for users.
std::string element_text(Type type, const Details& details, std::span<const std::byte> element);

}  // namespace windrow
