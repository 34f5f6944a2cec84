// SPDX-License-Identifier: BSD-3-Clause
// A catalog as bytes: rank 0 reads it from the file and sends it to the other ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// All ranks run the same build on the same kind of processor, so numbers are in native order. Texts and lists are
// preceded by their length. May throw bad_alloc.
std::vector<std::byte> serialize(const Catalog& catalog);

// Code::internal: the bytes are not a complete catalog. Reads nothing outside them.
Result<Catalog> deserialize(std::span<const std::byte> bytes);

}  // namespace windrow
