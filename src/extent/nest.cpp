// SPDX-License-Identifier: BSD-3-Clause
#include "extent/nest.hpp"

#include <cassert>

namespace windrow {

void Nest::repeat(int64_t count, int64_t file_stride, int64_t memory_stride) noexcept {
  if (count == 1)
    return;
  if (run.count == 1) {
    if (file_stride == run.length && memory_stride == run.length) {
      run.length *= count;
    } else {
      run.count = count;
      run.file_stride = file_stride;
      run.memory_stride = memory_stride;
    }
    return;
  }
  Loop last{run.count, run.file_stride, run.memory_stride};
  if (depth > 0)
    last = loops[at(depth - 1)];
  if (file_stride == last.count * last.file_stride && memory_stride == last.count * last.memory_stride) {
    (depth > 0 ? loops[at(depth - 1)].count : run.count) *= count;
    return;
  }
  assert(depth < k_max_loops);
  loops[at(depth++)] = {count, file_stride, memory_stride};
}

Run Nest::outermost() const noexcept {
  const Loop& loop = loops[at(depth - 1)];
  return {run.file, run.memory, span(depth - 1), loop.file_stride, loop.memory_stride, loop.count};
}

Nest Nest::steps(int64_t first, int64_t count) const noexcept {
  Nest part = *this;
  Loop& loop = part.loops[at(depth - 1)];
  part.run.file += first * loop.file_stride;
  part.run.memory += first * loop.memory_stride;
  loop.count = count;
  if (count == 1)
    --part.depth;
  return part;
}

int64_t last_memory_end(const Nest& nest) noexcept {
  int64_t end = nest.run.memory + (nest.run.count - 1) * nest.run.memory_stride + nest.run.length;
  for (int i = 0; i < nest.depth; ++i) {
    const Loop& loop = nest.loops[Nest::at(i)];
    end += (loop.count - 1) * loop.memory_stride;
  }
  return end;
}

int64_t highest_memory_end(const Nest& nest) noexcept {
  int64_t end = nest.run.memory + (nest.run.count - 1) * std::max<int64_t>(0, nest.run.memory_stride) + nest.run.length;
  for (int i = 0; i < nest.depth; ++i) {
    const Loop& loop = nest.loops[Nest::at(i)];
    end += (loop.count - 1) * std::max<int64_t>(0, loop.memory_stride);
  }
  return end;
}

int64_t bytes_before(const Nest& nest, int64_t offset) noexcept {
  int64_t ahead = offset - nest.run.file;
  int64_t inner = nest.bytes(), bytes = 0;
  const auto descend = [&](int64_t count, int64_t stride) {
    inner /= count;
    if (ahead <= 0 || count == 1)
      return;
    const int64_t steps = std::min(count - 1, ahead / stride);
    bytes += steps * inner;
    ahead -= steps * stride;
  };
  for (int level = nest.depth; level-- > 0;)
    descend(nest.loops[Nest::at(level)].count, nest.loops[Nest::at(level)].file_stride);
  descend(nest.run.count, nest.run.file_stride);
  return bytes + std::clamp<int64_t>(ahead, 0, nest.run.length);
}

int64_t next_offset(const Nest& nest, int64_t offset) noexcept {
  int64_t file = nest.run.file;
  if (offset <= file)
    return file;
  // Descends the levels: either the step that begins at or before `offset` contains it, or the next step begins after
  // it.
  const auto passes = [&](int64_t count, int64_t stride, int64_t span) {
    if (count == 1)
      return false;
    const int64_t step = std::min(count - 1, (offset - file) / stride);
    file += step * stride;
    if (offset - file < span)
      return false;
    file += stride;
    return true;
  };
  for (int level = nest.depth; level-- > 0;) {
    const Loop& loop = nest.loops[Nest::at(level)];
    if (passes(loop.count, loop.file_stride, nest.span(level)))
      return file;
  }
  if (passes(nest.run.count, nest.run.file_stride, nest.run.length))
    return file;
  return offset;
}

namespace {

// A nest from some position on, as its run and its loops up to a level. Level 0 is a single piece.
struct InnerNest {
  const Nest& nest;
  int64_t file;
  int levels;

  int64_t span() const noexcept { return levels == 0 ? nest.run.length : nest.span(levels - 1); }
  int64_t count() const noexcept { return levels <= 1 ? nest.run.count : nest.loops[Nest::at(levels - 2)].count; }
  int64_t stride() const noexcept {
    if (levels == 0 || count() == 1)
      return 0;
    return levels == 1 ? nest.run.file_stride : nest.loops[Nest::at(levels - 2)].file_stride;
  }
  // The part that a stride repeats, and its number of steps; the whole nest, once, if there is no such level.
  InnerNest inside(int64_t step, int64_t& steps) const noexcept {
    const bool repeats = levels > 0 && (stride() == step || count() == 1);
    steps = repeats ? count() : 1;
    return {nest, file, repeats ? levels - 1 : levels};
  }
};

// `left`: the budget of comparisons.
bool may_meet(const InnerNest& one, const InnerNest& other, int& left) noexcept {
  if (one.file + one.span() <= other.file || other.file + other.span() <= one.file)
    return false;
  if (--left < 0 || (one.levels == 0 && other.levels == 0))
    return true;
  const int64_t step = std::max(one.stride(), other.stride());
  int64_t ones = 1, others = 1;
  const InnerNest part = one.inside(step, ones), rest = other.inside(step, others);
  if (step == 0)
    return may_meet(part, rest, left);
  // The distance between step j of `other` and step i of `one` is that between step j - i and step 0.
  const int64_t apart = other.file - one.file;
  const auto rounded_down = [step](int64_t value) { return value / step - (value % step < 0 ? 1 : 0); };
  const int64_t first = std::max(rounded_down(-rest.span() - apart) + 1, 1 - ones);
  const int64_t last = std::min(rounded_down(part.span() - apart - 1), others - 1);
  if (last - first >= left)
    return true;
  for (int64_t steps = first; steps <= last; ++steps)
    if (may_meet({part.nest, 0, part.levels}, {rest.nest, apart + steps * step, rest.levels}, left))
      return true;
  return false;
}

}  // namespace

bool may_meet(const Nest& one, const Nest& other) noexcept {
  int left = 100;
  return may_meet({one, one.run.file, one.depth + 1}, {other, other.run.file, other.depth + 1}, left);
}

void scale_loops(Nest& nest, int64_t factor) noexcept {
  for (int i = 0; i < nest.depth; ++i) {
    Loop& loop = nest.loops[Nest::at(i)];
    loop.file_stride *= factor;
    loop.memory_stride *= factor;
  }
}

Nest packed(const Nest& nest, int64_t memory) noexcept {
  Nest out(Run{nest.run.file, memory, nest.run.length, 0, 0, 1});
  int64_t bytes = nest.run.length;
  out.repeat(nest.run.count, nest.run.file_stride, bytes);
  bytes *= nest.run.count;
  for (int i = 0; i < nest.depth; ++i) {
    const Loop& loop = nest.loops[Nest::at(i)];
    out.repeat(loop.count, loop.file_stride, bytes);
    bytes *= loop.count;
  }
  return out;
}

}  // namespace windrow
