// SPDX-License-Identifier: BSD-3-Clause
// A catalog as bytes: rank 0 reads it from the file, the other ranks get it as a message.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// Both ranks run the same build on the same kind of processor: numbers are in native order, texts and lists have their
// length in front. May throw bad_alloc.
std::vector<std::byte> serialize(const Catalog& catalog);

// Code::internal when the bytes are not a whole catalog; nothing outside them is read.
Result<Catalog> deserialize(std::span<const std::byte> bytes);

}  // namespace windrow
