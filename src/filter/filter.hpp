// SPDX-License-Identifier: BSD-3-Clause
// Filters transform the bytes of a chunk between memory and file, as HDF5's registered filters do, so that any tool
// with the filter reads the result. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "filter/byte_buffer.hpp"

namespace windrow {

// Numbers registered with The HDF Group.
enum class FilterId : int {
  deflate = 1,
  shuffle = 2,
  fletcher32 = 3,
  blosc = 32001,
  lz4 = 32004,
  zstd = 32015
};

// One step of a pipeline, as stored in an HDF5 file.
struct Filter {
  int id = 0;                    // a FilterId, or an unknown one
  std::vector<uint32_t> values;  // the filter's parameters
  std::string name;              // name in the file or in this library, for messages only
  friend bool operator==(const Filter& one, const Filter& other) {
    return one.id == other.id && one.values == other.values;
  }
};

// Same as ZSTD_minCLevel() and ZSTD_maxCLevel().
inline constexpr int32_t k_least_zstd_level = -131072, k_most_zstd_level = 22;

// Parses "shuffle,deflate:4,fletcher32", in the order of encoding; "" and "none" are empty. deflate:LEVEL 0 to 9
// (default 1), zstd:LEVEL -131072 to 22 (default 3; 0: zstd's default, negative: faster), lz4, blosc:CODEC:LEVEL with
// CODEC lz4, zstd, zlib, blosclz or lz4hc (default lz4:5, shuffled by bytes). For elements and chunks of these sizes.
// Code::bad_argument: another text; Code::unsupported: not built in.
Result<std::vector<Filter>> parse_filters(std::string_view text, int64_t element_bytes, int64_t chunk_bytes);

// The inverse of parse_filters(); "filter NUMBER" for an unknown one.
std::string text_of(std::span<const Filter> filters);

// Why a pipeline cannot run: its first filter that is unknown or not built in; or "".
std::string missing_filter(std::span<const Filter> filters);

// Memory that encoding and decoding reuse, so that a chunk allocates nothing after the largest one. For one thread at a
// time.
struct FilterBuffers {
  ByteBuffer first, second;
  // State of the libraries, created when a chunk first needs it.
  std::shared_ptr<struct DeflateMemory> deflate;
  std::shared_ptr<struct ZstdMemory> zstd;
};

// Appends the encoded form of `bytes` to `out`.
Status encode(std::span<const Filter> filters, std::span<const std::byte> bytes, FilterBuffers& buffers,
              ByteBuffer& out);

// `skipped`: bit i means that filter i was skipped for this chunk. Code::bad_file: the data is not valid, or not of the
// size of `bytes_out`, which then has undefined contents.
Status decode(std::span<const Filter> filters, uint32_t skipped, std::span<const std::byte> stored,
              std::span<std::byte> bytes_out, FilterBuffers& buffers);

// The names of the table, for windrow_has().
std::span<const std::string_view> filter_names() noexcept;

}  // namespace windrow
