// SPDX-License-Identifier: BSD-3-Clause
// LZ4 block format. Source: lz4.h of LZ4 1.9.
#include <new>

#include "codec/compressor.hpp"

#if WINDROW_CODEC_LZ4
#include <lz4.h>
#endif

namespace windrow {

namespace {

#if WINDROW_CODEC_LZ4

class Lz4State final : public CompressorState {
 public:
  int64_t bytes() const noexcept override { return static_cast<int64_t>(sizeof *this); }

  int64_t compress(std::span<const std::byte> from, const CompressorOrder&, std::span<std::byte> to) noexcept override {
    if (from.size() > LZ4_MAX_INPUT_SIZE || to.size() > LZ4_MAX_INPUT_SIZE)
      return 0;
    return LZ4_compress_fast_extState(&state_, reinterpret_cast<const char*>(from.data()),
                                      reinterpret_cast<char*>(to.data()), static_cast<int>(from.size()),
                                      static_cast<int>(to.size()), 1);
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept override {
    if (from.size() > LZ4_MAX_INPUT_SIZE || to.size() > LZ4_MAX_INPUT_SIZE)
      return false;
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                                         static_cast<int>(from.size()), static_cast<int>(to.size()));
    return made >= 0 && static_cast<size_t>(made) == to.size();
  }

 private:
  LZ4_stream_t state_;
};

std::unique_ptr<CompressorState> make_state(int64_t, int) {
  return std::make_unique<Lz4State>();
}

#else

constexpr Compressor::MakeState make_state = nullptr;

#endif

}  // namespace

constinit const Compressor k_lz4_compressor({.id = 3, .name = "lz4", .megabytes_per_s = 620, .make_state = make_state});

}  // namespace windrow
