// SPDX-License-Identifier: BSD-3-Clause
#include "extent/loops.hpp"

#include <cmath>

#include "base/checked.hpp"

namespace windrow {
namespace {

std::optional<Extent> hull_of(const FreeNest& nest, int64_t Piece::*offset, int64_t Loop::*stride) noexcept {
  const auto end = checked_add(nest.first.*offset, nest.first.length);
  if (!end)
    return std::nullopt;
  Extent hull{nest.first.*offset, *end};
  for (const Loop& loop : nest.loops) {
    if (loop.count == 0 || nest.first.length == 0)
      return Extent{};
    const auto reach = checked_multiply(loop.count - 1, loop.*stride);
    const auto moved = reach ? checked_add(*reach < 0 ? hull.begin : hull.end, *reach) : std::nullopt;
    if (!moved)
      return std::nullopt;
    (*reach < 0 ? hull.begin : hull.end) = *moved;
  }
  int64_t size = 0;
  return __builtin_sub_overflow(hull.end, hull.begin, &size) ? std::nullopt : std::optional(hull);
}

// Chooses the loops of a nest among loops sorted by stride: the choice that leaves the fewest steps to expand.
class LoopChoice {
 public:
  LoopChoice(const std::vector<Loop>& loops, int64_t length)
      : loops_(loops), steps_above_(loops.size() + 1), keeps_(loops.size()), best_(loops.size()) {
    for (size_t i = loops.size(); i-- > 0;)
      steps_above_[i] = steps_above_[i + 1] + std::log2(static_cast<double>(loops[i].count));
    search(0, length, 0, 0);
  }
  const std::vector<bool>& kept() const noexcept { return best_; }

 private:
  // `steps`: the logarithm of the number of steps of the kept loops, of which there are `depth`.
  void search(size_t at, int64_t span, double steps, int depth) {
    if (steps + steps_above_[at] <= best_steps_ || --tries_ < 0)
      return;
    if (at == loops_.size()) {
      best_steps_ = steps;
      best_ = keeps_;
      return;
    }
    const Loop& loop = loops_[at];
    if (loop.file_stride >= span && depth <= k_max_loops) {
      keeps_[at] = true;
      search(at + 1, span + (loop.count - 1) * loop.file_stride, steps + steps_above_[at] - steps_above_[at + 1],
             depth + 1);
      keeps_[at] = false;
    }
    search(at + 1, span, steps, depth);
  }

  const std::vector<Loop>& loops_;
  std::vector<double> steps_above_;
  std::vector<bool> keeps_, best_;
  double best_steps_ = -1;
  int tries_ = 4096;
};

// Merges loops that continue the previous one in the file and in memory.
void merge_continued(std::vector<Loop>& loops) {
  size_t count = 0;
  for (const Loop& loop : loops) {
    Loop* const last = count > 0 ? &loops[count - 1] : nullptr;
    if (last != nullptr && checked_multiply(last->count, last->file_stride) == loop.file_stride &&
        checked_multiply(last->count, last->memory_stride) == loop.memory_stride)
      last->count *= loop.count;
    else
      loops[count++] = loop;
  }
  loops.resize(count);
}

}  // namespace

std::optional<Extent> file_hull(const FreeNest& nest) noexcept {
  return hull_of(nest, &Piece::file, &Loop::file_stride);
}

std::optional<Extent> memory_hull(const FreeNest& nest) noexcept {
  return hull_of(nest, &Piece::memory, &Loop::memory_stride);
}

void for_each_sorted_nest(const FreeNest& nest, FunctionRef<void(const Nest&)> add) {
  Piece first = nest.first;
  std::vector<Loop> loops;
  for (Loop loop : nest.loops) {
    if (loop.count == 0)
      return;
    if (loop.file_stride < 0) {
      first.file += (loop.count - 1) * loop.file_stride;
      first.memory += (loop.count - 1) * loop.memory_stride;
      loop.file_stride = -loop.file_stride;
      loop.memory_stride = -loop.memory_stride;
    }
    if (loop.count > 1)
      loops.push_back(loop);
  }
  if (first.length == 0)
    return;
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& one, const Loop& other) { return one.file_stride < other.file_stride; });
  merge_continued(loops);
  const LoopChoice choice(loops, first.length);
  Nest sorted(Run{first.file, first.memory, first.length, 0, 0, 1});
  std::vector<Loop> expanded;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (choice.kept()[i])
      sorted.repeat(loops[i].count, loops[i].file_stride, loops[i].memory_stride);
    else
      expanded.push_back(loops[i]);
  }
  std::vector<int64_t> index(expanded.size());
  for (size_t level = 0; level <= expanded.size();) {
    if (level == 0)
      add(sorted);
    if (level == expanded.size())
      return;
    const Loop& loop = expanded[level];
    const bool wraps = ++index[level] == loop.count;
    const int64_t steps = wraps ? 1 - loop.count : 1;
    sorted.run.file += steps * loop.file_stride;
    sorted.run.memory += steps * loop.memory_stride;
    if (wraps)
      index[level] = 0;
    level = wraps ? level + 1 : 0;
  }
}

}  // namespace windrow
