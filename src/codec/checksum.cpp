// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum.hpp"

#include <array>
#include <bit>

#include "codec/little_endian.hpp"

namespace windrow {
namespace {

constexpr uint32_t k_prime_1 = 0x9e3779b1, k_prime_2 = 0x85ebca77, k_prime_3 = 0xc2b2ae3d, k_prime_4 = 0x27d4eb2f, k_prime_5 = 0x165667b1;

}  // namespace

uint32_t xxh32(std::span<const std::byte> bytes) noexcept {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  uint32_t sum = k_prime_5;
  if (bytes.size() >= 16) {
    std::array<uint32_t, 4> lanes{k_prime_1 + k_prime_2, k_prime_2, 0, 0u - k_prime_1};
    for (; end - at >= 16; at += 16)
      for (size_t lane = 0; lane < 4; ++lane)
        lanes[lane] = std::rotl(lanes[lane] + get_u32(at + 4 * lane) * k_prime_2, 13) * k_prime_1;
    sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  }
  sum += static_cast<uint32_t>(bytes.size());
  for (; end - at >= 4; at += 4) sum = std::rotl(sum + get_u32(at) * k_prime_3, 17) * k_prime_4;
  for (; at != end; ++at) sum = std::rotl(sum + std::to_integer<uint32_t>(*at) * k_prime_5, 11) * k_prime_1;
  sum = (sum ^ sum >> 15) * k_prime_2;
  sum = (sum ^ sum >> 13) * k_prime_3;
  return sum ^ sum >> 16;
}

}  // namespace windrow
