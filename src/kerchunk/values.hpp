// SPDX-License-Identifier: BSD-3-Clause
// Values as JSON, as Zarr has them. Of this room only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// In quotes; what is not UTF-8 as "\xNN".
std::string json_text(std::string_view text);

// One number or truth value in native order; not a number and infinities are words: in quotes for Zarr's own fields,
// bare for attributes, as Python reads them. "": of another type.
std::string json_number(Type type, std::span<const std::byte> element, bool quotes);

// "": one that Zarr's attributes have no form for.
std::string json_value(const Attribute& attribute);

// Zarr's name of an element: "<f8"; "" for none.
std::string dtype_of(Type type, const Details& details, bool big_endian);

// The other byte order, where `big_endian` is not this processor's.
std::vector<std::byte> in_native_order(std::span<const std::byte> element, Type type, bool big_endian);

std::string base64(std::span<const std::byte> bytes);

}  // namespace windrow
