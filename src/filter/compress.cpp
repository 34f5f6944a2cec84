// SPDX-License-Identifier: BSD-3-Clause
// The filters that make smaller, each over its library.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "filter/steps.hpp"

#if defined(WINDROW_HAS_LIBDEFLATE)
#include <libdeflate.h>
#elif defined(WINDROW_HAS_DEFLATE)
#include <zlib.h>
#endif
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

[[maybe_unused]] Status cannot_decode(const char* what) { return {Code::bad_file, fmt::format("the bytes are not what {} makes", what)}; }
[[maybe_unused]] Status cannot_encode(const char* what) { return {Code::internal, fmt::format("{} refused to compress", what)}; }

[[maybe_unused]] uint32_t value_of(const Filter& filter, size_t index, uint32_t otherwise) {
  return index < filter.values.size() ? filter.values[index] : otherwise;
}

// Numbers with the highest byte first, as the LZ4 filter writes them.
[[maybe_unused]] void put_number(std::byte* to, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(number >> (8 * (bytes - 1 - i)));
}
[[maybe_unused]] uint64_t get_number(const std::byte* from, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<uint64_t>(from[i]);
  return number;
}

}  // namespace

#if defined(WINDROW_HAS_LIBDEFLATE)

Status encode_deflate(const Filter& filter, Bytes in, std::vector<std::byte>& out) {
  const auto level = static_cast<int>(std::min<uint32_t>(value_of(filter, 0, 1), 9));
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(libdeflate_alloc_compressor(level),
                                                                                               &libdeflate_free_compressor);
  if (!compressor) return {Code::out_of_memory, "no memory for compression"};
  out.resize(libdeflate_zlib_compress_bound(compressor.get(), in.size()));
  const size_t size = libdeflate_zlib_compress(compressor.get(), in.data(), in.size(), out.data(), out.size());
  out.resize(size);
  return size > 0 ? Status() : cannot_encode("deflate");
}

Status decode_deflate(const Filter&, Bytes in, size_t limit, std::vector<std::byte>& out) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(libdeflate_alloc_decompressor(),
                                                                                                     &libdeflate_free_decompressor);
  if (!decompressor) return {Code::out_of_memory, "no memory for decompression"};
  out.resize(limit);
  size_t size = 0;
  if (libdeflate_zlib_decompress(decompressor.get(), in.data(), in.size(), out.data(), out.size(), &size) != LIBDEFLATE_SUCCESS)
    return cannot_decode("deflate");
  out.resize(size);
  return {};
}

#elif defined(WINDROW_HAS_DEFLATE)

Status encode_deflate(const Filter& filter, Bytes in, std::vector<std::byte>& out) {
  uLongf size = compressBound(in.size());
  out.resize(size);
  const int level = static_cast<int>(std::min<uint32_t>(value_of(filter, 0, 1), 9));
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()), in.size(), level) != Z_OK)
    return cannot_encode("deflate");
  out.resize(size);
  return {};
}

Status decode_deflate(const Filter&, Bytes in, size_t limit, std::vector<std::byte>& out) {
  out.resize(limit);
  uLongf size = limit;
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()), in.size()) != Z_OK)
    return cannot_decode("deflate");
  out.resize(size);
  return {};
}

#endif

#ifdef WINDROW_HAS_LZ4

// The size of all (8 bytes), that of a block (4), then for each block its stored size (4) and bytes: as they are where that is smaller.
Status encode_lz4(const Filter& filter, Bytes in, std::vector<std::byte>& out) {
  constexpr uint32_t k_largest = 1u << 30;
  uint32_t block = value_of(filter, 0, 0);
  if (block == 0 || block > k_largest) block = k_largest;
  block = static_cast<uint32_t>(std::min<size_t>(block, std::max<size_t>(in.size(), 1)));
  const size_t blocks = (in.size() + block - 1) / block;
  out.resize(12 + blocks * (4 + static_cast<size_t>(LZ4_compressBound(static_cast<int>(block)))));
  put_number(out.data(), in.size(), 8);
  put_number(out.data() + 8, block, 4);
  size_t at = 12;
  for (size_t begin = 0; begin < in.size(); begin += block) {
    const Bytes part = in.subspan(begin, std::min<size_t>(block, in.size() - begin));
    const int room = LZ4_compressBound(static_cast<int>(part.size()));
    int size = LZ4_compress_default(reinterpret_cast<const char*>(part.data()), reinterpret_cast<char*>(out.data() + at + 4),
                                    static_cast<int>(part.size()), room);
    if (size <= 0 || static_cast<size_t>(size) >= part.size()) {
      std::memcpy(out.data() + at + 4, part.data(), part.size());
      size = static_cast<int>(part.size());
    }
    put_number(out.data() + at, static_cast<uint64_t>(size), 4);
    at += 4 + static_cast<size_t>(size);
  }
  out.resize(at);
  return {};
}

Status decode_lz4(const Filter&, Bytes in, size_t limit, std::vector<std::byte>& out) {
  if (in.size() < 12) return cannot_decode("lz4");
  const uint64_t size = get_number(in.data(), 8);
  const uint64_t block = std::min(get_number(in.data() + 8, 4), std::max<uint64_t>(size, 1));
  if (size > limit || block == 0) return cannot_decode("lz4");
  out.resize(size);
  size_t at = 12;
  for (size_t begin = 0; begin < size; begin += block) {
    const size_t part = std::min<size_t>(block, size - begin);
    if (in.size() - at < 4) return cannot_decode("lz4");
    const uint64_t stored = get_number(in.data() + at, 4);
    at += 4;
    if (stored > in.size() - at || stored > static_cast<uint64_t>(std::numeric_limits<int>::max())) return cannot_decode("lz4");
    if (stored == part) {
      std::memcpy(out.data() + begin, in.data() + at, part);
    } else if (LZ4_decompress_safe(reinterpret_cast<const char*>(in.data() + at), reinterpret_cast<char*>(out.data() + begin),
                                   static_cast<int>(stored), static_cast<int>(part)) != static_cast<int>(part)) {
      return cannot_decode("lz4");
    }
    at += stored;
  }
  return {};
}

#endif

#ifdef WINDROW_HAS_ZSTD

Status encode_zstd(const Filter& filter, Bytes in, std::vector<std::byte>& out) {
  out.resize(ZSTD_compressBound(in.size()));
  const size_t size = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), static_cast<int>(std::clamp<uint32_t>(value_of(filter, 0, 3), 1, 22)));
  if (ZSTD_isError(size)) return cannot_encode("zstd");
  out.resize(size);
  return {};
}

Status decode_zstd(const Filter&, Bytes in, size_t limit, std::vector<std::byte>& out) {
  out.resize(limit);
  const size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(size)) return cannot_decode("zstd");
  out.resize(size);
  return {};
}

#endif

#ifdef WINDROW_HAS_BLOSC

// Values: two versions, bytes of an element, bytes of a chunk, level, whether shuffled, which compressor.
Status encode_blosc(const Filter& filter, Bytes in, std::vector<std::byte>& out) {
  const char* compressor = nullptr;
  if (blosc_compcode_to_compname(static_cast<int>(value_of(filter, 6, BLOSC_BLOSCLZ)), &compressor) < 0 || compressor == nullptr)
    return {Code::unsupported, "this libblosc has not the compressor that blosc asks for"};
  out.resize(in.size() + BLOSC_MAX_OVERHEAD);
  const int size = blosc_compress_ctx(static_cast<int>(value_of(filter, 4, 5)), static_cast<int>(value_of(filter, 5, BLOSC_SHUFFLE)),
                                      std::max<uint32_t>(value_of(filter, 2, 1), 1), in.size(), in.data(), out.data(), out.size(), compressor, 0, 1);
  if (size <= 0) return cannot_encode("blosc");
  out.resize(static_cast<size_t>(size));
  return {};
}

Status decode_blosc(const Filter&, Bytes in, size_t limit, std::vector<std::byte>& out) {
  size_t size = 0;
  if (blosc_cbuffer_validate(in.data(), in.size(), &size) < 0 || size > limit) return cannot_decode("blosc");
  out.resize(size);
  const int made = blosc_decompress_ctx(in.data(), out.data(), out.size(), 1);
  return made >= 0 && static_cast<size_t>(made) == size ? Status() : cannot_decode("blosc");
}

#endif

}  // namespace windrow
