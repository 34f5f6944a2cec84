// SPDX-License-Identifier: BSD-3-Clause
// Builds and measures lists of pieces. algebra.cpp has the set operations, encode.cpp the wire format.
#include "extent/pieces.hpp"

#include <algorithm>
#include <array>

namespace windrow {

namespace {

// Small relative to a list of several pages, and large enough for few pages in a list of a million runs.
constexpr size_t k_page_bytes = 64 * 1024;

Piece piece_of(const Run& run, int64_t index) noexcept {
  return {run.file + index * run.file_stride, run.memory + index * run.memory_stride, run.length};
}

bool touches(const Piece& before, const Piece& after) noexcept {
  return before.file + before.length == after.file && before.memory + before.length == after.memory;
}

void end_page(std::vector<std::byte>& page) {
  page.resize(page.size() + k_record_padding);
}

}  // namespace

int64_t PieceStore::memory_bytes() const noexcept {
  size_t all = sizeof *this + pages.capacity() * sizeof pages.front() + checkpoints.capacity() * sizeof(Checkpoint);
  for (const auto& page : pages)
    all += page.capacity();
  all += runs.capacity() * sizeof(Run);
  return static_cast<int64_t>(all);
}

void PiecesBuilder::add(Piece piece) {
  if (piece.length <= 0)
    return;
  if (pending_.length > 0 && touches(pending_, piece)) {
    pending_.length += piece.length;
    return;
  }
  commit_pending();
  pending_ = piece;
}

void PiecesBuilder::add(const Run& run) {
  if (run.length <= 0 || run.count <= 0)
    return;
  if (run.count > 1 && run.file_stride == run.length && run.memory_stride == run.length) {
    add(Piece{run.file, run.memory, run.length * run.count});
    return;
  }
  // The first piece may merge with the previous one and the last with the next. Only the pieces between are final.
  add(piece_of(run, 0));
  if (run.count == 1)
    return;
  if (run.count > 2) {
    commit_pending();
    append(part_of(run, 1, run.count - 2));
  }
  add(piece_of(run, run.count - 1));
}

void PiecesBuilder::add(const Nest& nest) {
  if (nest.depth == 0)
    return add(nest.run);
  if (pending_.length > 0 && touches(pending_, piece_of(nest.run, 0))) {  // the first piece merges with the pending one
    add(nest.steps(0, 1));
    const Nest rest = nest.steps(1, nest.loops[Nest::at(nest.depth - 1)].count - 1);
    // Adjacent steps are not merged: one by one, that would take as many steps as there are pieces.
    return rest.depth == 0 ? add(rest.run) : close_and_emit(rest);
  }
  close_and_emit(nest);
}

void PiecesBuilder::close_and_emit(const Nest& nest) {
  commit_pending();
  emit_back();
  emit(nest);
}

Pieces PiecesBuilder::take() {
  commit_pending();
  emit_back();
  state_ = {};
  PieceStore made = std::exchange(made_, {});
  if (made.records == 0)
    return {};
  end_page(made.pages.back());
  made.pages.back().shrink_to_fit();
  made.pages.shrink_to_fit();
  made.checkpoints.shrink_to_fit();
  return Pieces(std::make_shared<const PieceStore>(std::move(made)));
}

void PiecesBuilder::commit_pending() {
  if (pending_.length > 0)
    append(Run{pending_.file, pending_.memory, pending_.length, 0, 0, 1});
  pending_ = {};
}

// Extends the last run by `run`, or appends it. `run` does not touch the last piece. Before a run of several pieces,
// add() has appended its own first piece. If lengths agree, the distance from that piece is therefore the run's stride.
void PiecesBuilder::append(const Run& run) {
  if (back_.count > 0 && back_.length == run.length) {
    const Piece last = piece_of(back_, back_.count - 1);
    const int64_t file_stride = run.file - last.file;
    const int64_t memory_stride = run.memory - last.memory;
    if (back_.count == 1 || (back_.file_stride == file_stride && back_.memory_stride == memory_stride)) {
      back_.file_stride = file_stride;
      back_.memory_stride = memory_stride;
      back_.count += run.count;
      return;
    }
  }
  emit_back();
  back_ = run;
}

void PiecesBuilder::emit_back() {
  if (back_.count > 0)
    emit(Nest(back_));
  back_.count = 0;
}

void PiecesBuilder::emit(const Nest& nest) {
  if (made_.pages.empty() || made_.pages.back().size() + k_record_bytes + k_record_padding > k_page_bytes) {
    if (!made_.pages.empty())
      end_page(made_.pages.back());
    made_.pages.emplace_back();
    if (made_.pages.size() > 1)
      made_.pages.back().reserve(k_page_bytes);
  }
  std::vector<std::byte>& page = made_.pages.back();
  if (made_.records == 0)
    made_.hull.begin = nest.run.file;
  if (made_.records > 0 && made_.records % k_records_between == 0)
    made_.checkpoints.push_back(
        {state_, made_.bytes, static_cast<uint32_t>(made_.pages.size() - 1), static_cast<uint32_t>(page.size())});
  std::array<std::byte, k_record_bytes> record;
  const std::byte* end = put_record(nest, state_, record.data());
  page.insert(page.end(), static_cast<const std::byte*>(record.data()), end);
  ++made_.records;
  made_.pieces += nest.pieces();
  made_.bytes += nest.bytes();
  made_.hull.end = state_.file_end;
  made_.memory_end = std::max(made_.memory_end, highest_memory_end(nest));
  made_.shortest = std::min(made_.shortest, nest.run.length);
  made_.longest = std::max(made_.longest, nest.run.length);
}

Pieces with_runs(const Pieces& pieces) {
  if (pieces.empty() || pieces.store()->records > k_most_ready_runs || !pieces.store()->runs.empty())
    return pieces;
  PieceStore store = *pieces.store();
  store.runs.reserve(static_cast<size_t>(store.records));
  for (NestCursor cursor(pieces); !cursor.done(); cursor.next()) {
    if (cursor.nest().depth > 0)
      return pieces;
    store.runs.push_back(cursor.nest().run);
  }
  return Pieces(std::make_shared<const PieceStore>(std::move(store)));
}

int64_t total_bytes(PieceView view) noexcept {
  return view.empty() ? 0 : view.store().bytes * view.scale();
}

int64_t extent_count(PieceView view) noexcept {
  return view.empty() ? 0 : view.store().pieces;
}

Extent hull(PieceView view) noexcept {
  if (view.empty())
    return {};
  return {view.store().hull.begin * view.scale(), view.store().hull.end * view.scale()};
}

int64_t memory_end(PieceView view) noexcept {
  return view.empty() ? 0 : view.store().memory_end * view.scale();
}

namespace {

// Bytes before `offset`.
int64_t bytes_before(PieceView view, int64_t offset) noexcept {
  if (offset <= hull(view).begin)
    return 0;
  if (offset >= hull(view).end)
    return total_bytes(view);
  RecordReader reader(view, offset);
  int64_t bytes = reader.bytes_at_start();
  for (Nest nest; reader.take(nest) && nest.run.file < offset;)
    bytes += bytes_before(nest, offset);
  return bytes;
}

}  // namespace

int64_t bytes_within(PieceView view, Extent window) noexcept {
  if (view.empty() || window.empty())
    return 0;
  return bytes_before(view, window.end) - bytes_before(view, window.begin);
}

int64_t next_offset(PieceView view, int64_t offset) noexcept {
  RecordReader reader(view, offset);
  Nest nest;
  while (reader.take(nest))
    if (nest.file_end() > offset)
      return next_offset(nest, offset);
  assert(false);
  return offset;
}

namespace {

// Number of checkpoints at or before `offset`.
size_t checkpoints_until(const PieceStore& store, int64_t scale, int64_t offset) noexcept {
  const auto at = std::partition_point(store.checkpoints.begin(), store.checkpoints.end(),
                                       [&](const Checkpoint& point) { return point.state.file_end * scale <= offset; });
  return static_cast<size_t>(at - store.checkpoints.begin());
}

}  // namespace

void RecordReader::open(uint32_t page, uint32_t offset) noexcept {
  page_ = page;
  at_ = store_->pages[page].data() + offset;
  end_ = store_->pages[page].data() + (store_->pages[page].size() - k_record_padding);
}

void RecordReader::seek(int64_t offset) noexcept {
  state_ = {};
  bytes_ = 0;
  open(0, 0);
  seek_ahead(offset);
}

void RecordReader::seek_ahead(int64_t offset) noexcept {
  const size_t points = checkpoints_until(*store_, scale_, offset);
  if (points == 0)
    return;
  const Checkpoint& point = store_->checkpoints[points - 1];
  if (point.state.file_end <= state_.file_end)
    return;
  state_ = point.state;
  bytes_ = point.bytes * scale_;
  open(point.page, point.offset);
}

}  // namespace windrow
