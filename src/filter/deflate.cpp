// SPDX-License-Identifier: BSD-3-Clause
// Deflate, in zlib's wrapper as HDF5 has it: by libdeflate, and by zlib where that is missing.
#include "filter/steps.hpp"

#ifdef WINDROW_HAS_DEFLATE

#include <algorithm>
#include <memory>

#ifdef WINDROW_HAS_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

namespace windrow {

struct DeflateMemory {
#ifdef WINDROW_HAS_LIBDEFLATE
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor{nullptr, &libdeflate_free_compressor};
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor{nullptr, &libdeflate_free_decompressor};
  int level = -1;  // that the compressor was made for
#endif
};

namespace {

DeflateMemory& deflate_memory(FilterBuffers& buffers) {
  if (!buffers.deflate) buffers.deflate = std::make_shared<DeflateMemory>();
  return *buffers.deflate;
}

#ifdef WINDROW_HAS_LIBDEFLATE

Status encode_by_level(int level, Bytes in, DeflateMemory& memory, ByteBuffer& out) {
  if (memory.level != level) memory.compressor.reset(libdeflate_alloc_compressor(level));
  if (!memory.compressor) return no_memory_for("deflate");
  memory.level = level;
  const std::span<std::byte> to = out.room(libdeflate_zlib_compress_bound(memory.compressor.get(), in.size()));
  const size_t size = libdeflate_zlib_compress(memory.compressor.get(), in.data(), in.size(), to.data(), to.size());
  out.add(size);
  return size > 0 ? Status() : cannot_encode("deflate");
}

#else

Status encode_by_level(int level, Bytes in, DeflateMemory&, ByteBuffer& out) {
  uLongf size = compressBound(in.size());
  std::byte* const to = out.room(size).data();
  if (compress2(reinterpret_cast<Bytef*>(to), &size, reinterpret_cast<const Bytef*>(in.data()), in.size(), level) != Z_OK)
    return cannot_encode("deflate");
  out.add(size);
  return {};
}

#endif

}  // namespace

Status encode_deflate(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out) {
  const auto level = static_cast<int>(std::min<uint32_t>(value_of(filter, 0, 1), 9));
  return encode_by_level(level, in, deflate_memory(buffers), out);
}

#ifdef WINDROW_HAS_LIBDEFLATE

Status decode_deflate(const Filter&, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out) {
  auto& decompressor = deflate_memory(buffers).decompressor;
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) return no_memory_for("deflate");
  const std::span<std::byte> to = out.room(limit);
  size_t size = 0;
  if (libdeflate_zlib_decompress(decompressor.get(), in.data(), in.size(), to.data(), to.size(), &size) != LIBDEFLATE_SUCCESS)
    return cannot_decode("deflate");
  out.add(size);
  return {};
}

#else

Status decode_deflate(const Filter&, Bytes in, size_t limit, FilterBuffers&, ByteBuffer& out) {
  uLongf size = limit;
  std::byte* const to = out.room(size).data();
  if (uncompress(reinterpret_cast<Bytef*>(to), &size, reinterpret_cast<const Bytef*>(in.data()), in.size()) != Z_OK)
    return cannot_decode("deflate");
  out.add(size);
  return {};
}

#endif

}  // namespace windrow

#endif
