// SPDX-License-Identifier: BSD-3-Clause
// Values as JSON, in Zarr's conventions. For this module only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// With quotes; bytes that are not UTF-8 as "\xNN".
std::string json_text(std::string_view text);

// One number or boolean in native order. NaN and infinities are names: in quotes for Zarr's own fields, without for
// attributes, as Python reads them. "": another type.
std::string json_number(Type type, std::span<const std::byte> element, bool quotes);

// "": Zarr's attributes cannot represent it.
std::string json_value(const Attribute& attribute);

// Zarr's type name: "<f8"; "" for none.
std::string dtype_of(Type type, const Details& details, bool big_endian);

// Swaps the byte order if `big_endian` is not this processor's.
std::vector<std::byte> in_native_order(std::span<const std::byte> element, Type type, bool big_endian);

std::string base64(std::span<const std::byte> bytes);

}  // namespace windrow
