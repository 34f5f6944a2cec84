// SPDX-License-Identifier: BSD-3-Clause
#include "base/shuffle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)  // Clang, and GCC since 12
#define WINDROW_HAS_LANES
#endif
#endif

namespace windrow {
namespace {

// elements: the bytes of an element lie far apart on one side, and a block of this size stays in the L1 cache
constexpr size_t k_part = 4096;

// `to_planes`: writes byte k of all elements from `begin` on, then byte k + 1, and so on. Otherwise the inverse.
void shuffle_parts(const std::byte* from, std::byte* to, size_t elements, size_t size, size_t begin,
                   bool to_planes) noexcept {
  for (size_t end; begin < elements; begin = end) {
    end = std::min(elements, begin + k_part);
    for (size_t k = 0; k < size; ++k) {
      const size_t plane = k * elements;
      if (to_planes)
        for (size_t i = begin; i < end; ++i)
          to[plane + i] = from[i * size + k];
      else
        for (size_t i = begin; i < end; ++i)
          to[i * size + k] = from[plane + i];
    }
  }
}

#ifdef WINDROW_HAS_LANES

// Sixteen bytes at a time, in any processor's registers.
using Lanes = uint8_t __attribute__((vector_size(16)));

Lanes load(const std::byte* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

// Sixteen elements are `Size` vectors. One turn interleaves the first half of the vectors with the second, byte by
// byte. It rotates the bits of each byte's index by one. Four turns move the element index to the low bits and the
// index within the element to the high bits, which is the shuffle. The remaining turns complete the rotation, which is
// the inverse.
template <size_t Size, int Turns>
void turn(std::array<Lanes, Size>& all) noexcept {
  for (int i = 0; i < Turns; ++i) {
    const std::array<Lanes, Size> old = all;
    for (size_t k = 0; k < Size / 2; ++k) {
      const Lanes a = old[k], b = old[k + Size / 2];
      all[2 * k] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      all[2 * k + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
  }
}

template <size_t Size>
void shuffle_known(const std::byte* from, std::byte* to, size_t elements, bool to_planes) noexcept {
  const size_t whole = elements / 16 * 16;
  std::array<Lanes, Size> all;
  for (size_t i = 0; i < whole; i += 16) {
    if (to_planes) {
      for (size_t k = 0; k < Size; ++k)
        all[k] = load(from + i * Size + 16 * k);
      turn<Size, 4>(all);
      for (size_t k = 0; k < Size; ++k)
        std::memcpy(to + k * elements + i, &all[k], 16);
    } else {
      for (size_t k = 0; k < Size; ++k)
        all[k] = load(from + k * elements + i);
      turn<Size, std::countr_zero(Size)>(all);
      for (size_t k = 0; k < Size; ++k)
        std::memcpy(to + i * Size + 16 * k, &all[k], 16);
    }
  }
  shuffle_parts(from, to, elements, Size, whole, to_planes);
}

#else

template <size_t Size>
void shuffle_known(const std::byte* from, std::byte* to, size_t elements, bool to_planes) noexcept {
  shuffle_parts(from, to, elements, Size, 0, to_planes);
}

#endif

void shuffle_any(std::span<const std::byte> from, size_t size, std::span<std::byte> to, bool to_planes) noexcept {
  const size_t elements = size > 1 ? from.size() / size : 0;
  switch (size) {
    case 2:
      shuffle_known<2>(from.data(), to.data(), elements, to_planes);
      break;
    case 4:
      shuffle_known<4>(from.data(), to.data(), elements, to_planes);
      break;
    case 8:
      shuffle_known<8>(from.data(), to.data(), elements, to_planes);
      break;
    case 16:
      shuffle_known<16>(from.data(), to.data(), elements, to_planes);
      break;
    default:
      shuffle_parts(from.data(), to.data(), elements, size, 0, to_planes);
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
