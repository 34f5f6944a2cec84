// SPDX-License-Identifier: BSD-3-Clause
// Deflate in zlib's wrapper, as in HDF5, with up to three libraries. ISA-L encodes levels 1 and 2, because it is the
// fastest. libdeflate, or else zlib, encodes higher levels and decodes. Measurements: docs/internals/modules/filter.md.
#include "filter/steps.hpp"

#ifdef WINDROW_HAS_DEFLATE

#include <algorithm>
#include <limits>
#include <memory>

#ifdef WINDROW_HAS_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif
#ifdef WINDROW_HAS_ISAL
#include <isa-l/igzip_lib.h>
#endif

namespace windrow {

struct DeflateMemory {
#ifdef WINDROW_HAS_LIBDEFLATE
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor{nullptr,
                                                                                           &libdeflate_free_compressor};
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor{
      nullptr, &libdeflate_free_decompressor};
  int level = -1;  // level of the compressor
#endif
#ifdef WINDROW_HAS_ISAL
  std::unique_ptr<isal_zstream> stream;
  std::unique_ptr<uint8_t[]> tokens;
#endif
};

namespace {

DeflateMemory& deflate_memory(FilterBuffers& buffers) {
  if (!buffers.deflate)
    buffers.deflate = std::make_shared<DeflateMemory>();
  return *buffers.deflate;
}

#ifdef WINDROW_HAS_LIBDEFLATE

Status encode_by_level(int level, Bytes in, DeflateMemory& memory, ByteBuffer& out) {
  if (memory.level != level)
    memory.compressor.reset(libdeflate_alloc_compressor(level));
  if (!memory.compressor)
    return no_memory_for("deflate");
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
  if (compress2(reinterpret_cast<Bytef*>(to), &size, reinterpret_cast<const Bytef*>(in.data()), in.size(), level) !=
      Z_OK)
    return cannot_encode("deflate");
  out.add(size);
  return {};
}

#endif

#ifdef WINDROW_HAS_ISAL

// False, with `out` unchanged: the other library must encode it.
bool encode_by_isal(int level, Bytes in, DeflateMemory& memory, ByteBuffer& out) {
  constexpr size_t k_tokens = std::max(ISAL_DEF_LVL1_LARGE, ISAL_DEF_LVL2_LARGE);
  if (level < 1 || level > 2 || in.size() > std::numeric_limits<uint32_t>::max() / 2)
    return false;
  if (!memory.stream) {
    memory.tokens.reset(new uint8_t[k_tokens]);
    memory.stream = std::make_unique<isal_zstream>();
  }
  isal_zstream& stream = *memory.stream;
  isal_deflate_init(&stream);
  stream.level = static_cast<uint32_t>(level);
  stream.level_buf = memory.tokens.get();
  stream.level_buf_size = k_tokens;
  stream.gzip_flag = IGZIP_ZLIB;
  stream.end_of_stream = 1;
  // Incompressible data is stored in blocks with small headers.
  const std::span<std::byte> to = out.room(in.size() + in.size() / 1024 + 512);
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(in.data()));  // read only
  stream.avail_in = static_cast<uint32_t>(in.size());
  stream.next_out = reinterpret_cast<uint8_t*>(to.data());
  stream.avail_out = static_cast<uint32_t>(to.size());
  if (isal_deflate(&stream) != COMP_OK || stream.internal_state.state != ZSTATE_END)
    return false;
  out.add(stream.total_out);
  return true;
}

#else

bool encode_by_isal(int, Bytes, DeflateMemory&, ByteBuffer&) {
  return false;
}

#endif

}  // namespace

Status encode_deflate(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out) {
  const auto level = static_cast<int>(std::min<uint32_t>(value_of(filter, 0, 1), 9));
  DeflateMemory& memory = deflate_memory(buffers);
  return encode_by_isal(level, in, memory, out) ? Status() : encode_by_level(level, in, memory, out);
}

#ifdef WINDROW_HAS_LIBDEFLATE

Status decode_deflate(const Filter&, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out) {
  auto& decompressor = deflate_memory(buffers).decompressor;
  if (!decompressor)
    decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor)
    return no_memory_for("deflate");
  const std::span<std::byte> to = out.room(limit);
  size_t size = 0;
  if (libdeflate_zlib_decompress(decompressor.get(), in.data(), in.size(), to.data(), to.size(), &size) !=
      LIBDEFLATE_SUCCESS)
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
