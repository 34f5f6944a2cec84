// SPDX-License-Identifier: BSD-3-Clause
// What is done with lists of runs: build, measure, walk, cut, intersect, subtract, unite, encode. Pure.
//
// All functions take and give lists that keep the invariants of extent.hpp. Offsets are >= 0 and every end fits into
// int64_t; decode() checks that, the others rely on it. Functions that make a list may throw std::bad_alloc (see
// guard()).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/status.hpp"
#include "extent/extent.hpp"

namespace windrow {

// Makes a list from pieces that come in file order and are disjoint. Pieces that touch in the file and in memory become
// one; equal lengths at equal strides become one run, greedily. O(1) a call. Empty pieces are ignored.
class RunBuilder {
 public:
  void add(Piece piece);
  void add(const Run& run);  // the same as adding its pieces one by one, but O(1)
  RunList take();            // what was added; the builder is empty again

 private:
  void commit_pending();
  void append(const Run& run);

  RunList runs_;
  Piece pending_;  // the last piece: it may still grow, and only its final length tells whether it continues a run
};

// Any order, overlaps allowed: where pieces overlap the later in the input wins. O(n log n).
RunList runs_from_pieces(std::vector<Piece> pieces);

// The same for runs, each with the file order and disjointness of one run, but interleaving and overlapping each other
// at will. Runs that meet no other stay whole: O(n log n) in runs, plus the pieces of those that do meet others.
RunList runs_from_runs(const std::vector<Run>& runs);

int64_t total_bytes(const RunList& list) noexcept;
int64_t extent_count(const RunList& list) noexcept;  // number of pieces
Extent hull(const RunList& list) noexcept;           // {0, 0} for an empty list
int64_t memory_end(const RunList& list) noexcept;    // end of what the list touches of its buffer; 0 when empty

// Bytes of the list inside the window. O(log n + runs touched).
int64_t bytes_within(const RunList& list, Extent window) noexcept;

// Parts of the list inside the window, memory unchanged. O(log n + runs touched).
RunList clip(const RunList& list, Extent window);

RunList shift(RunList list, int64_t file_delta, int64_t memory_delta) noexcept;

// Parts of `a` that lie in `b`, and that do not; with the memory of `a`.
// O(runs of both + pieces of one: for intersect of that which has fewer, for subtract of `b` inside the hull of `a`).
RunList intersect(const RunList& a, const RunList& b);
RunList subtract(const RunList& a, const RunList& b);

// File bytes of all lists together, as maximal contiguous extents; memory is 0. The lists may overlap each other.
// O(pieces log lists).
RunList coverage(std::span<const RunList* const> lists);

// Maximal contiguous ranges of the file, in file order.
std::vector<Extent> contiguous_extents(const RunList& list);

// Appends the file side of a list (not its memory) to `out`, delta-coded; about 2 bytes a run for dense irregular
// lists. Pieces that touch in the file travel as one: the places of bytes in a packed message do not change by that.
//   list   := varint(runs) run*
//   run    := varint(begin - end of the previous run) varint(header) [length] [stride - length]
//   header := (count - 1) * 4 + (stride as before ? 2 : 0) + (length as before ? 1 : 0)
// The length only where it differs, the stride only where it differs and count > 1.
void encode(const RunList& list, std::vector<std::byte>& out);

// Reads what encode() wrote from `bytes` at `position`, which moves behind it. The memory of the result is the place of
// each piece in a packed message: the sum of the lengths before it. Any input is safe; what cannot be a list is
// Code::bad_file.
Result<RunList> decode(std::span<const std::byte> bytes, size_t& position);

// Indices [first, last) of the pieces of a run that meet a window.
struct PieceRange {
  int64_t first = 0;
  int64_t last = 0;
};
inline PieceRange pieces_within(const Run& run, Extent window) noexcept {
  // Piece i meets the window when file + i * stride + length > begin and file + i * stride < end.
  if (run.count == 1) return {0, run.file < window.end && run.file + run.length > window.begin ? 1 : 0};
  const int64_t before = window.begin - run.file - run.length;
  const int64_t first = before < 0 ? 0 : before / run.file_stride + 1;
  const int64_t last =
      window.end <= run.file ? 0 : std::min(run.count, ceil_divide(window.end - run.file, run.file_stride));
  return {first, std::max(first, last)};
}

// The first run that ends behind `offset`. O(log n).
inline size_t first_run_behind(const RunList& list, int64_t offset) noexcept {
  const auto at =
      std::partition_point(list.begin(), list.end(), [&](const Run& run) { return run.file_end() <= offset; });
  return static_cast<size_t>(at - list.begin());
}

// Calls visit(Piece) for each piece inside the window, in file order, cut at the window. This is the loop that copies
// data: one search, two divisions a run, none a piece.
template <class Visit>
void for_each_piece(const RunList& list, Extent window, Visit&& visit) {
  if (window.empty()) return;
  for (size_t at = first_run_behind(list, window.begin); at < list.size() && list[at].file < window.end; ++at) {
    const Run& run = list[at];
    PieceRange range{0, run.count};
    if (run.file < window.begin || run.file_end() > window.end) range = pieces_within(run, window);
    if (range.first == range.last) continue;
    Piece piece{run.file + range.first * run.file_stride, run.memory + range.first * run.memory_stride, run.length};
    // Only the first piece can begin before the window, and only the last can end behind it; they may be the same.
    const auto cut = [&](Piece whole) {
      const int64_t skip = std::max<int64_t>(0, window.begin - whole.file);
      const int64_t end = std::min(whole.file + whole.length, window.end);
      visit(Piece{whole.file + skip, whole.memory + skip, end - whole.file - skip});
    };
    cut(piece);
    if (range.last - range.first == 1) continue;
    for (int64_t i = range.first + 2; i < range.last; ++i) {
      piece.file += run.file_stride;
      piece.memory += run.memory_stride;
      visit(Piece{piece.file, piece.memory, run.length});
    }
    piece.file += run.file_stride;
    piece.memory += run.memory_stride;
    cut(piece);
  }
}

// All pieces of a list.
template <class Visit>
void for_each_piece(const RunList& list, Visit&& visit) {
  for (const Run& run : list) {
    Piece piece{run.file, run.memory, run.length};
    for (int64_t i = 0; i < run.count; ++i, piece.file += run.file_stride, piece.memory += run.memory_stride)
      visit(Piece(piece));
  }
}

}  // namespace windrow
