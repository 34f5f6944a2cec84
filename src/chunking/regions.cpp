// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/checked.hpp"
#include "base/varint.hpp"
#include "chunking/chunks.hpp"

namespace windrow {
namespace {

// visit(Extent) for the range of each part that is in the hull and has these records. Allocates nothing.
template <class Visit>
void for_each_region(const ChunkLayout& layout, Extent hull, Extent records, Visit&& visit) {
  const int64_t chunk = layout.chunk_bytes();
  const Extent chunks{round_down(hull.begin, chunk), round_up(hull.end, chunk)};
  if (!layout.is_split())
    return visit(chunks);
  for (const ChunkPart& part : layout.parts) {
    Extent bytes = layout.bytes_of(part);
    if (records.begin < records.end) {  // layers of chunks along the first dimension, which is not cut
      const int64_t layer = part.grid.layer() * layout.element_bytes, rows = part.grid.chunk()[0];
      bytes = {bytes.begin + records.begin / rows * layer, bytes.begin + (records.end + rows - 1) / rows * layer};
    }
    bytes = intersect(bytes, chunks);
    if (!bytes.empty())
      visit(bytes);
  }
}

}  // namespace

std::vector<Extent> regions_of(const ChunkLayout& layout, Extent hull, Extent records) {
  std::vector<Extent> regions;
  for_each_region(layout, hull, records, [&](Extent bytes) {
    if (!regions.empty() && regions.back().end == bytes.begin)
      regions.back().end = bytes.end;
    else
      regions.push_back(bytes);
  });
  return regions;
}

int64_t chunks_in_regions(const ChunkLayout& layout, Extent hull, Extent records) noexcept {
  int64_t chunks = 0;
  for_each_region(layout, hull, records, [&](Extent bytes) { chunks += bytes.size() / layout.chunk_bytes(); });
  return chunks;
}

std::vector<std::byte> numbers_as_message(std::span<const int64_t> numbers) {
  std::vector<std::byte> bytes;
  int64_t before = 0;
  for (const int64_t number : numbers) {
    append_varint(bytes, static_cast<uint64_t>(number - before));
    before = number;
  }
  return bytes;
}

}  // namespace windrow
