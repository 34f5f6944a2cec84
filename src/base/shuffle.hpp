// SPDX-License-Identifier: BSD-3-Clause
// Byte shuffle: orders the bytes of elements by their position in the element. Bytes that change slowly from element to
// element become neighbours, which helps compressors.
#pragma once

#include <cstddef>
#include <span>

namespace windrow {

// Writes byte 0 of all elements, then byte 1 of all elements, and so on. Bytes after the last whole element are copied
// to the end. Elements of one byte, or longer than `from`, are copied unchanged. `to` has the length of `from` and does
// not overlap it; element_bytes >= 1.
void shuffle_bytes(std::span<const std::byte> from, size_t element_bytes, std::span<std::byte> to) noexcept;

// The inverse of shuffle_bytes().
void unshuffle_bytes(std::span<const std::byte> from, size_t element_bytes, std::span<std::byte> to) noexcept;

}  // namespace windrow
