// SPDX-License-Identifier: BSD-3-Clause
// Zstandard with static contexts. A context that allocates its own memory does so at first use, and again if messages
// have long been smaller than it was made for. Source: zstd.h of Zstandard 1.5, "Static allocation".
#include <algorithm>
#include <array>

#include "codec/compressor.hpp"

#if WINDROW_CODEC_ZSTD
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#endif

namespace windrow {

namespace {

#if WINDROW_CODEC_ZSTD

// The library has a parameter set for each range of sizes, and a set for smaller messages may need more memory.
size_t encode_bytes(int64_t largest, int level) {
  size_t most = 0;
  for (int each = 1; each <= level; ++each)
    for (const int64_t limit : {int64_t{16} << 10, int64_t{128} << 10, int64_t{256} << 10, largest}) {
      const auto size = static_cast<unsigned long long>(std::clamp<int64_t>(largest, 1, limit));
      most = std::max(most, ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(each, size, 0)));
    }
  return most;
}

class ZstdState final : public CompressorState {
 public:
  ZstdState(int64_t largest, int level)
      : largest_(static_cast<size_t>(largest)),
        level_(level),
        encode_bytes_(encode_bytes(largest, level)),
        decode_bytes_(ZSTD_estimateDCtxSize()),
        encode_memory_(std::make_unique_for_overwrite<std::byte[]>(encode_bytes_)),
        decode_memory_(std::make_unique_for_overwrite<std::byte[]>(decode_bytes_)),
        encoder_(ZSTD_initStaticCCtx(encode_memory_.get(), encode_bytes_)),
        decoder_(ZSTD_initStaticDCtx(decode_memory_.get(), decode_bytes_)) {}

  bool works() const noexcept { return encoder_ != nullptr && decoder_ != nullptr; }

  int64_t bytes() const noexcept override { return static_cast<int64_t>(sizeof *this + encode_bytes_ + decode_bytes_); }

  int64_t compress(std::span<const std::byte> from, const CompressorOrder& order,
                   std::span<std::byte> to) noexcept override {
    if (from.size() > largest_)
      return 0;
    const size_t length =
        ZSTD_compressCCtx(encoder_, to.data(), to.size(), from.data(), from.size(), std::clamp(order.level, 1, level_));
    return ZSTD_isError(length) ? 0 : static_cast<int64_t>(length);
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept override {
    return ZSTD_decompressDCtx(decoder_, to.data(), to.size(), from.data(), from.size()) == to.size();
  }

 private:
  size_t largest_;
  int level_;
  size_t encode_bytes_, decode_bytes_;
  std::unique_ptr<std::byte[]> encode_memory_, decode_memory_;
  ZSTD_CCtx* encoder_;  // in encode_memory_
  ZSTD_DCtx* decoder_;
};

std::unique_ptr<CompressorState> make_state(int64_t largest, int level) {
  auto state = std::make_unique<ZstdState>(largest, level);
  if (!state->works())
    throw std::bad_alloc();
  return state;
}

#else

constexpr Compressor::MakeState make_state = nullptr;

#endif

}  // namespace

constinit const Compressor k_zstd_compressor(
    {.id = 4, .name = "zstd", .megabytes_per_s = 330, .largest_level = 19, .make_state = make_state});

}  // namespace windrow
