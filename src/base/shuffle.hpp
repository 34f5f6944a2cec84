// SPDX-License-Identifier: BSD-3-Clause
// Byte shuffle: the bytes of elements ordered by their place in the element. Bytes that change slowly from element to
// element come to lie beside each other, and compressors find them.
#pragma once

#include <cstddef>
#include <span>

namespace windrow {

// Byte 0 of all elements, then byte 1 of all, ...; what is left over at the end, and is no whole element, stays behind.
// With elements of one byte, or of more bytes than there are, a copy. `to` is as long as `from`, and they do not
// overlap; element_bytes >= 1.
void shuffle_bytes(std::span<const std::byte> from, size_t element_bytes, std::span<std::byte> to) noexcept;

// And back.
void unshuffle_bytes(std::span<const std::byte> from, size_t element_bytes, std::span<std::byte> to) noexcept;

}  // namespace windrow
