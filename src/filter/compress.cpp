// SPDX-License-Identifier: BSD-3-Clause
// The compressing filters, each with its library. Deflate has a file of its own.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "filter/steps.hpp"

#ifdef WINDROW_HAS_LZ4
#include <lz4.h>
#endif
#ifdef WINDROW_HAS_ZSTD
#include <zstd.h>
#endif
#ifdef WINDROW_HAS_BLOSC
#include <blosc.h>
#endif

namespace windrow {
namespace {

// Big-endian numbers, as the LZ4 filter writes them.
[[maybe_unused]] void put_number(std::byte* to, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    to[i] = static_cast<std::byte>(number >> (8 * (bytes - 1 - i)));
}
[[maybe_unused]] uint64_t get_number(const std::byte* from, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; ++i)
    number = number << 8 | static_cast<uint64_t>(from[i]);
  return number;
}

}  // namespace

#ifdef WINDROW_HAS_LZ4

// Layout: total size (8 bytes), block size (4), then for each block its stored size (4) and bytes. A block that does
// not shrink is stored uncompressed.
Status encode_lz4(const Filter& filter, Bytes in, FilterBuffers&, ByteBuffer& out) {
  constexpr uint32_t k_largest = 1u << 30;
  uint32_t block = value_of(filter, 0, 0);
  if (block == 0 || block > k_largest)
    block = k_largest;
  block = static_cast<uint32_t>(std::min<size_t>(block, std::max<size_t>(in.size(), 1)));
  const size_t blocks = (in.size() + block - 1) / block;
  std::byte* const to =
      out.room(12 + blocks * (4 + static_cast<size_t>(LZ4_compressBound(static_cast<int>(block))))).data();
  put_number(to, in.size(), 8);
  put_number(to + 8, block, 4);
  size_t at = 12;
  for (size_t begin = 0; begin < in.size(); begin += block) {
    const Bytes part = in.subspan(begin, std::min<size_t>(block, in.size() - begin));
    const int room = LZ4_compressBound(static_cast<int>(part.size()));
    int size = LZ4_compress_default(reinterpret_cast<const char*>(part.data()), reinterpret_cast<char*>(to + at + 4),
                                    static_cast<int>(part.size()), room);
    if (size <= 0 || static_cast<size_t>(size) >= part.size()) {
      std::memcpy(to + at + 4, part.data(), part.size());
      size = static_cast<int>(part.size());
    }
    put_number(to + at, static_cast<uint64_t>(size), 4);
    at += 4 + static_cast<size_t>(size);
  }
  out.add(at);
  return {};
}

Status decode_lz4(const Filter&, Bytes in, size_t limit, FilterBuffers&, ByteBuffer& out) {
  if (in.size() < 12)
    return cannot_decode("lz4");
  const uint64_t size = get_number(in.data(), 8);
  const uint64_t block = std::min(get_number(in.data() + 8, 4), std::max<uint64_t>(size, 1));
  if (size > limit || block == 0)
    return cannot_decode("lz4");
  std::byte* const to = out.room(size).data();
  size_t at = 12;
  for (size_t begin = 0; begin < size; begin += block) {
    const size_t part = std::min<size_t>(block, size - begin);
    if (in.size() - at < 4)
      return cannot_decode("lz4");
    const uint64_t stored = get_number(in.data() + at, 4);
    at += 4;
    if (stored > in.size() - at || stored > static_cast<uint64_t>(std::numeric_limits<int>::max()))
      return cannot_decode("lz4");
    if (stored == part) {
      std::memcpy(to + begin, in.data() + at, part);
    } else if (LZ4_decompress_safe(reinterpret_cast<const char*>(in.data() + at), reinterpret_cast<char*>(to + begin),
                                   static_cast<int>(stored), static_cast<int>(part)) != static_cast<int>(part)) {
      return cannot_decode("lz4");
    }
    at += stored;
  }
  out.add(size);
  return {};
}

#endif

#ifdef WINDROW_HAS_ZSTD

struct ZstdMemory {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor{nullptr, &ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decompressor{nullptr, &ZSTD_freeDCtx};
};

namespace {

ZstdMemory& zstd_memory(FilterBuffers& buffers) {
  if (!buffers.zstd)
    buffers.zstd = std::make_shared<ZstdMemory>();
  return *buffers.zstd;
}

}  // namespace

Status encode_zstd(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out) {
  auto& compressor = zstd_memory(buffers).compressor;
  if (!compressor)
    compressor.reset(ZSTD_createCCtx());
  if (!compressor)
    return no_memory_for("zstd");
  const std::span<std::byte> to = out.room(ZSTD_compressBound(in.size()));
  const int level = std::clamp(static_cast<int32_t>(value_of(filter, 0, 3)), k_least_zstd_level, k_most_zstd_level);
  const size_t size = ZSTD_compressCCtx(compressor.get(), to.data(), to.size(), in.data(), in.size(), level);
  if (ZSTD_isError(size))
    return cannot_encode("zstd");
  out.add(size);
  return {};
}

Status decode_zstd(const Filter&, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out) {
  auto& decompressor = zstd_memory(buffers).decompressor;
  if (!decompressor)
    decompressor.reset(ZSTD_createDCtx());
  if (!decompressor)
    return no_memory_for("zstd");
  const std::span<std::byte> to = out.room(limit);
  const size_t size = ZSTD_decompressDCtx(decompressor.get(), to.data(), to.size(), in.data(), in.size());
  if (ZSTD_isError(size))
    return cannot_decode("zstd");
  out.add(size);
  return {};
}

#endif

#ifdef WINDROW_HAS_BLOSC

// Values: two versions, bytes per element, bytes per chunk, level, shuffle, compressor.
Status encode_blosc(const Filter& filter, Bytes in, FilterBuffers&, ByteBuffer& out) {
  const char* compressor = nullptr;
  if (blosc_compcode_to_compname(static_cast<int>(value_of(filter, 6, BLOSC_BLOSCLZ)), &compressor) < 0 ||
      compressor == nullptr)
    return {Code::unsupported, "this libblosc was built without the requested compressor"};
  const std::span<std::byte> to = out.room(in.size() + BLOSC_MAX_OVERHEAD);
  const int size = blosc_compress_ctx(
      static_cast<int>(value_of(filter, 4, 5)), static_cast<int>(value_of(filter, 5, BLOSC_SHUFFLE)),
      std::max<uint32_t>(value_of(filter, 2, 1), 1), in.size(), in.data(), to.data(), to.size(), compressor, 0, 1);
  if (size <= 0)
    return cannot_encode("blosc");
  out.add(static_cast<size_t>(size));
  return {};
}

Status decode_blosc(const Filter&, Bytes in, size_t limit, FilterBuffers&, ByteBuffer& out) {
  size_t size = 0;
  if (blosc_cbuffer_validate(in.data(), in.size(), &size) < 0 || size > limit)
    return cannot_decode("blosc");
  const int made = blosc_decompress_ctx(in.data(), out.room(size).data(), size, 1);
  if (made < 0 || static_cast<size_t>(made) != size)
    return cannot_decode("blosc");
  out.add(size);
  return {};
}

#endif

}  // namespace windrow
