// SPDX-License-Identifier: BSD-3-Clause
// Walks several lists of pieces in file order together and finds bytes that they share. Memory positions are ignored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "extent/pieces.hpp"

namespace windrow {

// Iterates over the extents of one list in file order; runs that are contiguous in the file are one extent. The list
// must outlive it.
class Cursor {
 public:
  explicit Cursor(PieceView list) noexcept : nests_(list) { begin_nest(); }

  bool done() const noexcept { return nests_.done(); }

  Extent extent() const noexcept {  // not if done()
    if (run_.file_stride == run_.length)
      return {run_.file, run_.file_end()};
    const int64_t file = run_.file + piece_ * run_.file_stride;
    return {file, file + run_.length};
  }

  void next() noexcept {  // not if done()
    if (run_.file_stride != run_.length && ++piece_ < run_.count)
      return;
    if (next_run())
      return;
    nests_.next();
    begin_nest();
  }

  // Skips the extents that end at or before `offset`: whole nests at once, and by arithmetic within a nest.
  void skip(int64_t offset) noexcept {
    if (done() || extent().end > offset)
      return;
    if (nests_.file_end() <= offset) {
      nests_.skip(offset);
      begin_nest();
    }
    if (!done() && offset > run_.file)
      skip_within(offset);
  }

 private:
  void begin_nest() noexcept {
    if (done())
      return;
    run_ = nests_.nest().run;
    piece_ = 0;
    std::fill_n(steps_.begin(), nests_.nest().depth, 0);
  }

  bool next_run() noexcept {
    const Nest& nest = nests_.nest();
    piece_ = 0;
    for (int level = 0; level < nest.depth; ++level) {
      const Loop& loop = nest.loops[Nest::at(level)];
      const bool wraps = ++steps_[Nest::at(level)] == loop.count;
      run_.file += (wraps ? 1 - loop.count : 1) * loop.file_stride;
      if (!wraps)
        return true;
      steps_[Nest::at(level)] = 0;
    }
    return false;
  }

  // Advances to the first extent of the nest that ends after `offset`; there is one.
  void skip_within(int64_t offset) noexcept {
    const Nest& nest = nests_.nest();
    run_.file = nest.run.file;
    for (int level = nest.depth; level-- > 0;) {
      const Loop& loop = nest.loops[Nest::at(level)];
      const Run steps{run_.file, 0, nest.span(level), loop.file_stride, 0, loop.count};
      steps_[Nest::at(level)] = pieces_within(steps, {offset, steps.file_end()}).first;
      run_.file += steps_[Nest::at(level)] * loop.file_stride;
    }
    piece_ = 0;
    if (run_.count > 1 && run_.file_stride != run_.length)
      piece_ = pieces_within(run_, {offset, run_.file_end()}).first;
  }

  NestCursor nests_;
  Run run_;  // the run at the current loop indices
  int64_t piece_ = 0;
  std::array<int64_t, k_max_loops> steps_;
};

// A list at an offset in a file.
struct PlacedView {
  PieceView pieces;
  int64_t file_base = 0;
};

// Calls visit(Extent) for the maximal contiguous extents of all lists together, in file order. The lists may overlap.
// O(pieces log lists); only lists whose hulls overlap are walked at the same time.
template <class Visit>
void for_each_covered_extent(std::vector<PlacedView> lists, Visit&& visit) {
  const auto begin_of = [](const PlacedView& list) { return hull(list.pieces).begin + list.file_base; };
  std::erase_if(lists, [](const PlacedView& list) { return list.pieces.empty(); });
  std::sort(lists.begin(), lists.end(),
            [&](const PlacedView& a, const PlacedView& b) { return begin_of(a) < begin_of(b); });

  struct Walk {
    Cursor cursor;
    int64_t file_base;
    Extent extent() const noexcept { return {cursor.extent().begin + file_base, cursor.extent().end + file_base}; }
  };
  std::vector<std::unique_ptr<Walk>> walks;  // a heap with the first walk on top
  const auto later = [](const auto& a, const auto& b) { return a->extent().begin > b->extent().begin; };
  size_t next_list = 0;
  const auto next_begin = [&] { return next_list < lists.size() ? begin_of(lists[next_list]) : INT64_MAX; };
  Extent open;
  while (next_list < lists.size() || !walks.empty()) {
    if (walks.empty() || next_begin() < walks.front()->extent().begin) {
      const PlacedView& list = lists[next_list++];
      walks.push_back(std::make_unique<Walk>(Walk{Cursor(list.pieces), list.file_base}));
      std::push_heap(walks.begin(), walks.end(), later);
      continue;
    }
    std::pop_heap(walks.begin(), walks.end(), later);
    Walk& walk = *walks.back();
    const int64_t others = walks.size() > 1 ? std::min(next_begin(), walks.front()->extent().begin) : next_begin();
    // Stays with one list while it comes first: most lists overlap only at their ends.
    do {
      const Extent next = walk.extent();
      if (next.begin > open.end) {
        if (!open.empty())
          visit(Extent(open));
        open = next;
      } else {
        open.end = std::max(open.end, next.end);
      }
      walk.cursor.next();
      if (!walk.cursor.done())
        walk.cursor.skip(open.end - walk.file_base);
    } while (!walk.cursor.done() && walk.extent().begin <= others);
    if (walk.cursor.done())
      walks.pop_back();
    else
      std::push_heap(walks.begin(), walks.end(), later);
  }
  if (!open.empty())
    visit(Extent(open));
}

// The state of for_each_shared(): the lists in the order of their next extents, and those that contain the position.
class SharedSweep {
 public:
  explicit SharedSweep(std::span<const PieceView> lists) {
    cursors_.reserve(lists.size());
    for (const PieceView& list : lists)
      cursors_.emplace_back(list);
    for (size_t i = 0; i < lists.size(); ++i)
      queue(i);
  }

  bool goes_on() const noexcept { return active_.size() >= 2 || !heap_.empty(); }
  std::span<const size_t> active() const noexcept { return active_; }

  // The range from the position to where a list begins or ends, and moves to its end. Empty: fewer than two lists
  // contain the position.
  Extent next_range() const {
    if (active_.size() < 2)
      return {position_, position_};
    const int64_t end = *std::min_element(ends_.begin(), ends_.end());
    return {position_, heap_.empty() ? end : std::min(end, heap_.top().first)};
  }

  void move_past(Extent range) {
    if (active_.size() < 2) {
      position_ = heap_.top().first;
      retire();
      activate();
      return;
    }
    position_ = range.end;
    retire();
    if (!heap_.empty() && heap_.top().first == position_)
      activate();
  }

 private:
  using Next = std::pair<int64_t, size_t>;  // start of the next extent of a list

  void queue(size_t list) {
    if (!cursors_[list].done())
      heap_.emplace(cursors_[list].extent().begin, list);
  }

  void retire() {
    for (size_t i = active_.size(); i-- > 0;) {
      if (ends_[i] > position_)
        continue;
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
      ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void activate() {
    const size_t list = heap_.top().second;
    heap_.pop();
    if (active_.empty() && heap_.empty())
      return;  // only one list is left, so nothing more is shared
    const Extent extent = cursors_[list].extent();
    if (active_.empty() && extent.end <= heap_.top().first) {
      cursors_[list].skip(heap_.top().first);  // no other list until this offset
    } else {
      active_.push_back(list);
      ends_.push_back(extent.end);
      cursors_[list].next();
    }
    queue(list);
  }

  std::vector<Cursor> cursors_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> heap_;
  // The lists that contain `position_`, and their ends. The next extent of a list begins after its last has ended.
  std::vector<size_t> active_;
  std::vector<int64_t> ends_;
  int64_t position_ = 0;
};

// Calls visit(Extent, std::span<const size_t> lists) for each range in two or more of the lists, in file order, with
// the indices of those lists in no order. Ranges are cut where a list begins or ends. O(extents that interleave x log
// lists, plus visits): ranges in one list only are skipped by arithmetic.
template <class Visit>
void for_each_shared(std::span<const PieceView> lists, Visit&& visit) {
  SharedSweep sweep(lists);
  while (sweep.goes_on()) {
    const Extent range = sweep.next_range();
    if (!range.empty())
      visit(Extent(range), sweep.active());
    sweep.move_past(range);
  }
}

// Calls visit(Extent, std::span<const size_t> lists) for each range in at least one list, in file order, with the
// indices of those lists in no order. Ranges are cut where an extent of a list begins or ends, so adjacent ranges may
// be in the same lists. O(extents x log lists, plus visits).
template <class Visit>
void for_each_held(std::span<const PieceView> lists, Visit&& visit) {
  std::vector<Cursor> cursors;
  cursors.reserve(lists.size());
  for (const PieceView& list : lists)
    cursors.emplace_back(list);
  using Next = std::pair<int64_t, size_t>;  // start of the next extent of a list
  std::priority_queue<Next, std::vector<Next>, std::greater<>> heap;
  const auto queue = [&](size_t list) {
    if (!cursors[list].done())
      heap.emplace(cursors[list].extent().begin, list);
  };
  for (size_t i = 0; i < lists.size(); ++i)
    queue(i);

  std::vector<size_t> active;  // the lists that contain `position`, and their ends
  std::vector<int64_t> ends;
  int64_t position = 0;
  while (!active.empty() || !heap.empty()) {
    if (active.empty())
      position = heap.top().first;
    while (!heap.empty() && heap.top().first == position) {
      const size_t list = heap.top().second;
      heap.pop();
      active.push_back(list);
      ends.push_back(cursors[list].extent().end);
      cursors[list].next();
      queue(list);
    }
    int64_t end = *std::min_element(ends.begin(), ends.end());
    if (!heap.empty())
      end = std::min(end, heap.top().first);
    visit(Extent{position, end}, std::span<const size_t>(active));
    position = end;
    for (size_t i = active.size(); i-- > 0;) {
      if (ends[i] > position)
        continue;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
      ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace windrow
