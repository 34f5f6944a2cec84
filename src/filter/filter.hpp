// SPDX-License-Identifier: BSD-3-Clause
// Filters: what becomes of a chunk's bytes between memory and the file, as HDF5's registered filters define it, so that
// every tool that has the filter reads what is encoded here. Pure: bytes to bytes; any number of threads at once.
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

// The numbers are those that The HDF Group has registered.
enum class FilterId : int {
  deflate = 1,
  shuffle = 2,
  fletcher32 = 3,
  blosc = 32001,
  lz4 = 32004,
  zstd = 32015
};

// One step of a pipeline, as an HDF5 file holds it.
struct Filter {
  int id = 0;                    // a FilterId, or one that we do not know
  std::vector<uint32_t> values;  // the filter's own numbers
  std::string name;              // what the file calls it, or we: says nothing of what it does
  friend bool operator==(const Filter& one, const Filter& other) {
    return one.id == other.id && one.values == other.values;
  }
};

// The filters in the order in which they encode; "" and "none" are none. For elements of so many bytes in chunks of so
// many. As ZSTD_minCLevel() and ZSTD_maxCLevel() have them.
inline constexpr int32_t k_least_zstd_level = -131072, k_most_zstd_level = 22;

// "shuffle,deflate:4,fletcher32"; deflate:LEVEL 0 to 9 (default 1), zstd:LEVEL -131072 to 22 (3; 0: as zstd has it,
// negative: faster), lz4, blosc:CODEC:LEVEL with CODEC lz4, zstd, zlib, blosclz or lz4hc (lz4:5, shuffled by bytes).
// Code::bad_argument: not one of these; Code::unsupported: not built in.
Result<std::vector<Filter>> parse_filters(std::string_view text, int64_t element_bytes, int64_t chunk_bytes);

// The same as text again; "filter NUMBER" for one that we do not know.
std::string text_of(std::span<const Filter> filters);

// "" or why a pipeline cannot be run: its first filter that is not known or not built in.
std::string missing_filter(std::span<const Filter> filters);

// Memory that encoding and decoding use again and again, so that a chunk allocates nothing once the largest has come.
// One thread's at a time.
struct FilterBuffers {
  ByteBuffer first, second;
  // What libraries work with; made when a chunk first needs it.
  std::shared_ptr<struct DeflateMemory> deflate;
  std::shared_ptr<struct ZstdMemory> zstd;
};

// Puts what the file shall hold of `bytes` behind what is in `out`.
Status encode(std::span<const Filter> filters, std::span<const std::byte> bytes, FilterBuffers& buffers,
              ByteBuffer& out);

// `skipped`: bit i says that filter i was left out for this chunk. Code::bad_file: the bytes are not what the filters
// make, or not as many as `bytes_out`, which then holds anything.
Status decode(std::span<const Filter> filters, uint32_t skipped, std::span<const std::byte> stored,
              std::span<std::byte> bytes_out, FilterBuffers& buffers);

// The names of the table, for windrow_has().
std::span<const std::string_view> filter_names() noexcept;

}  // namespace windrow
