// SPDX-License-Identifier: BSD-3-Clause
// Set operations on lists of runs. Runs are cut by arithmetic; single pieces are walked on one side at most.
#include <queue>

#include "extent/runs.hpp"
#include "extent/sweep.hpp"

namespace windrow {

namespace {

// Hands the parts of a list inside each of a sequence of windows to `add`, as runs. The windows come in file order:
// `first` is the first run that the next one can meet.
struct Clipper {
  const RunList& list;
  size_t first = 0;

  void seek(int64_t begin) noexcept {
    // Windows come in file order and mostly close together: a few steps, then a search.
    for (int step = 0; step < 4 && first < list.size(); ++step, ++first)
      if (list[first].file_end() > begin) return;
    const auto from = list.begin() + static_cast<std::ptrdiff_t>(first);
    const auto at = std::partition_point(from, list.end(), [&](const Run& run) { return run.file_end() <= begin; });
    first = static_cast<size_t>(at - list.begin());
  }

  template <class Add>
  void clip(Extent window, Add&& add) {
    if (window.empty()) return;
    seek(window.begin);
    for (size_t at = first; at < list.size() && list[at].file < window.end; ++at) clip_run(list[at], window, add);
  }

 private:
  template <class Add>
  static void clip_run(const Run& run, Extent window, Add& add) {
    if (run.file >= window.begin && run.file_end() <= window.end) return add(run);
    PieceRange range = pieces_within(run, window);
    // Only the first and the last piece of the range can reach beyond the window: they go alone, the others whole.
    const auto single = [&](int64_t index) {
      const int64_t file = run.file + index * run.file_stride;
      const int64_t skip = std::max<int64_t>(0, window.begin - file);
      const int64_t end = std::min(file + run.length, window.end);
      add(Run{file + skip, run.memory + index * run.memory_stride + skip, end - file - skip, 0, 0, 1});
    };
    if (range.first == range.last) return;
    single(range.first++);
    if (range.first == range.last) return;
    if (const int64_t between = range.last - 1 - range.first; between > 0)
      add(Run{run.file + range.first * run.file_stride, run.memory + range.first * run.memory_stride, run.length,
              between > 1 ? run.file_stride : 0, between > 1 ? run.memory_stride : 0, between});
    single(range.last - 1);
  }
};

}  // namespace

RunList clip(const RunList& list, Extent window) {
  RunBuilder builder;
  Clipper{list}.clip(window, [&](const Run& run) { builder.add(run); });
  return builder.take();
}

RunList shift(RunList list, int64_t file_delta, int64_t memory_delta) noexcept {
  for (Run& run : list) {
    run.file += file_delta;
    run.memory += memory_delta;
  }
  return list;
}

RunList intersect(const RunList& a, const RunList& b) {
  if (a.empty() || b.empty()) return {};
  RunBuilder builder;
  if (extent_count(b) <= extent_count(a)) {
    Clipper clipper{a};
    for_each_piece(b, hull(a), [&](const Piece& piece) {
      clipper.clip({piece.file, piece.file + piece.length}, [&](const Run& run) { builder.add(run); });
    });
    return builder.take();
  }
  Clipper clipper{b};
  for_each_piece(a, hull(b), [&](const Piece& piece) {
    clipper.clip({piece.file, piece.file + piece.length}, [&](Run run) {
      run.memory = piece.memory + (run.file - piece.file);  // inside a piece of `a` memory runs along with the file
      run.memory_stride = run.file_stride;
      builder.add(run);
    });
  });
  return builder.take();
}

RunList subtract(const RunList& a, const RunList& b) {
  if (a.empty() || b.empty()) return a;
  RunBuilder builder;
  Clipper clipper{a};
  const Extent all = hull(a);
  int64_t position = all.begin;
  const auto keep_until = [&](int64_t end) {
    clipper.clip({position, end}, [&](const Run& run) { builder.add(run); });
  };
  for_each_piece(b, all, [&](const Piece& piece) {
    keep_until(piece.file);
    position = piece.file + piece.length;
  });
  keep_until(all.end);
  return builder.take();
}

RunList coverage(std::span<const RunList* const> lists) {
  std::vector<Cursor> cursors;
  for (const RunList* list : lists)
    if (!list->empty()) cursors.emplace_back(*list);
  const auto later = [&](size_t a, size_t b) { return cursors[a].extent().begin > cursors[b].extent().begin; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> heap(later);
  for (size_t i = 0; i < cursors.size(); ++i) heap.push(i);

  RunBuilder builder;
  Extent open;
  while (!heap.empty()) {
    const size_t at = heap.top();
    heap.pop();
    Cursor& cursor = cursors[at];
    // Stays with one list while it comes first: most lists meet only at their ends.
    do {
      const Extent next = cursor.extent();
      if (next.begin > open.end) {
        builder.add(Piece{open.begin, 0, open.size()});
        open = next;
      } else {
        open.end = std::max(open.end, next.end);
      }
      cursor.next();
      if (!cursor.done()) cursor.skip(open.end);
    } while (!cursor.done() && (heap.empty() || cursor.extent().begin <= cursors[heap.top()].extent().begin));
    if (!cursor.done()) heap.push(at);
  }
  builder.add(Piece{open.begin, 0, open.size()});
  return builder.take();
}

}  // namespace windrow
