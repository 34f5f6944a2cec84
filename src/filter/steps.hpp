// SPDX-License-Identifier: BSD-3-Clause
// The single filters. Filters that are not built in are not declared; see the table in filter.cpp.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "filter/filter.hpp"

namespace windrow {

using Bytes = std::span<const std::byte>;

// Appends the encoded bytes to `out`. May use its library's part of `buffers`. May throw std::bad_alloc.
using EncodeStep = Status (*)(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
// Appends at most `limit` bytes. Code::bad_file: invalid data.
using DecodeStep = Status (*)(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);

inline Status cannot_decode(const char* what) {
  return {Code::bad_file, fmt::format("the data is not valid {} output", what)};
}
inline Status cannot_encode(const char* what) {
  return {Code::internal, fmt::format("{} failed to compress", what)};
}
inline Status no_memory_for(const char* what) {
  return {Code::out_of_memory, fmt::format("out of memory for {}", what)};
}

// A parameter of the filter.
inline uint32_t value_of(const Filter& filter, size_t index, uint32_t otherwise) {
  return index < filter.values.size() ? filter.values[index] : otherwise;
}

Status encode_shuffle(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
Status decode_shuffle(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);
Status encode_fletcher32(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
Status decode_fletcher32(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);

#ifdef WINDROW_HAS_DEFLATE
Status encode_deflate(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
Status decode_deflate(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);
#endif
#ifdef WINDROW_HAS_LZ4
Status encode_lz4(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
Status decode_lz4(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);
#endif
#ifdef WINDROW_HAS_ZSTD
Status encode_zstd(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
Status decode_zstd(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);
#endif
#ifdef WINDROW_HAS_BLOSC
Status encode_blosc(const Filter& filter, Bytes in, FilterBuffers& buffers, ByteBuffer& out);
Status decode_blosc(const Filter& filter, Bytes in, size_t limit, FilterBuffers& buffers, ByteBuffer& out);
#endif

}  // namespace windrow
