// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/superblock.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace windrow {
namespace {

constexpr std::array<unsigned char, 8> k_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr size_t k_version = 8, k_address_bytes = 9, k_flags = 11;

uint32_t word_at(std::span<const std::byte> bytes) noexcept {
  uint32_t word = 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 4); ++i)
    word |= std::to_integer<uint32_t>(bytes[i]) << (8 * i);
  return word;
}

std::span<const std::byte> from(std::span<const std::byte> bytes, size_t offset) noexcept {
  return bytes.subspan(std::min(offset, bytes.size()));
}

size_t checked_bytes(std::span<const std::byte> superblock) noexcept {
  return 12 + 4 * std::to_integer<size_t>(superblock[k_address_bytes]);
}

}  // namespace

uint32_t checksum_of_metadata(std::span<const std::byte> bytes) noexcept {
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  const auto add = [&] {
    a += word_at(bytes);
    b += word_at(from(bytes, 4));
    c += word_at(from(bytes, 8));
  };
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    add();
    const auto stir = [](uint32_t& x, uint32_t& y, uint32_t z, int turn) {
      x -= y;
      x ^= std::rotl(y, turn);
      y += z;
    };
    stir(a, c, b, 4);
    stir(b, a, c, 6);
    stir(c, b, a, 8);
    stir(a, c, b, 16);
    stir(b, a, c, 19);
    stir(c, b, a, 4);
  }
  if (bytes.empty())
    return c;
  add();
  const auto end = [](uint32_t& x, uint32_t y, int turn) {
    x ^= y;
    x -= std::rotl(y, turn);
  };
  end(c, b, 14);
  end(a, c, 11);
  end(b, a, 25);
  end(c, b, 16);
  end(a, c, 4);
  end(b, a, 14);
  end(c, b, 24);
  return c;
}

bool has_write_mark(std::span<const std::byte> bytes) noexcept {
  const auto same = [](std::byte byte, unsigned char known) { return std::to_integer<unsigned char>(byte) == known; };
  return bytes.size() > k_flags &&
         std::equal(k_signature.begin(), k_signature.end(), bytes.begin(),
                    [&](unsigned char known, std::byte byte) { return same(byte, known); }) &&
         same(bytes[k_version], 3) && std::to_integer<size_t>(bytes[k_address_bytes]) <= 8;
}

void clear_write_mark(std::span<std::byte> bytes) noexcept {
  if (!has_write_mark(bytes))
    return;
  const size_t checked = checked_bytes(bytes);
  if (bytes.size() < checked + 4 || word_at(bytes.subspan(checked)) != checksum_of_metadata(bytes.first(checked)))
    return;
  bytes[k_flags] = std::byte{0};
  const uint32_t checksum = checksum_of_metadata(bytes.first(checked));
  for (size_t i = 0; i < 4; ++i)
    bytes[checked + i] = static_cast<std::byte>(checksum >> (8 * i));
}

}  // namespace windrow
