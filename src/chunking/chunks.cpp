// SPDX-License-Identifier: BSD-3-Clause
#include "chunking/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/paint.hpp"
#include "base/units.hpp"
#include "comm/arrivals.hpp"
#include "comm/handle.hpp"

namespace windrow {

const ChunkPart& ChunkLayout::part_of(int64_t chunk) const noexcept {
  if (parts.size() == 1)
    return parts.front();
  return *std::prev(std::partition_point(parts.begin() + 1, parts.end(),
                                         [chunk](const ChunkPart& part) { return part.first <= chunk; }));
}

std::span<const Filter> ChunkLayout::filters_of(int64_t chunk) const noexcept {
  const ChunkPart& part = part_of(chunk);
  const bool unfiltered =
      part.chunking.edges_unfiltered && part.grid.elements_inside(chunk - part.first) < part.grid.elements();
  return unfiltered ? std::span<const Filter>() : part.chunking.filters;
}

int64_t ChunkLayout::bytes_inside(int64_t chunk) const noexcept {
  const ChunkPart& part = part_of(chunk);
  return part.grid.elements_inside(chunk - part.first) * element_bytes;
}

void ChunkLayout::fill(std::span<std::byte> bytes) const noexcept {
  paint(bytes, 0, fill_value);
}

Result<std::shared_ptr<const ChunkLayout>> layout_of(const Variable& variable) {
  auto grid = ChunkGrid::make(variable.shape, variable.chunking.shape);
  if (!grid.ok())
    return Status{grid.status().code(), fmt::format("\"{}\": {}", variable.path, grid.status().message())};
  auto layout = std::make_shared<ChunkLayout>();
  layout->path = variable.path;
  layout->parts.emplace_back();
  layout->parts.front().grid = std::move(grid).value();
  layout->parts.front().chunking = variable.chunking;
  layout->fill_value = variable.fill;
  layout->element_bytes = element_bytes(variable.type, variable.details);
  if (layout->count() > 0 && layout->count() > (int64_t{1} << 62) / layout->chunk_bytes())
    return Status{Code::bad_argument,
                  fmt::format("\"{}\": its chunks together have more than 2^62 bytes", variable.path)};
  return std::shared_ptr<const ChunkLayout>(std::move(layout));
}

std::vector<int64_t> choose_chunk(std::span<const int64_t> shape, int64_t element_bytes) {
  constexpr int64_t k_most = int64_t{2} << 20;
  std::vector<int64_t> chunk;
  for (const int64_t extent : shape)
    chunk.push_back(std::max<int64_t>(1, extent));
  const auto too_large = [&] {
    int64_t bytes = element_bytes;
    for (const int64_t extent : chunk) {
      if (extent > k_most / bytes)
        return true;
      bytes *= extent;
    }
    return false;
  };
  while (too_large()) {
    int64_t& longest = *std::max_element(chunk.begin(), chunk.end());
    if (longest == 1)
      break;
    longest = (longest + 1) / 2;
  }
  return chunk;
}

bool ChunkPlacer::step() {
  if (finished())
    return false;
  MPI_Status about;
  int64_t bytes = 0;
  if (take(k_tag_chunks, about, bytes)) {
    // A malformed message is answered too, or the writer would wait forever. The empty answer is an error for the
    // writer.
    constexpr auto k_each = static_cast<int64_t>(WantedChunk::k_words * sizeof(int64_t));
    const bool whole = bytes != k_too_long && bytes % k_each == 0;
    if (!whole)
      status_.update({Code::internal,
                      fmt::format("\"{}\": malformed chunk request from rank {}", layout_.path, about.MPI_SOURCE)});
    const auto count = whole ? static_cast<size_t>(bytes / k_each) : 0;
    const std::span<int64_t> answer = std::span(answer_).first(count);
    place(std::span<const int64_t>(message_).first(count * WantedChunk::k_words), answer);
    mpi_ok(MPI_Send(answer.data(), static_cast<int>(answer.size_bytes()), MPI_BYTE, about.MPI_SOURCE, k_tag_placed,
                    comm_.get()),
           "MPI_Send");
    return true;
  }
  if (!take(k_tag_chunks_end, about, bytes))
    return false;
  --left_;
  return true;
}

// Receives a pending message of any length.
bool ChunkPlacer::take(int tag, MPI_Status& about, int64_t& bytes) {
  int found = 0;
  if (broken_ || !mpi_ok(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_.get(), &found, &about), "MPI_Iprobe") || found == 0)
    return false;
  return mpi_ok(receive_found(std::as_writable_bytes(std::span(message_)), about, comm_.get(), bytes), "MPI_Recv");
}

void ChunkPlacer::place(std::span<const int64_t> wanted, std::span<int64_t> offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = -1;
    if (!status_.ok())
      continue;
    status_.update(guard([&] {
      const WantedChunk chunk = WantedChunk::at(wanted, i);
      if (chunk.chunk < 0 || chunk.chunk >= layout_.count() || chunk.bytes < 0)
        return Status(Code::internal, fmt::format("\"{}\": cannot allocate {} for chunk {} of {}", layout_.path,
                                                  counted(chunk.bytes, "byte"), chunk.chunk, layout_.count()));
      const ChunkPart& part = layout_.part_of(chunk.chunk);
      const auto format = format_of_(part);
      if (!format.ok())
        return format.status();
      placed_.push_back({.chunk = chunk.chunk, .in_part = chunk.in_part});
      const auto placed = format.value()->place_chunk(layout_.path, part.grid.first_element(chunk.chunk - part.first),
                                                      chunk.bytes, chunk.in_part);
      if (!placed.ok())
        return placed.status();
      placed_.back().is_new = placed.value().is_new;
      if (placed.value().offset > part.file_room - chunk.bytes)
        return Status(Code::unsupported,
                      fmt::format("\"{}\": its subfile would exceed the maximum size", layout_.path));
      offsets[i] = part.file_base + placed.value().offset;
      return Status{};
    }));
  }
}

// Whether the bytes at the position of a chunk can be decoded.
bool ChunkPlacer::is_readable(const Placed& placed, Format& format, DataFile& file) {
  const ChunkPart& part = layout_.part_of(placed.chunk);
  const auto found = format.find_chunk(layout_.path, part.grid.first_element(placed.chunk - part.first));
  if (!found.ok())
    return false;
  const KnownChunks known{
      {placed.chunk, {part.file_base + found.value().offset, found.value().bytes, found.value().skipped}}};
  std::vector<std::byte> bytes(static_cast<size_t>(layout_.chunk_bytes()));
  Status status = ChunkReader(file, layout_, known).read(placed.chunk, bytes);
  status.update(file.take_status());
  return status.ok();
}

// If a chunk cannot be restored, it is undefined like its variable. If the storage fails, the format leaves the file
// readable by others.
void ChunkPlacer::restore(DataFile& file) noexcept {
  ByteBuffer unwritten;
  const Filter* encoded_by = nullptr;
  const auto encode_unwritten = [&](std::span<const Filter> filters) -> Status {
    if (!unwritten.bytes().empty() && filters.data() == encoded_by)
      return {};
    std::vector<std::byte> bytes(static_cast<size_t>(layout_.chunk_bytes()));
    layout_.fill(bytes);
    FilterBuffers buffers;
    unwritten.clear();
    encoded_by = filters.data();
    Status status = encode(filters, bytes, buffers, unwritten);
    if (!status.ok())
      unwritten.clear();  // an incomplete chunk must not be written
    return status;
  };
  for (const Placed& placed : placed_)
    (void)guard([&]() -> Status {
      const ChunkPart& part = layout_.part_of(placed.chunk);
      const auto format = format_of_(part);
      if (!format.ok())
        return format.status();
      const auto first = part.grid.first_element(placed.chunk - part.first);
      if (placed.in_part && !placed.is_new)
        return format.value()->restore_chunk(layout_.path, first);
      if (!placed.is_new && is_readable(placed, *format.value(), file))
        return {};
      Status status = encode_unwritten(layout_.filters_of(placed.chunk));
      return status.ok() ? format.value()->fill_chunk(layout_.path, first, unwritten.bytes()) : status;
    });
}

void ChunkPlacer::finish(bool written, DataFile& file) noexcept {
  if (!written)
    restore(file);
  const ChunkPart* finished_part = nullptr;
  for (const Placed& placed : placed_) {
    const ChunkPart& part = layout_.part_of(placed.chunk);
    if (std::exchange(finished_part, &part) == &part)
      continue;
    (void)guard([&] {
      const auto format = format_of_(part);
      if (format.ok())
        format.value()->forget_moved_chunks();
      return format.status();
    });
  }
}

Status ChunkReader::read(int64_t chunk, std::span<std::byte> out) {
  const auto at = std::partition_point(known_.begin(), known_.end(),
                                       [chunk](const KnownChunk& known) { return known.number < chunk; });
  if (at == known_.end() || at->number != chunk || at->place.offset < 0) {
    layout_.fill(out);
    return {};
  }
  const ChunkPlace& place = at->place;
  const std::span<const Filter> filters = layout_.filters_of(chunk);
  return guard([&]() -> Status {
    const auto named = [&](Status status) {
      if (status.ok())
        return status;
      return Status{status.code(), fmt::format("chunk {} of \"{}\" at {}: {}", chunk - layout_.part_of(chunk).first,
                                               layout_.path, file_.where(place.offset), status.message())};
    };
    if (filters.empty()) {
      if (place.bytes != static_cast<int64_t>(out.size()))
        return named(
            {Code::bad_file, fmt::format("it has {} instead of {}", counted(place.bytes, "byte"), out.size())});
      file_.read(place.offset, out);
      return {};
    }
    stored_.clear();
    const std::span<std::byte> stored = stored_.room(static_cast<size_t>(place.bytes));
    file_.read(place.offset, stored);
    if (file_.failed())
      return {};
    return named(decode(filters, place.skipped, stored, out, buffers_));
  });
}

bool ChunkSink::mpi_ok(int code, const char* call) {
  if (code == MPI_SUCCESS)
    return true;
  status_.update(mpi_status(code, call));
  return false;
}

bool ChunkSink::ready() {
  progress();
  return !batches_[0].busy || !batches_[1].busy;
}

void ChunkSink::consume(int64_t, const Window& window, const std::byte* slot, PieceView covered) {
  ++consumed_;
  const size_t next = batches_[oldest_].busy ? 1 - oldest_ : oldest_;
  Batch& batch = batches_[next];
  if (!status_.ok())
    return;
  status_.update(guard([&] {
    batch.bytes.clear();
    const int64_t bytes = layout_.chunk_bytes();
    int64_t all = 0;
    layout_.for_each_chunk(window, covered, [&](int64_t, int64_t) { all += bytes; });
    // Reserved at once, with some room for data that compression does not shrink: growth would copy the buffer and hold
    // it twice.
    batch.bytes.room(static_cast<size_t>(all + all / 16));
    batch.wanted.clear();
    Status status;
    layout_.for_each_chunk(window, covered, [&](int64_t chunk, int64_t place) {
      const Extent extent = layout_.bytes_of(chunk);
      if (!status.ok())
        return;
      // The slot belongs to this writer until it is returned, so missing bytes are filled in here.
      const std::span<std::byte> content(const_cast<std::byte*>(slot) + place, static_cast<size_t>(bytes));
      status = add(chunk, content, extent, covered, batch);
    });
    batch.offsets.resize(batch.wanted.size() / WantedChunk::k_words);
    return status;
  }));
  if (status_.ok() && !batch.offsets.empty())
    ask(batch);
}

Status ChunkSink::add(int64_t chunk, std::span<std::byte> bytes, Extent extent, PieceView covered, Batch& batch) {
  if (bytes_within(covered, extent) < extent.size())
    if (Status status = complete(chunk, bytes, extent, covered); !status.ok())
      return status;
  const size_t before = batch.bytes.size();
  if (const Status status = encode(layout_.filters_of(chunk), bytes, buffers_, batch.bytes); !status.ok())
    return {status.code(), fmt::format("\"{}\": {}", layout_.path, status.message())};
  const bool in_part = bytes_within(covered, extent) < layout_.bytes_inside(chunk);
  WantedChunk{chunk, static_cast<int64_t>(batch.bytes.size() - before), in_part}.append_to(batch.wanted);
  return {};
}

// Adds the elements of a chunk that no rank writes: the previous content, or the fill value as at the edges of the
// array.
Status ChunkSink::complete(int64_t chunk, std::span<std::byte> bytes, Extent extent, PieceView covered) {
  old_.resize(bytes.size());
  if (bytes_within(covered, extent) < layout_.bytes_inside(chunk)) {
    if (Status status = reader_.read(chunk, old_); !status.ok())
      return status;
  } else {
    layout_.fill(old_);
  }
  int64_t position = extent.begin;
  const auto keep = [&](int64_t end) {
    std::memcpy(bytes.data() + (position - extent.begin), old_.data() + (position - extent.begin),
                static_cast<size_t>(end - position));
  };
  for_each_covered(covered, extent, [&](Extent piece) {
    keep(piece.begin);
    position = piece.end;
  });
  keep(extent.end);
  return {};
}

void ChunkSink::ask(Batch& batch) {
  status_.update(guard([&] {
    const size_t roots = roots_.others.size() + 1;
    batch.requests.reserve(2 * roots);
    batch.answers.reserve(roots);
    batch.done.resize(2 * roots);
    batch.statuses.resize(2 * roots);
    return Status{};
  }));
  if (!status_.ok())
    return;
  batch.requests.clear();
  batch.answers.clear();
  bool sound = true;
  const auto number_of = [&](size_t i) { return WantedChunk::at(batch.wanted, i).chunk; };
  layout_.for_each_root(batch.offsets.size(), number_of, [&](int root, size_t first, size_t count) {
    const std::span<int64_t> wanted =
        std::span(batch.wanted).subspan(first * WantedChunk::k_words, count * WantedChunk::k_words);
    const std::span<int64_t> offsets = std::span(batch.offsets).subspan(first, count);
    if (root == comm_.rank())
      return placer_->place(wanted, offsets);
    const auto request = [&]() -> MPI_Request& { return batch.requests.emplace_back(MPI_REQUEST_NULL); };
    bool too_long = false;  // not applicable: nothing was requested yet
    batch.answers.push_back({root, offsets});
    sound = sound &&
            mpi_ok(post_receive(std::as_writable_bytes(offsets).data(), static_cast<int64_t>(offsets.size_bytes()),
                                root, k_tag_placed, comm_.get(), request(), too_long),
                   "MPI_Irecv") &&
            mpi_ok(MPI_Isend(wanted.data(), static_cast<int>(wanted.size_bytes()), MPI_BYTE, root, k_tag_chunks,
                             comm_.get(), &request()),
                   "MPI_Isend");
  });
  batch.busy = sound && !batch.requests.empty();
  if (sound && !batch.busy)
    write(batch);
}

// Adjacent chunks are written in one request.
void ChunkSink::write(Batch& batch) {
  const size_t count = batch.offsets.size();
  const std::span<const int64_t> wanted = batch.wanted;
  int64_t at = 0;
  for (size_t i = 0; i < count;) {
    const int64_t begin = batch.offsets[i];
    int64_t bytes = 0;
    do
      bytes += WantedChunk::at(wanted, i++).bytes;
    while (i < count && begin >= 0 && batch.offsets[i] == begin + bytes);
    if (begin >= 0)
      file_.write(begin, batch.bytes.bytes().subspan(static_cast<size_t>(at), static_cast<size_t>(bytes)));
    at += bytes;
  }
}

void ChunkSink::progress() {
  while (batches_[oldest_].busy) {
    Batch& batch = batches_[oldest_];
    int count = 0;
    if (!mpi_ok(test_some(batch.requests, batch.done, batch.statuses, count), "MPI_Testsome"))
      return;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i)
      if (const auto index = static_cast<size_t>(batch.done[i]); index % 2 == 0)
        check(batch.answers[index / 2], bytes_of(batch.statuses[i]));
    const auto ended = [](MPI_Request request) { return request == MPI_REQUEST_NULL; };
    if (!std::all_of(batch.requests.begin(), batch.requests.end(), ended))
      return;
    write(batch);
    batch.busy = false;
    oldest_ = 1 - oldest_;
  }
}

void ChunkSink::check(const Answer& answer, int64_t bytes) {
  if (bytes == static_cast<int64_t>(answer.offsets.size_bytes()))
    return;
  std::fill(answer.offsets.begin(), answer.offsets.end(), -1);
  status_.update(
      {Code::internal, fmt::format("\"{}\": malformed chunk reply from rank {}", layout_.path, answer.root)});
}

bool ChunkSink::finished() {
  progress();
  if (batches_[0].busy || batches_[1].busy)
    return status_.code() == Code::mpi;
  if (!end_sent_) {
    end_sent_ = true;
    for (size_t i = 0; i < roots_.others.size(); ++i)
      if (!mpi_ok(MPI_Isend(&end_, 0, MPI_BYTE, roots_.others[i], k_tag_chunks_end, comm_.get(), &roots_.requests[i]),
                  "MPI_Isend"))
        return true;
  }
  int sent = 0;
  return !mpi_ok(
             MPI_Testall(static_cast<int>(roots_.requests.size()), roots_.requests.data(), &sent, MPI_STATUSES_IGNORE),
             "MPI_Testall") ||
         sent != 0;
}

void ChunkFetcher::start(int64_t, const Window& window, std::byte* slot, PieceView covered) {
  ++started_;
  layout_.for_each_chunk(window, covered, [&](int64_t chunk, int64_t place) {
    if (status_.ok())
      status_.update(reader_.read(chunk, {slot + place, static_cast<size_t>(layout_.chunk_bytes())}));
  });
}

}  // namespace windrow
