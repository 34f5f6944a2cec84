// SPDX-License-Identifier: BSD-3-Clause
// What a killed job has left in chunks behind the records that there are: before a variable grows past them they become
// unwritten. In subfiles these may be records that the subfile has and the set has not; in any file they are the rest
// of a last chunk without filters, which is changed where it is.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

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

// Local, on the rank that has the index: of chunks without filters that hold the last of so many records what is behind
// it. Afterwards it is this program's own. Only bytes that no reader sees are written.
Status File::blank_tail(Format& format, const ChunkLayout& layout, int64_t records) {
  const ChunkGrid& chunks = layout.parts.front().grid;
  const int64_t rows = chunks.chunk()[0], layer = chunks.layer() / chunks.elements(), begin = records / rows * layer;
  if (records % rows == 0 || layer == 0)
    return {};  // full chunks, or records without elements
  const auto kept = static_cast<size_t>(bytes_kept(layout, begin, records));
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
    if (place.value().bytes != layout.chunk_bytes())  // as ChunkReader: behind it lies something else
      return {Code::bad_file, fmt::format("chunk {} of \"{}\" has {} instead of {}", chunk, layout.path,
                                          counted(place.value().bytes, "byte"), layout.chunk_bytes())};
    const int64_t offset = layout.parts.front().file_base + place.value().offset + static_cast<int64_t>(kept);
    data_->read(offset, std::span<std::byte>(found));
    if (!data_->failed() && !std::equal(found.begin(), found.end(), tail.begin()))
      data_->write(offset, tail);
    if (data_->failed())
      return data_->take_status();
  }
  return {};
}

// Local, on rank 0: the same of a variable that is not split, before it grows for the first time.
Status File::blank_tail_of(int number) {
  const Variable& variable = catalog_.variables[static_cast<size_t>(number)];
  if (mode_ != Mode::update || variable.chunking.empty() || is_split(variable.path) || grown_.contains({number, 0}))
    return {};
  const auto layout = layout_of(variable);
  if (!layout.ok())
    return layout.status();
  if (Status status = blank_tail(*format_, *layout.value(), variable.shape.front()); !status.ok())
    return status;
  grown_.insert({number, 0});
  return {};
}

// Local: of a part in a subfile that this rank looks after, before it grows for the first time. `found`: how many
// records it has, which may be more than the set has.
Status File::blank_part(Format& format, int variable, const SplitVariable& split, int64_t part, int64_t found) {
  if (mode_ != Mode::update || split.chunk.empty() || grown_.contains({variable, part}))
    return {};
  Status status;
  if (found > split.records) {
    status = blank_leftovers(format, split, part, found);
  } else {
    const auto layout = layout_in_subfile(split, part);
    status = layout.ok() ? blank_tail(format, layout.value(), split.records) : layout.status();
  }
  if (status.ok())
    grown_.insert({variable, part});
  return status;
}

// The chunks of a part as if it was the only one; its records are the set's.
Result<ChunkLayout> File::layout_in_subfile(const SplitVariable& split, int64_t part) const {
  const auto variable = std::find_if(catalog_.variables.begin(), catalog_.variables.end(),
                                     [&](const Variable& each) { return each.path == split.path; });
  auto chunking = split.chunking(part);
  if (!chunking.ok())
    return chunking.status();
  auto grid = ChunkGrid::make(split.shape(part), chunking.value().shape);
  if (!grid.ok())
    return grid.status();
  ChunkLayout layout;
  layout.path = split.path;
  layout.fill_value = variable->fill;
  layout.element_bytes = split.element_bytes;
  const FileLine& line = subfiles_->line();
  layout.parts.push_back({part, std::move(grid).value(), std::move(chunking).value(), 0, comm_->rank(),
                          line.place(part + 1, 0), line.room});
  return layout;
}

// Local: of a part in a subfile that this rank looks after, which has `found` records; the set has fewer.
Status File::blank_leftovers(Format& format, const SplitVariable& split, int64_t part, int64_t found) {
  SplitVariable as_found = split;
  as_found.records = found;
  const auto made = layout_in_subfile(as_found, part);
  if (!made.ok())
    return made.status();
  const ChunkLayout& layout = made.value();
  const ChunkGrid& chunks = layout.parts.front().grid;
  std::vector<std::byte> bytes(static_cast<size_t>(layout.chunk_bytes()));
  FilterBuffers buffers;
  ByteBuffer encoded;
  const int64_t layer = chunks.layer() / chunks.elements();  // in chunks
  for (int64_t chunk = split.records / chunks.chunk()[0] * layer; chunk < chunks.count(); ++chunk) {
    const std::vector<int64_t> first = chunks.first_element(chunk);
    const auto place = format.find_chunk(split.path, first);
    if (!place.ok())
      return place.status();
    if (place.value().offset < 0)
      continue;
    const int64_t base = layout.parts.front().file_base, kept = bytes_kept(layout, chunk, split.records);
    layout.fill(bytes);
    if (kept > 0) {
      const KnownChunks known{{chunk, {base + place.value().offset, place.value().bytes, place.value().skipped}}};
      ChunkReader reader(*data_, layout, known);
      if (Status status = reader.read(chunk, bytes); !status.ok())
        return status;
      layout.fill(std::span(bytes).subspan(static_cast<size_t>(kept)));
    }
    encoded.clear();
    if (Status status = encode(layout.filters_of(chunk), bytes, buffers, encoded); !status.ok())
      return status;
    const auto offset = format.place_chunk(split.path, first, static_cast<int64_t>(encoded.size()), true);
    if (!offset.ok())
      return offset.status();
    data_->write(base + offset.value().offset, encoded.bytes());
    if (data_->failed())
      return data_->take_status();
  }
  return {};
}

}  // namespace windrow
