// SPDX-License-Identifier: BSD-3-Clause
// Walks several lists of runs side by side, in file order: where do they share bytes? Memory does not matter here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "extent/runs.hpp"

namespace windrow {

// The extents of one list, in file order; runs that are contiguous in the file are one extent. The list must outlive
// it.
class Cursor {
 public:
  explicit Cursor(const RunList& list) noexcept : list_(&list) {}

  bool done() const noexcept { return run_ == list_->size(); }

  Extent extent() const noexcept {  // not when done()
    const Run& run = (*list_)[run_];
    if (run.file_stride == run.length) return {run.file, run.file_end()};
    const int64_t file = run.file + index_ * run.file_stride;
    return {file, file + run.length};
  }

  void next() noexcept {  // not when done()
    const Run& run = (*list_)[run_];
    if (run.file_stride != run.length && ++index_ < run.count) return;
    ++run_;
    index_ = 0;
  }

  // Skips the extents that end at or before `offset`: whole runs at once, and within a run by arithmetic.
  void skip(int64_t offset) noexcept {
    for (; !done() && (*list_)[run_].file_end() <= offset; ++run_) index_ = 0;
    if (done()) return;
    const Run& run = (*list_)[run_];
    if (run.count > 1 && run.file_stride != run.length && offset > run.file)
      index_ = std::max(index_, pieces_within(run, {offset, run.file_end()}).first);
  }

 private:
  const RunList* list_;
  size_t run_ = 0;
  int64_t index_ = 0;
};

// Calls visit(Extent, std::span<const size_t> lists) for each range that lies in two or more of the lists, in file
// order, with the indices of those lists (in no order). Ranges are cut where a list begins or ends. O(extents that
// interleave x log lists, plus what is visited): stretches of one list alone are skipped by arithmetic.
template <class Visit>
void for_each_shared(std::span<const RunList* const> lists, Visit&& visit) {
  std::vector<Cursor> cursors;
  cursors.reserve(lists.size());
  for (const RunList* list : lists) cursors.emplace_back(*list);
  using Next = std::pair<int64_t, size_t>;  // where the next extent of a list begins
  std::priority_queue<Next, std::vector<Next>, std::greater<>> heap;
  const auto queue = [&](size_t list) {
    if (!cursors[list].done()) heap.emplace(cursors[list].extent().begin, list);
  };
  for (size_t i = 0; i < lists.size(); ++i) queue(i);

  // The lists that hold `position`, and where they end. An extent of a list begins after its last has ended.
  std::vector<size_t> active;
  std::vector<int64_t> ends;
  int64_t position = 0;
  const auto retire = [&] {
    for (size_t i = active.size(); i-- > 0;) {
      if (ends[i] > position) continue;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
      ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  const auto activate = [&] {
    const size_t list = heap.top().second;
    heap.pop();
    if (active.empty() && heap.empty()) return;  // the last list, alone to its end: nothing more is shared
    const Extent extent = cursors[list].extent();
    if (active.empty() && extent.end <= heap.top().first) {
      cursors[list].skip(heap.top().first);  // alone until another list begins
    } else {
      active.push_back(list);
      ends.push_back(extent.end);
      cursors[list].next();
    }
    queue(list);
  };

  while (active.size() >= 2 || !heap.empty()) {
    if (active.size() < 2) {
      position = heap.top().first;
      retire();
      activate();
      continue;
    }
    int64_t end = *std::min_element(ends.begin(), ends.end());
    if (!heap.empty()) end = std::min(end, heap.top().first);
    if (end > position) visit(Extent{position, end}, std::span<const size_t>(active));
    position = end;
    retire();
    if (!heap.empty() && heap.top().first == position) activate();
  }
}

}  // namespace windrow
