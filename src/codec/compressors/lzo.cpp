// SPDX-License-Identifier: BSD-3-Clause
// LZO1X-1, the compressor of the TPC I/O paper. Source: lzo1x.h and doc/LZO.FAQ of LZO 2.10.
#include <algorithm>

#include "codec/compressor.hpp"

#if WINDROW_CODEC_LZO
#include <lzo/lzo1x.h>
#endif

namespace windrow {

namespace {

#if WINDROW_CODEC_LZO

class LzoState final : public CompressorState {
 public:
  explicit LzoState(int64_t largest)
      : largest_(static_cast<size_t>(largest)),
        work_(std::make_unique<std::byte[]>(LZO1X_1_MEM_COMPRESS)),
        made_(std::make_unique_for_overwrite<std::byte[]>(bound(largest_))) {}

  int64_t bytes() const noexcept override {
    return static_cast<int64_t>(sizeof *this + LZO1X_1_MEM_COMPRESS + bound(largest_));
  }

  // The library does not check the size of its output. It therefore writes to memory for its worst case, and a result
  // that is small enough is copied.
  int64_t compress(std::span<const std::byte> from, const CompressorOrder&, std::span<std::byte> to) noexcept override {
    if (from.size() > largest_)
      return 0;
    lzo_uint length = 0;
    if (lzo1x_1_compress(reinterpret_cast<const unsigned char*>(from.data()), from.size(),
                         reinterpret_cast<unsigned char*>(made_.get()), &length, work_.get()) != LZO_E_OK ||
        length > to.size())
      return 0;
    std::copy_n(made_.get(), length, to.data());
    return static_cast<int64_t>(length);
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept override {
    lzo_uint length = to.size();
    return lzo1x_decompress_safe(reinterpret_cast<const unsigned char*>(from.data()), from.size(),
                                 reinterpret_cast<unsigned char*>(to.data()), &length, nullptr) == LZO_E_OK &&
           length == to.size();
  }

 private:
  static size_t bound(size_t size) { return size + size / 16 + 64 + 3; }  // worst case according to the FAQ

  size_t largest_;
  std::unique_ptr<std::byte[]> work_, made_;
};

std::unique_ptr<CompressorState> make_state(int64_t largest, int) {
  return std::make_unique<LzoState>(largest);
}

#else

constexpr Compressor::MakeState make_state = nullptr;

#endif

}  // namespace

constinit const Compressor k_lzo_compressor(
    {.id = 2, .name = "lzo", .megabytes_per_s = 610, .decode_share = 0.7, .make_state = make_state});

}  // namespace windrow
