// SPDX-License-Identifier: BSD-3-Clause
// Integers of variable length: 7 bits a byte, lowest first; the high bit says that more bytes follow (LEB128). Reading
// is safe on any input. Source: DWARF 5, section 7.6; protobuf documentation "Encoding", Base 128 Varints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace windrow {

inline void append_varint(std::vector<std::byte>& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

// nullopt: the input ends inside the number, or the number exceeds 64 bits. `position` is then unspecified but within
// the input.
inline std::optional<uint64_t> read_varint(std::span<const std::byte> bytes, size_t& position) noexcept {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (position >= bytes.size())
      return std::nullopt;
    const auto next = std::to_integer<uint64_t>(bytes[position++]);
    if (shift == 63 && next > 1)
      return std::nullopt;
    value |= (next & 0x7f) << shift;
    if (next < 0x80)
      return value;
  }
  return std::nullopt;
}

}  // namespace windrow
