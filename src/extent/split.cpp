// SPDX-License-Identifier: BSD-3-Clause
#include "extent/split.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "base/checked.hpp"

namespace windrow {
namespace {

std::optional<int64_t> positive(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
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

Status bad(std::string why) { return {Code::bad_argument, std::move(why)}; }

// "4" or "3+5+2" of a dimension.
Result<std::vector<int64_t>> parse_ranges(std::string_view text, int64_t length) {
  std::vector<int64_t> bounds{0};
  const auto sizes = divided(text, '+');
  for (const std::string_view each : sizes) {
    const auto number = positive(each);
    if (!number) return bad(fmt::format("\"{}\" is neither a number of parts nor their lengths as 3+5+2", text));
    if (sizes.size() == 1 && *number > length) return bad(fmt::format("a dimension of {} cannot be cut into {} parts", length, *number));
    if (sizes.size() == 1) return even_bounds(length, *number);
    if (*number > length - bounds.back()) return bad(fmt::format("{} are more than the dimension's {}", text, length));
    bounds.push_back(bounds.back() + *number);
  }
  if (bounds.back() != length) return bad(fmt::format("{} are {}, and the dimension has {}", text, bounds.back(), length));
  return bounds;
}

// Cuts of the dimensions `axes` that make `count` together, so that parts are as near to cubes as its factors allow; none when they are too short.
std::optional<std::vector<int64_t>> factorise(std::span<const int64_t> shape, const std::vector<size_t>& axes, int64_t count) {
  std::vector<int64_t> factors, parts(shape.size(), 1);
  for (int64_t factor = 2; count > 1; ++factor) {
    if (factor * factor > count) factor = count;
    for (; count % factor == 0; count /= factor) factors.push_back(factor);
  }
  for (size_t i = factors.size(); i-- > 0;) {
    size_t best = shape.size();
    for (const size_t axis : axes)
      if (parts[axis] * factors[i] <= shape[axis] && (best == shape.size() || shape[axis] / parts[axis] > shape[best] / parts[best])) best = axis;
    if (best == shape.size()) return std::nullopt;
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
      return bad(fmt::format("split is \"{}\"; it must be auto, none, or numbers of dimensions as 0 or 0,2", text));
    if (axis >= dimensions) return bad(fmt::format("split is \"{}\", and there are {} dimensions, the first being 0", text, dimensions));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return bad(fmt::format("split is \"{}\": {} stands twice", text, axis));
    axes.push_back(axis);
  }
  return axes;
}

// As even as can be in whole units, the last one with what is left of one; in elements where there are fewer units than ranges.
std::vector<int64_t> even_bounds_in(int64_t unit, int64_t length, int64_t parts) {
  if (unit <= 1 || length / unit < parts) return even_bounds(length, parts);
  std::vector<int64_t> bounds = even_bounds(length / unit, parts);
  for (int64_t& bound : bounds) bound *= unit;
  bounds.back() = length;
  return bounds;
}

int64_t unit_of(const SplitRequest& request, size_t dimension) { return request.unit.empty() ? 1 : request.unit[dimension]; }

Result<Split> even_split(const SplitRequest& request, std::span<const int64_t> shape, const std::vector<int64_t>& parts) {
  std::vector<std::vector<int64_t>> bounds;
  for (size_t i = 0; i < shape.size(); ++i) bounds.push_back(even_bounds_in(unit_of(request, i), shape[i], parts[i]));
  return Split::make(std::move(bounds));
}

// How often each dimension is cut where we choose: so that ranges are of whole units, if that can be.
std::optional<std::vector<int64_t>> parts_along(const SplitRequest& request, std::span<const int64_t> shape, std::span<const std::vector<size_t>> ways) {
  std::vector<int64_t> units(shape.begin(), shape.end());
  for (size_t i = 0; i < units.size(); ++i) units[i] = std::max<int64_t>(1, units[i] / unit_of(request, i));
  for (const std::span<const int64_t> lengths : {std::span<const int64_t>(units), shape})
    for (const std::vector<size_t>& axes : ways)
      if (auto parts = factorise(lengths, axes, request.count)) return parts;
  return std::nullopt;
}

}  // namespace

std::vector<int64_t> even_bounds(int64_t length, int64_t parts) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i <= parts; ++i) bounds.push_back(length / parts * i + std::min(i, length % parts));
  return bounds;
}

Result<Split> Split::make(std::vector<std::vector<int64_t>> bounds) {
  Split made;
  std::vector<int64_t> grid;
  for (const auto& ranges : bounds) {
    if (ranges.size() < 2 || ranges.front() != 0) return bad("ranges begin at 0 and end at the dimension's length");
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i] <= ranges[i - 1]) return bad(fmt::format("ranges overlap, or one is empty: {} follows {}", ranges[i], ranges[i - 1]));
    made.shape_.push_back(ranges.back());
    grid.push_back(static_cast<int64_t>(ranges.size()) - 1);
  }
  const auto elements = checked_product(made.shape_), parts = checked_product(grid);
  if (!elements || !parts) return bad("the parts are more than 64 bits can count");
  made.parts_ = *parts;
  made.grid_strides_.assign(grid.size(), 1);
  for (size_t i = grid.size(); i-- > 1;) made.grid_strides_[i - 1] = made.grid_strides_[i] * grid[i];
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

// Cuts pieces into rows along the last dimension that is cut: what lies behind it is together in a part too. Rows of a part come in its order,
// since both are in C order.
std::vector<std::pair<int64_t, Pieces>> Split::place(PieceView pieces, int64_t first) const {
  size_t cut = shape_.size();
  while (cut > 1 && bounds_[cut - 1].size() == 2) --cut;
  int64_t unit = 1;  // elements of one index of the last dimension that is cut
  for (size_t i = cut; i < shape_.size(); ++i) unit *= shape_[i];
  const size_t last = cut - 1;
  const int64_t row_elements = shape_[last] * unit;
  std::map<int64_t, PiecesBuilder> lists;
  for_each_piece(pieces, [&](const Piece& piece) {
    int64_t element = first + piece.file, memory = piece.memory, length = piece.length;
    while (length > 0) {
      int64_t rest = element / row_elements, part = 0, within = 0, stride = 1;
      const int64_t at = element % row_elements;
      const auto& ranges = bounds_[last];
      const auto range = std::upper_bound(ranges.begin(), ranges.end(), at / unit) - ranges.begin() - 1;
      const auto number = static_cast<size_t>(range);
      const int64_t width = (ranges[number + 1] - ranges[number]) * unit;
      part = range * grid_strides_[last];
      within = at - ranges[number] * unit;
      stride = width;
      for (size_t i = last; i-- > 0; rest /= shape_[i]) {
        const int64_t index = rest % shape_[i];
        const auto& own = bounds_[i];
        const auto place = static_cast<size_t>(std::upper_bound(own.begin(), own.end(), index) - own.begin() - 1);
        part += static_cast<int64_t>(place) * grid_strides_[i];
        within += (index - own[place]) * stride;
        stride *= own[place + 1] - own[place];
      }
      // Where only the slowest dimension is cut, rows follow each other without end; else a row ends where its range does.
      const int64_t taken = std::min(length, ranges[number + 1] * unit - at);
      lists[part].add(Piece{within, memory, taken});
      element += taken;
      memory += taken;
      length -= taken;
    }
  });
  std::vector<std::pair<int64_t, Pieces>> placed;
  for (auto& [part, list] : lists) placed.emplace_back(part, list.take());
  return placed;
}

Status check_split(const SplitRequest& request) {
  if (!request.axes.empty() && request.axes != "auto" && request.axes != "none")
    if (auto axes = parse_axes(request.axes, std::numeric_limits<size_t>::max()); !axes.ok()) return axes.status();
  if (request.parts.empty() || request.parts == "auto") return {};
  for (const std::string_view text : divided(request.parts, 'x'))
    for (const std::string_view each : divided(text, '+'))
      if (!positive(each)) return bad(fmt::format("split_parts is \"{}\": \"{}\" is neither a number of parts nor their lengths as 3+5+2", request.parts, text));
  return {};
}

Result<Split> make_split(const SplitRequest& request, std::span<const int64_t> shape) {
  if (shape.empty()) return bad("a scalar cannot be split");
  if (!request.parts.empty() && request.parts != "auto") {
    const auto texts = divided(request.parts, 'x');
    if (texts.size() != shape.size())
      return bad(fmt::format("split_parts is \"{}\", and there are {} dimensions", request.parts, shape.size()));
    std::vector<std::vector<int64_t>> bounds;
    for (size_t i = 0; i < shape.size(); ++i) {
      auto ranges = parse_ranges(texts[i], shape[i]);
      if (!ranges.ok()) return bad(fmt::format("split_parts is \"{}\": {}", request.parts, ranges.status().message()));
      const bool is_even = texts[i].find('+') == std::string_view::npos;
      const auto parts = static_cast<int64_t>(ranges.value().size()) - 1;
      bounds.push_back(is_even ? even_bounds_in(unit_of(request, i), shape[i], parts) : std::move(ranges).value());
    }
    auto split = Split::make(std::move(bounds));
    if (!split.ok() || split.value().parts() <= request.count) return split;
    return bad(fmt::format("split_parts is \"{}\", which are {} parts for {} subfiles", request.parts, split.value().parts(), request.count));
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return Status(Code::not_found, "it has no elements");
  if (request.axes.empty() || request.axes == "auto") {
    std::vector<std::vector<size_t>> ways(1);
    for (size_t i = 0; i < shape.size(); ++i) ways[0].push_back(i);
    for (size_t i = shape.size(); i-- > 0;) ways.insert(ways.begin(), {i});
    if (const auto parts = parts_along(request, shape, ways)) return even_split(request, shape, *parts);
    return Status(Code::not_found, fmt::format("a shape of {} cannot be cut into {} parts", fmt::join(shape, "x"), request.count));
  }
  auto axes = parse_axes(request.axes, shape.size());
  if (!axes.ok()) return axes.status();
  const auto parts = parts_along(request, shape, std::span(&axes.value(), 1));
  if (!parts) return bad(fmt::format("a shape of {} cannot be cut into {} parts along {}", fmt::join(shape, "x"), request.count, request.axes));
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
    for (size_t i = 1; i < ranges.size(); ++i) lengths.push_back(ranges[i] - ranges[i - 1]);
    texts.push_back(fmt::format("{}", fmt::join(lengths, "+")));
  }
  return fmt::format("{}", fmt::join(texts, "x"));
}

}  // namespace windrow
