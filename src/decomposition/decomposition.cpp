// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace windrow {

namespace {

constexpr size_t k_max_dimensions = 32;  // WINDROW_MAX_DIMENSIONS

Status bad(std::string message) { return {Code::bad_argument, std::move(message)}; }

std::string text_of(std::span<const int64_t> shape) {
  return shape.empty() ? "()" : fmt::format("{}", fmt::join(shape, " x "));
}

// Elements of a box; 0 when any count is, however large the others are. nullopt: more than int64_t holds.
std::optional<int64_t> box_elements(std::span<const int64_t> counts) noexcept {
  if (std::ranges::find(counts, 0) != counts.end()) return 0;
  return checked_product(counts);
}

Result<Decomposition> make_empty(DecompositionKind kind, std::span<const int64_t> shape) {
  if (shape.size() > k_max_dimensions)
    return bad(fmt::format("{} dimensions; there can be {}", shape.size(), k_max_dimensions));
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0) return bad(fmt::format("dimension {} of the shape is {}", d, shape[d]));
  const auto elements = box_elements(shape);
  if (!elements) return bad(fmt::format("the shape {} has more than 2^63 - 1 elements", text_of(shape)));
  Decomposition decomposition;
  decomposition.kind = kind;
  decomposition.shape.assign(shape.begin(), shape.end());
  decomposition.elements = *elements;
  return decomposition;
}

// One block, as spans of one value a dimension; `name` is "block", or "block 3" of several.
struct BlockView {
  std::string name;
  std::span<const int64_t> start, count, memory_shape, memory_start;

  bool empty() const noexcept { return std::ranges::find(count, 0) != count.end(); }
};

Status check_block(const BlockView& block, std::span<const int64_t> shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (block.count[d] < 0) return bad(fmt::format("{} of dimension {} has count {}", block.name, d, block.count[d]));
    if (block.memory_shape[d] < 0)
      return bad(fmt::format("memory box of {} of dimension {} has size {}", block.name, d, block.memory_shape[d]));
  }
  if (block.empty()) return {};
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto ends = [&](int64_t start, int64_t limit, const char* where, const char* what) -> Status {
      if (start < 0) return bad(fmt::format("{} of dimension {} starts at {}{}", block.name, d, start, where));
      const auto end = checked_add(start, block.count[d]);
      if (!end)
        return bad(fmt::format("{} of dimension {} starts at {}{} and has count {}: too large", block.name, d, start,
                               where, block.count[d]));
      if (*end > limit)
        return bad(
            fmt::format("{} of dimension {} ends at {}{} but {} is {}", block.name, d, *end, where, what, limit));
      return {};
    };
    if (Status status = ends(block.start[d], shape[d], "", "the shape"); !status.ok()) return status;
    if (Status status = ends(block.memory_start[d], block.memory_shape[d], " in memory", "the memory box");
        !status.ok())
      return status;
  }
  return {};
}

Status check_sizes(size_t dimensions, int64_t blocks, const BlockLists& lists) {
  const auto values = checked_multiply(blocks, static_cast<int64_t>(dimensions));
  if (!values) return bad(fmt::format("{} blocks are too many", blocks));
  const auto size = static_cast<size_t>(*values);
  const auto fits = [&](std::span<const int64_t> list) { return list.empty() || list.size() == size; };
  if (lists.starts.size() != size || lists.counts.size() != size || !fits(lists.memory_shapes) ||
      !fits(lists.memory_starts))
    return bad(
        fmt::format("{} blocks of {} dimensions need {} starts and counts, and as many memory shapes and starts if any",
                    blocks, dimensions, size));
  return {};
}

// Distances between neighbours along each dimension of a box in C order. The box is not empty, and its product was
// checked.
std::vector<int64_t> strides_of(std::span<const int64_t> box) {
  std::vector<int64_t> strides(box.size(), 1);
  for (size_t d = box.size(); d-- > 1;) strides[d - 1] = strides[d] * box[d];
  return strides;
}

// A loop over a block: `count` steps, this far apart.
struct Axis {
  int64_t count;
  int64_t file_stride;
  int64_t memory_stride;
};

// The loops of a block, innermost first. Dimensions of count 1 vanish; those that continue each other, in the file and
// in memory, are one: a block that spans whole trailing dimensions has a single loop.
std::vector<Axis> axes_of(const BlockView& block, std::span<const int64_t> file_strides,
                          std::span<const int64_t> memory_strides) {
  std::vector<Axis> axes;
  for (size_t d = block.count.size(); d-- > 0;) {
    if (block.count[d] == 1) continue;
    const Axis axis{block.count[d], file_strides[d], memory_strides[d]};
    if (!axes.empty() && axis.file_stride == axes.back().count * axes.back().file_stride &&
        axis.memory_stride == axes.back().count * axes.back().memory_stride)
      axes.back().count *= axis.count;
    else
      axes.push_back(axis);
  }
  return axes;
}

// Appends the runs of a block that is not empty, in file order. The innermost loop is the length where it is
// contiguous, the next one the run; those outside are counted like an odometer.
void append_runs(const BlockView& block, std::span<const int64_t> shape, int64_t memory_base, std::vector<Run>& runs) {
  const std::vector<int64_t> file_strides = strides_of(shape);
  const std::vector<int64_t> memory_strides = strides_of(block.memory_shape);
  std::vector<Axis> axes = axes_of(block, file_strides, memory_strides);
  Run run{0, memory_base, 1, 0, 0, 1};
  for (size_t d = 0; d < shape.size(); ++d) {
    run.file += block.start[d] * file_strides[d];
    run.memory += block.memory_start[d] * memory_strides[d];
  }
  size_t outer = 0;
  if (!axes.empty() && axes[0].file_stride == 1 && axes[0].memory_stride == 1) run.length = axes[outer++].count;
  if (outer < axes.size()) {
    run.count = axes[outer].count;
    run.file_stride = axes[outer].file_stride;
    run.memory_stride = axes[outer++].memory_stride;
  }
  std::vector<int64_t> index(axes.size(), 0);
  for (size_t d = outer; d <= axes.size();) {
    if (d == outer) runs.push_back(run);
    if (d == axes.size()) return;
    if (++index[d] < axes[d].count) {
      run.file += axes[d].file_stride;
      run.memory += axes[d].memory_stride;
      d = outer;
    } else {
      index[d] = 0;
      run.file -= (axes[d].count - 1) * axes[d].file_stride;
      run.memory -= (axes[d].count - 1) * axes[d].memory_stride;
      ++d;
    }
  }
}

BlockView block_of(const Decomposition& decomposition, int64_t block) noexcept {
  const size_t dimensions = decomposition.shape.size();
  const auto slice = [&](const std::vector<int64_t>& all) {
    return std::span<const int64_t>(all).subspan(static_cast<size_t>(block) * dimensions, dimensions);
  };
  return {"", slice(decomposition.starts), slice(decomposition.counts), slice(decomposition.memory_shapes),
          slice(decomposition.memory_starts)};
}

// Points in the order of their numbers; of one that is listed twice the later.
RunList point_runs(const std::vector<int64_t>& points) {
  RunBuilder builder;
  const auto rising = [](int64_t a, int64_t b) { return a >= b; };
  if (std::ranges::adjacent_find(points, rising) == points.end()) {
    for (size_t i = 0; i < points.size(); ++i) builder.add(Piece{points[i], static_cast<int64_t>(i), 1});
    return builder.take();
  }
  std::vector<std::pair<int64_t, int64_t>> sorted;  // point, place in memory
  sorted.reserve(points.size());
  for (const int64_t point : points) sorted.emplace_back(point, static_cast<int64_t>(sorted.size()));
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (i + 1 == sorted.size() || sorted[i + 1].first != sorted[i].first)
      builder.add(Piece{sorted[i].first, sorted[i].second, 1});
  return builder.take();
}

Result<Decomposition> make(DecompositionKind kind, std::span<const int64_t> shape, int64_t blocks,
                           const BlockLists& lists) {
  Result<Decomposition> made = make_empty(kind, shape);
  if (!made.ok()) return made;
  if (blocks < 0) return bad(fmt::format("the number of blocks is {}", blocks));
  if (Status status = check_sizes(shape.size(), blocks, lists); !status.ok()) return status;
  Decomposition& decomposition = made.value();
  decomposition.blocks = blocks;
  decomposition.starts.assign(lists.starts.begin(), lists.starts.end());
  decomposition.counts.assign(lists.counts.begin(), lists.counts.end());
  const std::span<const int64_t> boxes = lists.memory_shapes.empty() ? lists.counts : lists.memory_shapes;
  decomposition.memory_shapes.assign(boxes.begin(), boxes.end());
  decomposition.memory_starts.assign(lists.memory_starts.begin(), lists.memory_starts.end());
  decomposition.memory_starts.resize(lists.starts.size(), 0);
  for (int64_t i = 0; i < blocks; ++i) {
    BlockView block = block_of(decomposition, i);
    block.name = kind == DecompositionKind::blocks ? fmt::format("block {}", i) : "block";
    if (Status status = check_block(block, shape); !status.ok()) return status;
    const auto box = box_elements(block.memory_shape);
    const auto end = box ? checked_add(decomposition.memory_elements, *box) : std::nullopt;
    if (!end) return bad(fmt::format("memory box {} of {} is too large", text_of(block.memory_shape), block.name));
    decomposition.memory_elements = *end;
  }
  return made;
}

}  // namespace

Result<Decomposition> make_block(std::span<const int64_t> shape, const BlockLists& block) {
  return make(DecompositionKind::block, shape, 1, block);
}

Result<Decomposition> make_blocks(std::span<const int64_t> shape, int64_t blocks, const BlockLists& lists) {
  return make(DecompositionKind::blocks, shape, blocks, lists);
}

Result<Decomposition> make_rows(int64_t rows, int64_t first, int64_t count) {
  if (rows < 0) return bad(fmt::format("the number of rows is {}", rows));
  if (count < 0) return bad(fmt::format("this rank's number of rows is {}", count));
  const auto end = checked_add(first, count);
  if (first < 0 || !end || *end > rows)
    return bad(fmt::format("{} rows from row {} on leave the {} rows of the whole", count, first, rows));
  return make(DecompositionKind::rows, {&rows, 1}, 1, {{&first, 1}, {&count, 1}, {}, {}});
}

Result<Decomposition> make_points(int64_t points, std::span<const int64_t> list, std::span<const unsigned char> owned) {
  if (points < 0) return bad(fmt::format("the number of points is {}", points));
  if (!owned.empty() && owned.size() != list.size())
    return bad(fmt::format("{} points come with {} owner flags", list.size(), owned.size()));
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] < 0 || list[i] >= points)
      return bad(fmt::format("entry {} of the points is {}, not in [0, {})", i, list[i], points));
  Result<Decomposition> made = make_empty(DecompositionKind::points, {&points, 1});
  if (!made.ok()) return made;
  made.value().memory_elements = static_cast<int64_t>(list.size());
  made.value().points.assign(list.begin(), list.end());
  made.value().owned.assign(owned.begin(), owned.end());
  return made;
}

Result<Decomposition> make_same(std::span<const int64_t> shape, std::span<const int64_t> start,
                                std::span<const int64_t> count) {
  const std::vector<int64_t> zeros(shape.size(), 0);
  return make(DecompositionKind::same, shape, 1,
              {start.empty() ? zeros : start, count.empty() ? shape : count, {}, {}});
}

RunList element_runs(const Decomposition& decomposition) {
  if (decomposition.kind == DecompositionKind::points) return point_runs(decomposition.points);
  std::vector<Run> runs;
  int64_t memory = 0;
  for (int64_t i = 0; i < decomposition.blocks; ++i) {
    const BlockView block = block_of(decomposition, i);
    if (!block.empty()) append_runs(block, decomposition.shape, memory, runs);
    memory += *box_elements(block.memory_shape);
  }
  return runs_from_runs(runs);
}

std::vector<Echo> echoes(const Decomposition& decomposition, const RunList& held) {
  const bool points = decomposition.kind == DecompositionKind::points;
  int64_t places = static_cast<int64_t>(decomposition.points.size());
  for (int64_t i = 0; i < decomposition.blocks && !points; ++i) places += *box_elements(block_of(decomposition, i).count);
  std::vector<Echo> found;
  if (places == total_bytes(held)) return found;
  const auto compare = [&](const Piece& place) {
    for_each_piece(held, {place.file, place.file + place.length}, [&](const Piece& source) {
      const int64_t to = place.memory + (source.file - place.file);
      if (to != source.memory) found.push_back({source.memory, to, source.length});
    });
  };
  for (size_t i = 0; i < decomposition.points.size(); ++i) compare({decomposition.points[i], static_cast<int64_t>(i), 1});
  int64_t memory = 0;
  for (int64_t i = 0; i < decomposition.blocks && !points; ++i) {
    const BlockView block = block_of(decomposition, i);
    std::vector<Run> runs;
    if (!block.empty()) append_runs(block, decomposition.shape, memory, runs);
    for_each_piece(runs, compare);
    memory += *box_elements(block.memory_shape);
  }
  return found;
}

RunList owned_runs(const Decomposition& decomposition) {
  std::vector<int64_t> points;
  for (size_t i = 0; i < decomposition.owned.size(); ++i)
    if (decomposition.owned[i] != 0) points.push_back(decomposition.points[i]);
  return point_runs(points);
}

Result<int64_t> load(const Decomposition& decomposition, std::span<const int64_t> variable_shape) {
  const std::span<const int64_t> shape = decomposition.shape;
  if (!box_elements(variable_shape))
    return bad(fmt::format("the shape {} has more than 2^63 - 1 elements", text_of(variable_shape)));
  size_t leading = shape.size();
  if (decomposition.kind == DecompositionKind::points) {
    // The leading dimensions, as few as will do, that multiply to the number of points.
    std::optional<int64_t> product = 1;
    for (leading = 0; leading < variable_shape.size();) {
      product = box_elements(variable_shape.first(++leading));
      if (product == decomposition.elements) break;
    }
    if (product != decomposition.elements)
      return bad(fmt::format(
          "a variable of shape {} does not fit a decomposition of {} points: no leading dimensions multiply to that",
          text_of(variable_shape), decomposition.elements));
  } else {
    if (variable_shape.size() < leading)
      return bad(fmt::format("a variable of {} dimensions does not fit a decomposition of {}", variable_shape.size(),
                             leading));
    for (size_t d = 0; d < leading; ++d)
      if (variable_shape[d] != shape[d])
        return bad(
            fmt::format("a variable of shape {} does not fit a decomposition of shape {}: dimension {} is {}, not {}",
                        text_of(variable_shape), text_of(shape), d, variable_shape[d], shape[d]));
  }
  const auto trailing = box_elements(variable_shape.subspan(leading));
  if (!trailing)
    return bad(fmt::format("the trailing dimensions of the shape {} have more than 2^63 - 1 elements",
                           text_of(variable_shape)));
  return *trailing;
}

Result<RunList> to_bytes(const RunList& elements, int64_t element_bytes) {
  if (elements.empty() || element_bytes == 0) return RunList{};
  const int64_t largest = std::max(hull(elements).end, memory_end(elements));
  if (element_bytes < 0 || !checked_multiply(largest, element_bytes))
    return bad(fmt::format("{} elements of {} bytes are more than 2^63 - 1 bytes", largest, element_bytes));
  // What touches as bytes touched as elements: nothing new can be merged.
  RunList bytes = elements;
  for (Run& run : bytes)
    run = {run.file * element_bytes,        run.memory * element_bytes,        run.length * element_bytes,
           run.file_stride * element_bytes, run.memory_stride * element_bytes, run.count};
  return bytes;
}

}  // namespace windrow
