// SPDX-License-Identifier: BSD-3-Clause
// Integer arithmetic that reports overflow, and the common roundings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace windrow {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) noexcept {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    return std::nullopt;
  return sum;
}

inline std::optional<int64_t> checked_multiply(int64_t a, int64_t b) noexcept {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

// Product of all factors; 1 for none. nullopt on overflow, even when a later factor is zero.
inline std::optional<int64_t> checked_product(std::span<const int64_t> factors) noexcept {
  int64_t product = 1;
  for (int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product))
      return std::nullopt;
  return product;
}

// For non-negative a and positive b.
constexpr int64_t ceil_divide(int64_t a, int64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}
constexpr int64_t round_down(int64_t a, int64_t unit) noexcept {
  return a - a % unit;
}
constexpr int64_t round_up(int64_t a, int64_t unit) noexcept {
  return round_down(a + unit - 1, unit);
}

}  // namespace windrow
