// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum.hpp"

#include <bit>

#include "codec/little_endian.hpp"

#if WINDROW_CODEC_XXHASH
#define XXH_STATIC_LINKING_ONLY  // makes the state a complete type, for use as a member
#include <xxhash.h>
#endif

namespace windrow {
namespace {

constexpr uint32_t k_prime_1 = 0x9e3779b1, k_prime_2 = 0x85ebca77, k_prime_3 = 0xc2b2ae3d, k_prime_4 = 0x27d4eb2f,
                   k_prime_5 = 0x165667b1;

}  // namespace

void Xxh32::add(std::span<const std::byte> bytes) noexcept {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  bytes_ += bytes.size();
  for (; end - at >= 16; at += 16)
    for (size_t lane = 0; lane < 4; ++lane)
      lanes_[lane] = std::rotl(lanes_[lane] + get_u32(at + 4 * lane) * k_prime_2, 13) * k_prime_1;
  uint32_t sum = k_prime_5;
  if (bytes_ >= 16)
    sum = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
  sum += static_cast<uint32_t>(bytes_);
  for (; end - at >= 4; at += 4)
    sum = std::rotl(sum + get_u32(at) * k_prime_3, 17) * k_prime_4;
  for (; at != end; ++at)
    sum = std::rotl(sum + std::to_integer<uint32_t>(*at) * k_prime_5, 11) * k_prime_1;
  sum = (sum ^ sum >> 15) * k_prime_2;
  sum = (sum ^ sum >> 13) * k_prime_3;
  sum_ = sum ^ sum >> 16;
}

uint32_t xxh32(std::span<const std::byte> bytes) noexcept {
  Xxh32 all;
  all.add(bytes);
  return all.sum();
}

#if WINDROW_CODEC_XXHASH
struct ElementSum::Large {
  XXH3_state_t state;
};
#else
struct ElementSum::Large {};
#endif

SumKind best_sum() noexcept {
  return has_sum(SumKind::xxh3) ? SumKind::xxh3 : SumKind::xxh32;
}

bool has_sum(SumKind kind) noexcept {
  return kind == SumKind::xxh32 || (kind == SumKind::xxh3 && WINDROW_CODEC_XXHASH != 0);
}

ElementSum::ElementSum(SumKind kind) {
  if (kind == SumKind::xxh32)
    return;
  large_ = std::make_unique<Large>();
#if WINDROW_CODEC_XXHASH
  (void)XXH3_64bits_reset(&large_->state);
#endif
}

ElementSum::ElementSum(ElementSum&&) noexcept = default;
ElementSum::~ElementSum() = default;

void ElementSum::add(std::span<const std::byte> bytes) noexcept {
  if (!large_)
    return small_.add(bytes);
#if WINDROW_CODEC_XXHASH
  (void)XXH3_64bits_update(&large_->state, bytes.data(), bytes.size());
#endif
}

uint64_t ElementSum::sum() const noexcept {
#if WINDROW_CODEC_XXHASH
  if (large_)
    return XXH3_64bits_digest(&large_->state);
#endif
  return small_.sum();
}

}  // namespace windrow
