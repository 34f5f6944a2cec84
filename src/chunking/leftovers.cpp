// SPDX-License-Identifier: BSD-3-Clause
#include "chunking/leftovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.hpp"

namespace windrow {
namespace {

// The bytes of a chunk up to the last record. Its rows follow each other.
int64_t bytes_to_keep(const ChunkLayout& layout, int64_t chunk, int64_t records) {
  const ChunkGrid& grid = layout.parts.front().grid;
  const int64_t rows = grid.chunk()[0], first = grid.first_element(chunk)[0];
  return std::clamp<int64_t>(records - first, 0, rows) * (layout.chunk_bytes() / rows);
}

}  // namespace

Status blank_tail(DataFile& data, Format& format, const ChunkLayout& layout, int64_t records) {
  const ChunkGrid& chunks = layout.parts.front().grid;
  const int64_t rows = chunks.chunk()[0], layer = chunks.layer() / chunks.elements(), begin = records / rows * layer;
  if (records % rows == 0 || layer == 0)
    return {};  // complete chunks, or records without elements
  const auto kept = static_cast<size_t>(bytes_to_keep(layout, begin, records));
  std::vector<std::byte> unwritten(static_cast<size_t>(layout.chunk_bytes())), found(unwritten.size() - kept);
  layout.fill(unwritten);
  const auto tail = std::span<const std::byte>(unwritten).subspan(kept);
  for (int64_t chunk = begin; chunk < std::min(begin + layer, chunks.count()); ++chunk) {
    if (!layout.filters_of(chunk).empty())
      continue;
    const auto place = format.find_chunk(layout.path, chunks.first_element(chunk));
    if (!place.ok())
      return place.status();
    if (place.value().offset < 0)
      continue;
    if (place.value().bytes != layout.chunk_bytes())  // other data may follow; ChunkReader refuses it, too
      return {Code::bad_file, fmt::format("chunk {} of \"{}\" has {} instead of {}", chunk, layout.path,
                                          counted(place.value().bytes, "byte"), layout.chunk_bytes())};
    const int64_t offset = layout.parts.front().file_base + place.value().offset + static_cast<int64_t>(kept);
    data.read(offset, std::span<std::byte>(found));
    if (!data.failed() && !std::equal(found.begin(), found.end(), tail.begin()))
      data.write(offset, tail);
    if (data.failed())
      return data.take_status();
  }
  return {};
}

Status blank_records(DataFile& data, Format& format, const ChunkLayout& layout, int64_t records) {
  const ChunkGrid& chunks = layout.parts.front().grid;
  std::vector<std::byte> bytes(static_cast<size_t>(layout.chunk_bytes()));
  FilterBuffers buffers;
  ByteBuffer encoded;
  const int64_t layer = chunks.layer() / chunks.elements();  // in chunks
  for (int64_t chunk = records / chunks.chunk()[0] * layer; chunk < chunks.count(); ++chunk) {
    const std::vector<int64_t> first = chunks.first_element(chunk);
    const auto place = format.find_chunk(layout.path, first);
    if (!place.ok())
      return place.status();
    if (place.value().offset < 0)
      continue;
    const int64_t base = layout.parts.front().file_base, kept = bytes_to_keep(layout, chunk, records);
    layout.fill(bytes);
    if (kept > 0) {
      const KnownChunks known{{chunk, {base + place.value().offset, place.value().bytes, place.value().skipped}}};
      ChunkReader reader(data, layout, known);
      if (Status status = reader.read(chunk, bytes); !status.ok())
        return status;
      layout.fill(std::span(bytes).subspan(static_cast<size_t>(kept)));
    }
    encoded.clear();
    if (Status status = encode(layout.filters_of(chunk), bytes, buffers, encoded); !status.ok())
      return status;
    const auto offset = format.place_chunk(layout.path, first, static_cast<int64_t>(encoded.size()), true);
    if (!offset.ok())
      return offset.status();
    data.write(base + offset.value().offset, encoded.bytes());
    if (data.failed())
      return data.take_status();
  }
  format.forget_moved_chunks();
  return {};
}

}  // namespace windrow
