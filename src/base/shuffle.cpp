// SPDX-License-Identifier: BSD-3-Clause
#include "base/shuffle.hpp"

#include <algorithm>

namespace windrow {
namespace {

constexpr size_t k_part = 4096;  // elements: an element's bytes lie far apart on one side, and this many of them stay in the nearest cache

// `to_planes`: byte k of all elements, then byte k + 1; else back.
void shuffle_parts(const std::byte* from, std::byte* to, size_t elements, size_t size, bool to_planes) noexcept {
  for (size_t begin = 0; begin < elements; begin += k_part) {
    const size_t end = std::min(elements, begin + k_part);
    for (size_t k = 0; k < size; ++k) {
      const size_t plane = k * elements;
      if (to_planes)
        for (size_t i = begin; i < end; ++i) to[plane + i] = from[i * size + k];
      else
        for (size_t i = begin; i < end; ++i) to[i * size + k] = from[plane + i];
    }
  }
}

// The same for a size that the compiler knows: it takes whole vectors apart and puts them together.
template <size_t Size>
void shuffle_known(const std::byte* __restrict from, std::byte* __restrict to, size_t elements, bool to_planes) noexcept {
  if (to_planes) {
    for (size_t begin = 0; begin < elements; begin += k_part) {
      const size_t end = std::min(elements, begin + k_part);
      for (size_t k = 0; k < Size; ++k)
        for (size_t i = begin; i < end; ++i) to[k * elements + i] = from[i * Size + k];
    }
  } else {
    for (size_t i = 0; i < elements; ++i)
      for (size_t k = 0; k < Size; ++k) to[i * Size + k] = from[k * elements + i];
  }
}

void shuffle_any(std::span<const std::byte> from, size_t size, std::span<std::byte> to, bool to_planes) noexcept {
  const size_t elements = size > 1 ? from.size() / size : 0;
  switch (size) {
    case 2: shuffle_known<2>(from.data(), to.data(), elements, to_planes); break;
    case 4: shuffle_known<4>(from.data(), to.data(), elements, to_planes); break;
    case 8: shuffle_known<8>(from.data(), to.data(), elements, to_planes); break;
    default: shuffle_parts(from.data(), to.data(), elements, size, to_planes);
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
