// SPDX-License-Identifier: BSD-3-Clause
// Pieces: a compact list of extents with their positions in memory. A block takes O(dimensions), a million irregular
// points five bytes each. Lists are immutable and shared, so copies are cheap. All functions that make one may throw
// std::bad_alloc (see guard()). Offsets are >= 0 and every end fits into int64_t: decode() checks this, the other
// functions rely on it.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "extent/records.hpp"

namespace windrow {

// A position from which a list can be read, before every k_records_between-th record except the first.
struct Checkpoint {
  RecordState state;
  int64_t bytes = 0;  // of all previous records
  uint32_t page = 0;
  uint32_t offset = 0;
};
inline constexpr int64_t k_records_between = 64;

// The data that all copies of a list share. Records are stored in pages and do not cross pages, so a list grows without
// moving.
struct PieceStore {
  std::vector<std::vector<std::byte>> pages;  // no page is empty
  std::vector<Checkpoint> checkpoints;
  Extent hull;
  int64_t records = 0, pieces = 0, bytes = 0;
  int64_t memory_end = 0;
  int64_t shortest = INT64_MAX, longest = 0;  // lengths of pieces
  std::vector<Run> runs;                      // the same list as runs, if with_runs() has added them

  int64_t memory_bytes() const noexcept;
};

// Nests in file order. Each ends at or before the start of the next, so the pieces are sorted and disjoint.
class Pieces {
 public:
  Pieces() noexcept = default;
  bool empty() const noexcept { return store_ == nullptr; }
  const PieceStore* store() const noexcept { return store_.get(); }  // nullptr when empty
  int64_t memory_bytes() const noexcept { return store_ ? store_->memory_bytes() : 0; }

 private:
  friend class PiecesBuilder;
  friend Pieces with_runs(const Pieces& pieces);
  explicit Pieces(std::shared_ptr<const PieceStore> store) noexcept : store_(std::move(store)) {}

  std::shared_ptr<const PieceStore> store_;
};

// A list at a scale: file offsets, memory offsets and lengths times `scale`. One list of elements thus serves variables
// of all types. A view must not outlive the list. `scale` times the largest end of the list fits into int64_t.
class PieceView {
 public:
  PieceView() noexcept = default;
  PieceView(const Pieces& pieces, int64_t scale = 1) noexcept  // NOLINT: implicit on purpose
      : store_(pieces.store()), scale_(scale) {}
  bool empty() const noexcept { return store_ == nullptr; }
  const PieceStore& store() const noexcept { return *store_; }  // not if empty()
  int64_t scale() const noexcept { return scale_; }
  friend bool operator==(const PieceView&, const PieceView&) = default;

 private:
  const PieceStore* store_ = nullptr;
  int64_t scale_ = 1;
};

// Builds a list from disjoint parts in file order. Pieces that touch in the file and in memory are merged; equal
// lengths at equal strides become one run, greedily. O(1) a call, stored in packed form. Empty parts are ignored.
class PiecesBuilder {
 public:
  void add(Piece piece);
  void add(const Run& run);    // equivalent to adding its pieces one by one
  void add(const Nest& nest);  // the same, except that its last piece is never extended
  Pieces take();               // returns the list; the builder is empty again

 private:
  void commit_pending();
  void append(const Run& run);
  void emit_back();
  void emit(const Nest& nest);
  void close_and_emit(const Nest& nest);

  PieceStore made_;
  RecordState state_;
  Run back_{.count = 0};  // the last run, which more pieces may extend; count 0: none
  Piece pending_;  // the last piece: it may still grow, and only its final length decides whether it extends a run
};

// The same list for repeated copies. A short list also gets its runs in decoded form, which is faster while they fit
// into the caches. A long list, and one with nests, is returned unchanged.
inline constexpr int64_t k_most_ready_runs = 8192;
Pieces with_runs(const Pieces& pieces);

int64_t total_bytes(PieceView view) noexcept;
int64_t extent_count(PieceView view) noexcept;  // number of pieces
Extent hull(PieceView view) noexcept;           // {0, 0} for an empty list
int64_t memory_end(PieceView view) noexcept;    // highest end in memory; 0 if empty

// Bytes of the list inside the window. O(log n).
int64_t bytes_within(PieceView view, Extent window) noexcept;

// The first byte of the list at or after `offset`; the list must end after `offset`. O(log n).
int64_t next_offset(PieceView view, int64_t offset) noexcept;

// Reads the records of a list in order.
class RecordReader {
 public:
  explicit RecordReader(PieceView view) noexcept
      : store_(view.empty() ? nullptr : &view.store()), scale_(view.scale()) {
    if (store_ != nullptr)
      open(0, 0);
  }
  // Starts at the last checkpoint before which everything ends at or before `offset`. The list is not empty.
  RecordReader(PieceView view, int64_t offset) noexcept : store_(&view.store()), scale_(view.scale()) { seek(offset); }

  // Returns false at the end of the list. A nest with loops is in `nest`; otherwise `nest` has depth 0 and `run` is
  // complete.
  bool take(Run& run, Nest& nest) noexcept {
    if (at_ == end_ && !turn_page())
      return false;
    take_record(at_, state_, run, nest);
    if (nest.depth > 0)
      scale(nest, scale_);
    run = scaled(run, scale_);
    return true;
  }
  bool take(Nest& nest) noexcept {
    Run run;
    if (!take(run, nest))
      return false;
    nest.run = run;
    return true;
  }

  void seek(int64_t offset) noexcept;
  void seek_ahead(int64_t offset) noexcept;                   // the same, but never backward
  int64_t bytes_at_start() const noexcept { return bytes_; }  // of all records before the position of seek()

 private:
  void open(uint32_t page, uint32_t offset) noexcept;
  bool turn_page() noexcept {
    if (store_ == nullptr || page_ + 1 == store_->pages.size())
      return false;
    open(page_ + 1, 0);
    return true;
  }

  const PieceStore* store_;
  int64_t scale_;
  uint32_t page_ = 0;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  RecordState state_;
  int64_t bytes_ = 0;
};

// Iterates over the nests of a list. The list must outlive it.
class NestCursor {
 public:
  explicit NestCursor(PieceView view) noexcept : reader_(view) { next(); }

  bool done() const noexcept { return done_; }
  const Nest& nest() const noexcept { return nest_; }  // not if done()
  int64_t file_end() const noexcept { return file_end_; }
  void next() noexcept {
    done_ = !reader_.take(nest_);
    if (!done_)
      file_end_ = nest_.file_end();
  }
  // Skips the nests that end at or before `offset`: first a few one by one, which usually suffices, then by a search.
  void skip(int64_t offset) noexcept {
    for (int step = 0; !done_ && file_end_ <= offset; ++step, next())
      if (step == 4)
        reader_.seek_ahead(offset);
  }

 private:
  RecordReader reader_;
  Nest nest_;
  int64_t file_end_ = 0;
  bool done_ = true;
};

// Calls visit(const Nest&) for the parts of the list inside the window.
template <class Visit>
void for_each_nest(PieceView view, Extent window, Visit&& visit) {
  if (view.empty() || window.empty())
    return;
  RecordReader reader(view, window.begin);
  Nest nest;
  while (reader.take(nest) && nest.run.file < window.end)
    if (nest.file_end() > window.begin)
      clip_nest(nest, window, visit);
}

// Calls visit(const Run&) for each run that overlaps the window.
template <class Visit>
void for_each_ready_run(PieceView view, Extent window, Visit&& visit) {
  const std::vector<Run>& runs = view.store().runs;
  const int64_t scale = view.scale();
  auto at = std::partition_point(runs.begin(), runs.end(),
                                 [&](const Run& run) { return run.file_end() * scale <= window.begin; });
  for (; at != runs.end() && at->file * scale < window.end; ++at)
    visit(scaled(*at, scale));
}

// Calls visit(Piece) for each piece inside the window, in file order, cut at the window. This is the loop that copies
// data: one search in all, a few bytes to decode for each run, nothing for each piece.
template <class Visit>
void for_each_piece(PieceView view, Extent window, Visit&& visit) {
  if (view.empty() || window.empty())
    return;
  const auto walk = [&](const Run& run) { for_each_piece_of(run, visit); };
  const auto walk_part = [&](const Run& run) {
    if (run.file >= window.begin && run.file_end() <= window.end)
      walk(run);
    else
      clip_run(run, window, walk);
  };
  if (!view.store().runs.empty())
    return for_each_ready_run(view, window, walk_part);
  const auto walk_nest = [&](const Nest& part) { for_each_run(part, walk); };
  RecordReader reader(view, window.begin);
  Nest nest;
  for (Run run; reader.take(run, nest) && run.file < window.end;) {
    if (nest.depth > 0)
      clip_nest(nest, window, walk_nest);
    else
      walk_part(run);
  }
}

// Visits all pieces of a list.
template <class Visit>
void for_each_piece(PieceView view, Visit&& visit) {
  for_each_piece(view, {0, INT64_MAX}, std::forward<Visit>(visit));
}

}  // namespace windrow
