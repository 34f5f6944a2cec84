// SPDX-License-Identifier: BSD-3-Clause
// The single filters. Each takes bytes and gives bytes; those that are not built in are not declared as such: see filter.cpp's table.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "filter/filter.hpp"

namespace windrow {

using Bytes = std::span<const std::byte>;

// `out` gets the size that is needed; what was in it is gone. May throw std::bad_alloc.
using EncodeStep = Status (*)(const Filter& filter, Bytes in, std::vector<std::byte>& out);
// At most `limit` bytes come out. Code::bad_file: they are not what the filter makes.
using DecodeStep = Status (*)(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);

Status encode_shuffle(const Filter& filter, Bytes in, std::vector<std::byte>& out);
Status decode_shuffle(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);
Status encode_fletcher32(const Filter& filter, Bytes in, std::vector<std::byte>& out);
Status decode_fletcher32(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);

#ifdef WINDROW_HAS_DEFLATE
Status encode_deflate(const Filter& filter, Bytes in, std::vector<std::byte>& out);
Status decode_deflate(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);
#endif
#ifdef WINDROW_HAS_LZ4
Status encode_lz4(const Filter& filter, Bytes in, std::vector<std::byte>& out);
Status decode_lz4(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);
#endif
#ifdef WINDROW_HAS_ZSTD
Status encode_zstd(const Filter& filter, Bytes in, std::vector<std::byte>& out);
Status decode_zstd(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);
#endif
#ifdef WINDROW_HAS_BLOSC
Status encode_blosc(const Filter& filter, Bytes in, std::vector<std::byte>& out);
Status decode_blosc(const Filter& filter, Bytes in, size_t limit, std::vector<std::byte>& out);
#endif

}  // namespace windrow
