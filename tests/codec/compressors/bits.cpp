// SPDX-License-Identifier: BSD-3-Clause
// A compressor that only a test has: bytes without the bits that none of them has.
#include <algorithm>
#include <bit>

#include "codec/compressor.hpp"

namespace windrow {
namespace {

constexpr size_t k_head = 1;  // bits of a byte

size_t packed(size_t bytes, size_t bits) {
  return k_head + (bytes * bits + 7) / 8;
}
std::byte bit(size_t at) {
  return std::byte{1} << static_cast<int>(at);
}

class BitsState final : public CompressorState {
 public:
  int64_t bytes() const noexcept override { return static_cast<int64_t>(sizeof *this); }

  int64_t compress(std::span<const std::byte> from, const CompressorOrder&, std::span<std::byte> to) noexcept override {
    std::byte all{};
    for (const std::byte each : from)
      all |= each;
    const auto bits = static_cast<size_t>(std::bit_width(std::to_integer<unsigned>(all)));
    const size_t length = packed(from.size(), bits);
    if (length > to.size())
      return 0;
    std::ranges::fill(to.first(length), std::byte{});
    to[0] = static_cast<std::byte>(bits);
    for (size_t at = 0; at < from.size() * bits; ++at)
      if ((from[at / bits] & bit(at % bits)) != std::byte{})
        to[k_head + at / 8] |= bit(at % 8);
    return static_cast<int64_t>(length);
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept override {
    if (from.empty())
      return false;
    const auto bits = std::to_integer<size_t>(from[0]);
    if (bits > 8 || from.size() != packed(to.size(), bits))
      return false;
    std::ranges::fill(to, std::byte{});
    for (size_t at = 0; at < to.size() * bits; ++at)
      if ((from[k_head + at / 8] & bit(at % 8)) != std::byte{})
        to[at / bits] |= bit(at % bits);
    return true;
  }
};

std::unique_ptr<CompressorState> make_state(int64_t, int) {
  return std::make_unique<BitsState>();
}

}  // namespace

constinit const Compressor k_bits_compressor(
    {.id = 200, .name = "bits", .megabytes_per_s = 1, .make_state = make_state});

}  // namespace windrow
