// SPDX-License-Identifier: BSD-3-Clause
// Nest: a run repeated by loops, like the rows of a block. All queries are arithmetic, one level at a time:
// O(dimensions) for any number of pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/checked.hpp"
#include "extent/extent.hpp"

namespace windrow {

// `count` steps at these strides.
struct Loop {
  int64_t count;
  int64_t file_stride;
  int64_t memory_stride;
};

inline constexpr int k_max_loops = 31;  // WINDROW_MAX_DIMENSIONS minus the one dimension of the run

// Loop 0 repeats the run, loop i repeats everything inside it. The stride of a loop is at least the span of what it
// repeats. The pieces, in the order of the loops, are therefore sorted and disjoint. If there are loops, the run has
// several pieces.
struct Nest {
  Run run;
  int depth = 0;
  std::array<Loop, k_max_loops> loops;  // [depth]; the rest is not initialized, since most nests have no loops

  Nest() noexcept {}                                                                            // NOLINT
  explicit Nest(const Run& one) noexcept : run(one) {}                                          // NOLINT
  Nest(const Nest& other) noexcept : run(other.run), depth(other.depth) { copy_loops(other); }  // NOLINT
  Nest& operator=(const Nest& other) noexcept {
    run = other.run;
    depth = other.depth;
    copy_loops(other);
    return *this;
  }

  // Puts one more loop around everything. Steps that continue the previous loop in the file and in memory are merged
  // with it.
  void repeat(int64_t count, int64_t file_stride, int64_t memory_stride) noexcept;

  // File bytes from the first to the last byte of the run and its `level` inner loops.
  int64_t span(int level) const noexcept {
    int64_t bytes = (run.count - 1) * run.file_stride + run.length;
    for (int i = 0; i < level; ++i)
      bytes += (loops[at(i)].count - 1) * loops[at(i)].file_stride;
    return bytes;
  }
  int64_t file_end() const noexcept { return run.file + span(depth); }
  int64_t pieces() const noexcept {
    int64_t count = run.count;
    for (int i = 0; i < depth; ++i)
      count *= loops[at(i)].count;
    return count;
  }
  int64_t bytes() const noexcept { return pieces() * run.length; }

  // The outermost loop as a run whose pieces are the hulls of the repeated part; its steps [first, first + count).
  Run outermost() const noexcept;  // depth > 0
  Nest steps(int64_t first, int64_t count) const noexcept;

  static size_t at(int level) noexcept { return static_cast<size_t>(level); }

 private:
  void copy_loops(const Nest& other) noexcept { std::copy_n(other.loops.begin(), other.depth, loops.begin()); }
};

// End in memory of the last piece, and the highest end in memory of any piece.
int64_t last_memory_end(const Nest& nest) noexcept;
int64_t highest_memory_end(const Nest& nest) noexcept;

// Bytes of the nest before a file offset.
int64_t bytes_before(const Nest& nest, int64_t offset) noexcept;

// The first byte of the nest at or after `offset`, which is before the end of the nest.
int64_t next_offset(const Nest& nest, int64_t offset) noexcept;

// False: the nests share no byte of the file. True: they do, or it is unknown. Steps of equal length, as of two blocks
// of an array, are compared by arithmetic; others are compared within a small budget.
bool may_meet(const Nest& one, const Nest& other) noexcept;

// Multiplies everything by `factor`: elements become bytes.
void scale_loops(Nest& nest, int64_t factor) noexcept;
inline Run scaled(const Run& run, int64_t factor) noexcept {
  return {run.file * factor,        run.memory * factor,        run.length * factor,
          run.file_stride * factor, run.memory_stride * factor, run.count};
}
inline void scale(Nest& nest, int64_t factor) noexcept {
  nest.run = scaled(nest.run, factor);
  if (nest.depth > 0)
    scale_loops(nest, factor);
}

// The same file bytes, packed in memory from `memory` on.
Nest packed(const Nest& nest, int64_t memory) noexcept;

// Indices [first, last) of the pieces of a run that overlap a window.
struct PieceRange {
  int64_t first = 0;
  int64_t last = 0;
};
inline PieceRange pieces_within(const Run& run, Extent window) noexcept {
  // Piece i overlaps the window if file + i * stride + length > begin and file + i * stride < end.
  if (run.count == 1)
    return {0, run.file < window.end && run.file + run.length > window.begin ? 1 : 0};
  const int64_t before = window.begin - run.file - run.length;
  const int64_t first = before < 0 ? 0 : before / run.file_stride + 1;
  const int64_t last =
      window.end <= run.file ? 0 : std::min(run.count, ceil_divide(window.end - run.file, run.file_stride));
  return {first, std::max(first, last)};
}

inline Run part_of(const Run& run, int64_t first, int64_t count) noexcept {
  const bool single = count == 1;
  return {run.file + first * run.file_stride, run.memory + first * run.memory_stride, run.length,
          single ? 0 : run.file_stride,       single ? 0 : run.memory_stride,         count};
}

// Calls add(Run) for the parts of a run inside the window: at most three.
template <class Add>
void clip_run(const Run& run, Extent window, Add&& add) {
  if (run.file >= window.begin && run.file_end() <= window.end)
    return add(run);
  PieceRange range = pieces_within(run, window);
  // Only the first and the last piece of the range can extend beyond the window. They are passed alone, the others as
  // one run.
  const auto single = [&](int64_t index) {
    const int64_t file = run.file + index * run.file_stride;
    const int64_t skip = std::max<int64_t>(0, window.begin - file);
    const int64_t end = std::min(file + run.length, window.end);
    add(Run{file + skip, run.memory + index * run.memory_stride + skip, end - file - skip, 0, 0, 1});
  };
  if (range.first == range.last)
    return;
  single(range.first++);
  if (range.first == range.last)
    return;
  if (const int64_t between = range.last - 1 - range.first; between > 0)
    add(part_of(run, range.first, between));
  single(range.last - 1);
}

// Calls add(const Nest&) for the parts of a nest inside the window, in file order: for each level at most two and the
// part between them.
template <class Add>
void clip_nest(const Nest& nest, Extent window, Add& add) {
  if (nest.run.file >= window.begin && nest.file_end() <= window.end)
    return add(nest);
  if (nest.depth == 0)
    return clip_run(nest.run, window, [&](const Run& run) { add(Nest(run)); });
  const Run outer = nest.outermost();
  PieceRange range = pieces_within(outer, window);
  const auto is_cut = [&](int64_t step) {
    const int64_t file = outer.file + step * outer.file_stride;
    return file < window.begin || file + outer.length > window.end;
  };
  if (range.first < range.last && is_cut(range.first))
    clip_nest(nest.steps(range.first++, 1), window, add);
  const bool cut_back = range.first < range.last && is_cut(range.last - 1);
  if (const int64_t whole = range.last - range.first - (cut_back ? 1 : 0); whole > 0)
    add(nest.steps(range.first, whole));
  if (cut_back)
    clip_nest(nest.steps(range.last - 1, 1), window, add);
}

// Calls visit(const Run&) for each run of a nest.
template <class Visit>
void for_each_run(const Nest& nest, Visit&& visit) {
  if (nest.depth == 0)
    return visit(nest.run);
  Run run = nest.run;
  std::array<int64_t, k_max_loops> index;
  std::fill_n(index.begin(), nest.depth, 0);
  for (int level = 0; level < nest.depth;) {
    if (level == 0)
      visit(run);
    const Loop& loop = nest.loops[Nest::at(level)];
    const bool wraps = ++index[Nest::at(level)] == loop.count;
    const int64_t steps = wraps ? 1 - loop.count : 1;
    run.file += steps * loop.file_stride;
    run.memory += steps * loop.memory_stride;
    if (wraps)
      index[Nest::at(level)] = 0;
    level = wraps ? level + 1 : 0;
  }
}

// Calls visit(const Piece&) for each piece of a run.
template <class Visit>
inline void for_each_piece_of(const Run& run, Visit&& visit) {
  Piece piece{run.file, run.memory, run.length};
  for (int64_t i = run.count;;) {
    visit(Piece(piece));
    if (--i == 0)
      return;
    piece.file += run.file_stride;
    piece.memory += run.memory_stride;
  }
}

}  // namespace windrow
