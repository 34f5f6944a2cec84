// SPDX-License-Identifier: BSD-3-Clause
#include "base/shuffle.hpp"

#include <algorithm>

namespace windrow {
namespace {

constexpr size_t k_part = 4096;  // elements: an element's bytes lie far apart on one side, and this many of them stay in the nearest cache

// `to_planes`: byte k of all elements, then byte k + 1; else back. Size 0: `size`.
template <size_t Size>
void shuffle_parts(const std::byte* from, std::byte* to, size_t elements, size_t size, bool to_planes) noexcept {
  const size_t each = Size > 0 ? Size : size;
  for (size_t begin = 0; begin < elements; begin += k_part) {
    const size_t end = std::min(elements, begin + k_part);
    for (size_t k = 0; k < each; ++k) {
      const size_t plane = k * elements;
      if (to_planes)
        for (size_t i = begin; i < end; ++i) to[plane + i] = from[i * each + k];
      else
        for (size_t i = begin; i < end; ++i) to[i * each + k] = from[plane + i];
    }
  }
}

void shuffle_any(std::span<const std::byte> from, size_t size, std::span<std::byte> to, bool to_planes) noexcept {
  const size_t elements = size > 1 ? from.size() / size : 0;
  switch (size) {
    case 2: shuffle_parts<2>(from.data(), to.data(), elements, size, to_planes); break;
    case 4: shuffle_parts<4>(from.data(), to.data(), elements, size, to_planes); break;
    case 8: shuffle_parts<8>(from.data(), to.data(), elements, size, to_planes); break;
    default: shuffle_parts<0>(from.data(), to.data(), elements, size, to_planes);
  }
  const auto left_over = from.subspan(elements * size);
  std::copy(left_over.begin(), left_over.end(), to.begin() + static_cast<std::ptrdiff_t>(elements * size));
}

}  // namespace

void shuffle_bytes(std::span<const std::byte> from, size_t element_bytes, std::span<std::byte> to) noexcept {
  shuffle_any(from, element_bytes, to, true);
}

void unshuffle_bytes(std::span<const std::byte> from, size_t element_bytes, std::span<std::byte> to) noexcept {
  shuffle_any(from, element_bytes, to, false);
}

}  // namespace windrow
