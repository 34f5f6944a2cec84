// SPDX-License-Identifier: BSD-3-Clause
// 16-bit floating-point numbers (IEEE 754 binary16), computed in integer registers: not every compiler and machine has
// a type for them.
#pragma once

#include <bit>
#include <cstdint>

namespace windrow {

struct Half {
  uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;  // bitwise
};

inline constexpr double k_most_half = 65504;

// Exact: every half is representable as a double.
inline double wide(Half half) noexcept {
  const uint64_t sign = uint64_t{half.bits & 0x8000U} << 48U, exponent = half.bits >> 10U & 0x1fU,
                 fraction = half.bits & 0x3ffU;
  if (exponent == 0) {
    const double value = static_cast<double>(fraction) * 0x1p-24;
    return sign != 0 ? -value : value;
  }
  const uint64_t widened = exponent == 0x1f ? 0x7ff : exponent + 1023 - 15;
  return std::bit_cast<double>(sign | widened << 52U | fraction << 42U);
}

// Rounds to the nearest half, ties to even. Values beyond the largest half become infinite. A NaN keeps the leading
// bits of its payload.
inline Half narrow(double value) noexcept {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = bits >> 48U & 0x8000U, magnitude = bits & INT64_MAX;
  const auto made = [&](uint64_t rest) { return Half{static_cast<uint16_t>(sign | rest)}; };
  if (magnitude > uint64_t{0x7ff} << 52U)
    return made(0x7e00U | (magnitude >> 42U & 0x3ffU));
  if (magnitude >= std::bit_cast<uint64_t>(65520.0))
    return made(0x7c00U);
  if (magnitude <
      std::bit_cast<uint64_t>(0x1p-14))  // the last bit of the sum is worth 2^-24, like those of the operands
    return made(std::bit_cast<uint64_t>(std::bit_cast<double>(magnitude) + 0x1p28) - std::bit_cast<uint64_t>(0x1p28));
  const uint64_t rebiased = magnitude - (uint64_t{1023 - 15} << 52U);
  return made((rebiased + (uint64_t{1} << 41U) - 1 + (rebiased >> 42U & 1U)) >> 42U);
}

}  // namespace windrow
