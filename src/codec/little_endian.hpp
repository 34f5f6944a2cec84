// SPDX-License-Identifier: BSD-3-Clause
// 32-bit numbers in little-endian order on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace windrow {

inline uint32_t get_u32(const std::byte* from) noexcept {
  return std::to_integer<uint32_t>(from[0]) | std::to_integer<uint32_t>(from[1]) << 8 |
         std::to_integer<uint32_t>(from[2]) << 16 | std::to_integer<uint32_t>(from[3]) << 24;
}

inline void put_u32(std::byte* to, uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i)
    to[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace windrow
