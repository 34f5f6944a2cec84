// SPDX-License-Identifier: BSD-3-Clause
// What a killed job has left in the chunks of subfiles behind the records that the set has: before the set grows past them they become unwritten.
#include "session/file.hpp"

namespace windrow {
namespace {

// From where on the bytes of a chunk are no records that there are: its rows follow each other.
int64_t bytes_kept(const ChunkLayout& layout, int64_t chunk, int64_t records) {
  const ChunkGrid& grid = layout.parts.front().grid;
  const int64_t rows = grid.chunk()[0], first = grid.first_element(chunk)[0];
  return std::clamp<int64_t>(records - first, 0, rows) * (layout.chunk_bytes() / rows);
}

}  // namespace

// Local: of a part in a subfile that this rank looks after, which has `found` records; the set has fewer.
Status File::blank_leftovers(Format& format, const SplitVariable& split, int64_t part, int64_t found) {
  const auto variable = std::find_if(catalog_.variables.begin(), catalog_.variables.end(), [&](const Variable& each) { return each.path == split.path; });
  SplitVariable as_found = split;
  as_found.records = found;
  auto chunking = as_found.chunking(part);
  if (!chunking.ok()) return chunking.status();
  auto grid = ChunkGrid::make(as_found.shape(part), chunking.value().shape);
  if (!grid.ok()) return grid.status();
  ChunkLayout layout;
  layout.path = split.path;
  layout.fill_value = variable->fill;
  layout.element_bytes = split.element_bytes;
  const FileLine& line = subfiles_->line();
  layout.parts.push_back({part, std::move(grid).value(), std::move(chunking).value(), 0, comm_->rank(), line.place(part + 1, 0), line.room});
  const ChunkGrid& chunks = layout.parts.front().grid;
  std::vector<std::byte> bytes(static_cast<size_t>(layout.chunk_bytes()));
  FilterBuffers buffers;
  ByteBuffer encoded;
  const int64_t layer = chunks.layer() / chunks.elements();  // in chunks
  for (int64_t chunk = split.records / chunks.chunk()[0] * layer; chunk < chunks.count(); ++chunk) {
    const std::vector<int64_t> first = chunks.first_element(chunk);
    const auto place = format.find_chunk(split.path, first);
    if (!place.ok()) return place.status();
    if (place.value().offset < 0) continue;
    const int64_t base = layout.parts.front().file_base, kept = bytes_kept(layout, chunk, split.records);
    layout.fill(bytes);
    if (kept > 0) {
      const KnownChunks known{{chunk, {base + place.value().offset, place.value().bytes, place.value().skipped}}};
      ChunkReader reader(*data_, layout, known);
      if (Status status = reader.read(chunk, bytes); !status.ok()) return status;
      layout.fill(std::span(bytes).subspan(static_cast<size_t>(kept)));
    }
    encoded.clear();
    if (Status status = encode(layout.filters_of(chunk), bytes, buffers, encoded); !status.ok()) return status;
    const auto offset = format.place_chunk(split.path, first, static_cast<int64_t>(encoded.size()), true);
    if (!offset.ok()) return offset.status();
    data_->write(base + offset.value(), encoded.bytes());
    if (data_->failed()) return data_->take_status();
  }
  return {};
}

}  // namespace windrow
