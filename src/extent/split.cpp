// SPDX-License-Identifier: BSD-3-Clause
#include "extent/split.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

std::optional<int64_t> positive(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return std::nullopt;
  return value;
}

std::vector<std::string_view> divided(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status bad(std::string why) {
  return {Code::bad_argument, std::move(why)};
}

// Parses "4" or "3+5+2" for one dimension.
Result<std::vector<int64_t>> parse_ranges(std::string_view text, int64_t length) {
  std::vector<int64_t> bounds{0};
  const auto sizes = divided(text, '+');
  for (const std::string_view each : sizes) {
    const auto number = positive(each);
    if (!number)
      return bad(fmt::format("\"{}\" is neither a number of parts nor lengths such as 3+5+2", text));
    if (sizes.size() == 1 && *number > length)
      return bad(fmt::format("a dimension of {} cannot be cut into {}", length, counted(*number, "part")));
    if (sizes.size() == 1)
      return even_bounds(length, *number);
    if (*number > length - bounds.back())
      return bad(fmt::format("{} are more than the dimension has: {}", text, length));
    bounds.push_back(bounds.back() + *number);
  }
  if (bounds.back() != length)
    return bad(fmt::format("{} add up to {}, but the dimension has {}", text, bounds.back(), length));
  return bounds;
}

// Factors `count` into numbers of parts along the dimensions `axes`, so that parts are as close to cubes as the factors
// allow; nullopt if the dimensions are too short.
std::optional<std::vector<int64_t>> factorise(std::span<const int64_t> shape, const std::vector<size_t>& axes,
                                              int64_t count) {
  std::vector<int64_t> factors, parts(shape.size(), 1);
  for (int64_t factor = 2; count > 1; ++factor) {
    if (factor * factor > count)
      factor = count;
    for (; count % factor == 0; count /= factor)
      factors.push_back(factor);
  }
  for (size_t i = factors.size(); i-- > 0;) {
    size_t best = shape.size();
    for (const size_t axis : axes)
      if (parts[axis] * factors[i] <= shape[axis] &&
          (best == shape.size() || shape[axis] / parts[axis] > shape[best] / parts[best]))
        best = axis;
    if (best == shape.size())
      return std::nullopt;
    parts[best] *= factors[i];
  }
  return parts;
}

Result<std::vector<size_t>> parse_axes(std::string_view text, size_t dimensions) {
  std::vector<size_t> axes;
  for (const std::string_view each : divided(text, ',')) {
    size_t axis = 0;
    const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), axis);
    if (error != std::errc() || end != each.data() + each.size())
      return bad(fmt::format("split is \"{}\"; it must be auto, none, or dimension numbers such as 0 or 0,2", text));
    if (axis >= dimensions)
      return bad(
          fmt::format("split is \"{}\", but there are {}, numbered from 0", text, counted(dimensions, "dimension")));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      return bad(fmt::format("split is \"{}\": {} is repeated", text, axis));
    axes.push_back(axis);
  }
  return axes;
}

// As even as possible in whole units; the last range has the incomplete unit. In elements if there are fewer units than
// ranges.
std::vector<int64_t> even_bounds_in(int64_t unit, int64_t length, int64_t parts) {
  if (unit <= 1 || length / unit < parts)
    return even_bounds(length, parts);
  std::vector<int64_t> bounds = even_bounds(length / unit, parts);
  for (int64_t& bound : bounds)
    bound *= unit;
  bounds.back() = length;
  return bounds;
}

int64_t unit_of(const SplitRequest& request, size_t dimension) {
  return request.unit.empty() ? 1 : request.unit[dimension];
}

Result<Split> even_split(const SplitRequest& request, std::span<const int64_t> shape,
                         const std::vector<int64_t>& parts) {
  std::vector<std::vector<int64_t>> bounds;
  for (size_t i = 0; i < shape.size(); ++i)
    bounds.push_back(even_bounds_in(unit_of(request, i), shape[i], parts[i]));
  return Split::make(std::move(bounds));
}

// Chooses the number of parts along each dimension. Prefers cuts whose ranges are whole units.
std::optional<std::vector<int64_t>> parts_along(const SplitRequest& request, std::span<const int64_t> shape,
                                                std::span<const std::vector<size_t>> ways) {
  std::vector<int64_t> units(shape.begin(), shape.end());
  for (size_t i = 0; i < units.size(); ++i)
    units[i] = std::max<int64_t>(1, units[i] / unit_of(request, i));
  for (const std::span<const int64_t> lengths : {std::span<const int64_t>(units), shape})
    for (const std::vector<size_t>& axes : ways)
      if (auto parts = factorise(lengths, axes, request.count))
        return parts;
  return std::nullopt;
}

}  // namespace

std::vector<int64_t> even_bounds(int64_t length, int64_t parts) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i <= parts; ++i)
    bounds.push_back(length / parts * i + std::min(i, length % parts));
  return bounds;
}

Result<Split> Split::make(std::vector<std::vector<int64_t>> bounds) {
  Split made;
  std::vector<int64_t> grid;
  for (const auto& ranges : bounds) {
    if (ranges.size() < 2 || ranges.front() != 0)
      return bad("ranges begin at 0 and end at the dimension's length");
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i] <= ranges[i - 1])
        return bad(fmt::format("ranges overlap, or one is empty: {} follows {}", ranges[i], ranges[i - 1]));
    made.shape_.push_back(ranges.back());
    grid.push_back(static_cast<int64_t>(ranges.size()) - 1);
  }
  const auto elements = checked_product(made.shape_), parts = checked_product(grid);
  if (!elements || !parts)
    return bad("there are more parts than 64 bits can count");
  made.parts_ = *parts;
  made.grid_strides_.assign(grid.size(), 1);
  for (size_t i = grid.size(); i-- > 1;)
    made.grid_strides_[i - 1] = made.grid_strides_[i] * grid[i];
  made.bounds_ = std::move(bounds);
  return made;
}

Box Split::box(int64_t part) const {
  Box box;
  for (size_t i = 0; i < shape_.size(); ++i) {
    const auto range = static_cast<size_t>(part / grid_strides_[i]);
    part %= grid_strides_[i];
    box.start.push_back(bounds_[i][range]);
    box.count.push_back(bounds_[i][range + 1] - bounds_[i][range]);
  }
  return box;
}

int64_t Split::elements(int64_t part) const noexcept {
  int64_t elements = 1;
  for (size_t i = 0; i < shape_.size(); ++i) {
    const auto range = static_cast<size_t>(part / grid_strides_[i]);
    part %= grid_strides_[i];
    elements *= bounds_[i][range + 1] - bounds_[i][range];
  }
  return elements;
}

namespace {

// A nest by levels: the first level repeats the piece, each further one repeats everything inside it.
struct Levels {
  explicit Levels(const Nest& nest) noexcept : piece{nest.run.file, nest.run.memory, nest.run.length} {
    if (nest.run.count > 1)
      add({nest.run.count, nest.run.file_stride, nest.run.memory_stride});
    for (int i = 0; i < nest.depth; ++i)
      add(nest.loops[Nest::at(i)]);
  }
  Levels(const Levels& other) noexcept : piece(other.piece), depth(other.depth) {
    std::copy_n(other.steps.begin(), other.depth, steps.begin());
  }
  Levels& operator=(const Levels&) = delete;
  ~Levels() = default;
  bool is_full() const noexcept { return depth == steps.size(); }
  void add(const Loop& loop) noexcept { insert(depth, loop); }
  void insert(size_t level, const Loop& loop) noexcept {
    std::copy_backward(steps.begin() + static_cast<std::ptrdiff_t>(level),
                       steps.begin() + static_cast<std::ptrdiff_t>(depth),
                       steps.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
    steps[level] = loop;
    ++depth;
  }

  Piece piece;
  size_t depth = 0;
  std::array<Loop, k_max_loops + 1> steps;  // [depth]; the rest is not initialized
};

}  // namespace

// Converts elements of an array to positions in its parts. Dimensions after the last one that is cut are contiguous in
// a part too. They are handled as one dimension, the last.
class Split::Placing {
 public:
  Placing(const Split& split, int64_t first) : split_(split), first_(first) {
    size_t cut = split.shape_.size();
    int64_t inner = 1;
    for (; cut > 1 && split.bounds_[cut - 1].size() == 2; --cut)
      inner *= split.shape_[cut - 1];
    bounds_.assign(split.bounds_.begin(), split.bounds_.begin() + static_cast<std::ptrdiff_t>(cut));
    bounds_.push_back({0, inner});
    axes_.resize(bounds_.size());
    int64_t weight = 1;
    for (size_t i = axes_.size(); i-- > 0; weight *= bounds_[i].back())
      axes_[i].weight = weight;
  }

  void add(const Nest& nest) { add(factored(nest)); }

  std::vector<std::pair<int64_t, Pieces>> take() {
    std::vector<std::pair<int64_t, Pieces>> placed;
    for (auto& [part, list] : lists_)
      placed.emplace_back(part, list.take());
    return placed;
  }

 private:
  // State of one dimension for the current nest.
  struct Axis {
    int64_t weight = 1;               // elements between two indices
    int64_t lowest = 0, highest = 0;  // lowest and highest index, without carry into another dimension
    int64_t end = 0;                  // end of the range that contains the lowest index
    int64_t stride = 0;               // elements between neighbours in the part
    int movers = 0;                   // levels with steps along this dimension: their number, and the last one
    size_t mover = 0;
    int64_t move = 0;  // step of that level
  };

  // Splits levels whose steps cross the ends of whole rows into levels of single dimensions. The rows of a block that
  // is as long as the array are such a level.
  Levels factored(const Nest& nest) const {
    Levels levels(nest);
    const int64_t begin = first_ + nest.run.file, unit = bounds_.back().back();
    if (begin % unit == 0 && levels.piece.length > unit && levels.piece.length % unit == 0 && !levels.is_full()) {
      levels.insert(0, {levels.piece.length / unit, unit, unit});
      levels.piece.length = unit;
    }
    for (size_t level = 0, i = axes_.size(); i-- > 1;) {
      const int64_t row = axes_[i - 1].weight;  // elements of a full row of this dimension
      for (; level < levels.depth && levels.steps[level].file_stride < row; ++level)
        continue;
      if (level == 0 || levels.is_full())
        continue;
      Loop& whole = levels.steps[level - 1];
      const int64_t in_row = row / whole.file_stride, count = whole.count;
      if (in_row * whole.file_stride != row || begin % row >= whole.file_stride || count <= in_row ||
          count % in_row != 0)
        continue;
      whole.count = in_row;
      levels.insert(level, {count / in_row, row, whole.memory_stride * in_row});
    }
    return levels;
  }

  // Cuts the nest at the ends of parts until each part of it lies in one. A block costs O(dimensions) for each part
  // that it overlaps, not O(rows). What is cut off lies in one range or is half as long, so the recursion is shallow
  // for any number of parts.
  void add(Levels rest) {
    while (!move_whole(rest)) {
      const auto cut = find_cut();
      const auto [level, count] = cut ? *cut : middle_of(rest);
      if (count == 0)
        return add_rows(rest.piece);
      Levels first = rest;
      first.steps[level].count = count;
      add(first);
      rest.steps[level].count -= count;
      rest.piece.file += count * rest.steps[level].file_stride;
      rest.piece.memory += count * rest.steps[level].memory_stride;
    }
  }

  // The outermost level with several steps, and half their number; {0, 0}: no level has several.
  static std::pair<size_t, int64_t> middle_of(const Levels& nest) {
    for (size_t level = nest.depth; level-- > 0;)
      if (const int64_t count = nest.steps[level].count; count > 1)
        return {level, count / 2};
    return {0, 0};
  }

  // A level, and the number of its steps before the end of a range. No part has steps on both sides of the cut, so the
  // pieces of each part keep their order. The dimensions after the cut one lie in one range, so no index is carried.
  std::optional<std::pair<size_t, int64_t>> find_cut() const {
    for (size_t i = axes_.size(); i-- > 0;) {
      const Axis& axis = axes_[i];
      if (axis.highest < axis.end)
        continue;
      if (axis.movers != 1 || axis.highest >= bounds_[i].back())
        return std::nullopt;
      return std::pair(axis.mover, (axis.end - 1 - axis.lowest) / axis.move + 1);
    }
    return std::nullopt;
  }

  // The part that contains an element, and the element's position there.
  std::pair<int64_t, int64_t> find(int64_t element) {
    int64_t part = 0, within = 0, stride = 1;
    for (size_t i = axes_.size(); i-- > 0;) {
      const auto& own = bounds_[i];
      const int64_t index = i == 0 ? element : element % own.back();
      element /= own.back();
      const auto range = static_cast<size_t>(std::upper_bound(own.begin(), own.end(), index) - own.begin() - 1);
      if (i + 1 < axes_.size())
        part += static_cast<int64_t>(range) * split_.grid_strides_[i];
      within += (index - own[range]) * stride;
      axes_[i] = {
          .weight = axes_[i].weight, .lowest = index, .highest = index, .end = own[range + 1], .stride = stride};
      stride *= own[range + 1] - own[range];
    }
    return {part, within};
  }

  // Converts a step in the array to a step in the part.
  int64_t step(size_t level, const Loop& loop) {
    int64_t rest = loop.file_stride, moved = 0;
    for (size_t i = axes_.size(); i-- > 0 && rest > 0;) {
      Axis& axis = axes_[i];
      const int64_t index = i == 0 ? rest : rest % bounds_[i].back();
      rest /= bounds_[i].back();
      if (index == 0)
        continue;
      moved += index * axis.stride;
      axis.highest += (loop.count - 1) * index;
      ++axis.movers;
      axis.mover = level;
      axis.move = index;
    }
    return moved;
  }

  bool move_whole(const Levels& nest) {
    const auto [part, within] = find(first_ + nest.piece.file);
    Nest moved(Run{within, nest.piece.memory, nest.piece.length, 0, 0, 1});
    Axis& row = axes_.back();
    row.highest += nest.piece.length - 1;
    for (size_t level = 0; level < nest.depth; ++level)
      if (const Loop& each = nest.steps[level]; each.count > 1)
        moved.repeat(each.count, step(level, each), each.memory_stride);
    if (!std::all_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.highest < axis.end; }))
      return false;
    lists_[part].add(moved);
    return true;
  }

  // A piece that begins or ends within a row: adds as much as is contiguous in its range.
  void add_rows(Piece piece) {
    const size_t last = axes_.size() - 2;
    while (piece.length > 0) {
      const auto [part, within] = find(first_ + piece.file);
      const int64_t left = (axes_[last].end - axes_[last].lowest) * axes_[last].weight - axes_.back().lowest;
      const int64_t taken = std::min(piece.length, left);
      lists_[part].add(Piece{within, piece.memory, taken});
      piece = {piece.file + taken, piece.memory + taken, piece.length - taken};
    }
  }

  const Split& split_;
  int64_t first_;
  std::vector<std::vector<int64_t>> bounds_;
  std::vector<Axis> axes_;
  std::map<int64_t, PiecesBuilder> lists_;
};

std::vector<std::pair<int64_t, Pieces>> Split::place(PieceView pieces, int64_t first) const {
  Placing placing(*this, first);
  RecordReader reader(pieces);
  for (Nest nest; reader.take(nest);)
    placing.add(nest);
  return placing.take();
}

Status check_split(const SplitRequest& request) {
  if (!request.axes.empty() && request.axes != "auto" && request.axes != "none")
    if (auto axes = parse_axes(request.axes, std::numeric_limits<size_t>::max()); !axes.ok())
      return axes.status();
  if (request.parts.empty() || request.parts == "auto")
    return {};
  for (const std::string_view text : divided(request.parts, 'x'))
    for (const std::string_view each : divided(text, '+'))
      if (!positive(each))
        return bad(fmt::format("split_parts is \"{}\": \"{}\" is neither a number of parts nor lengths such as 3+5+2",
                               request.parts, text));
  return {};
}

namespace {

bool is_automatic(const std::string& text) noexcept {
  return text.empty() || text == "auto";
}

// As split_parts says.
Result<Split> split_by_parts(const SplitRequest& request, std::span<const int64_t> shape) {
  const auto texts = divided(request.parts, 'x');
  if (texts.size() != shape.size())
    return bad(
        fmt::format("split_parts is \"{}\", but there are {}", request.parts, counted(shape.size(), "dimension")));
  std::vector<std::vector<int64_t>> bounds;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto ranges = parse_ranges(texts[i], shape[i]);
    if (!ranges.ok())
      return bad(fmt::format("split_parts is \"{}\": {}", request.parts, ranges.status().message()));
    const bool is_even = texts[i].find('+') == std::string_view::npos;
    const auto parts = static_cast<int64_t>(ranges.value().size()) - 1;
    bounds.push_back(is_even ? even_bounds_in(unit_of(request, i), shape[i], parts) : std::move(ranges).value());
  }
  auto split = Split::make(std::move(bounds));
  if (!split.ok() || split.value().parts() <= request.count)
    return split;
  return bad(fmt::format("split_parts is \"{}\": {} for {}", request.parts, counted(split.value().parts(), "part"),
                         counted(request.count, "subfile")));
}

// Along one dimension, the first that is possible, else along all.
Result<Split> split_automatically(const SplitRequest& request, std::span<const int64_t> shape) {
  std::vector<std::vector<size_t>> ways(1);
  for (size_t i = 0; i < shape.size(); ++i)
    ways[0].push_back(i);
  for (size_t i = shape.size(); i-- > 0;)
    ways.insert(ways.begin(), {i});
  if (const auto parts = parts_along(request, shape, ways))
    return even_split(request, shape, *parts);
  return Status(Code::not_found, fmt::format("a shape of {} cannot be cut into {}", fmt::join(shape, "x"),
                                             counted(request.count, "part")));
}

}  // namespace

Result<Split> make_split(const SplitRequest& request, std::span<const int64_t> shape) {
  if (shape.empty())
    return bad("a scalar cannot be split");
  if (!is_automatic(request.parts))
    return split_by_parts(request, shape);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return Status(Code::not_found, "it has no elements");
  if (is_automatic(request.axes))
    return split_automatically(request, shape);
  auto axes = parse_axes(request.axes, shape.size());
  if (!axes.ok())
    return axes.status();
  const auto parts = parts_along(request, shape, std::span(&axes.value(), 1));
  if (!parts)
    return bad(fmt::format("a shape of {} cannot be cut into {} along {}", fmt::join(shape, "x"),
                           counted(request.count, "part"), request.axes));
  return even_split(request, shape, *parts);
}

std::string text_of(const Split& split) {
  std::vector<std::string> texts;
  for (const auto& ranges : split.bounds()) {
    const auto parts = static_cast<int64_t>(ranges.size()) - 1;
    if (ranges == even_bounds(ranges.back(), parts)) {
      texts.push_back(std::to_string(parts));
      continue;
    }
    std::vector<int64_t> lengths;
    for (size_t i = 1; i < ranges.size(); ++i)
      lengths.push_back(ranges[i] - ranges[i - 1]);
    texts.push_back(fmt::format("{}", fmt::join(lengths, "+")));
  }
  return fmt::format("{}", fmt::join(texts, "x"));
}

}  // namespace windrow
