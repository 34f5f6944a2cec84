// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "extent/algebra.hpp"

namespace windrow {

namespace {

constexpr size_t k_max_dimensions = 32;  // WINDROW_MAX_DIMENSIONS

Status bad(std::string message) {
  return {Code::bad_argument, std::move(message)};
}

// Elements of a box; 0 if any count is 0, however large the others are. nullopt: more than int64_t holds.
std::optional<int64_t> box_elements(std::span<const int64_t> counts) noexcept {
  if (std::ranges::find(counts, 0) != counts.end())
    return 0;
  return checked_product(counts);
}

Result<Decomposition> make_empty(DecompositionKind kind, std::span<const int64_t> shape) {
  if (shape.size() > k_max_dimensions)
    return bad(fmt::format("{}; the maximum is {}", counted(shape.size(), "dimension"), k_max_dimensions));
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0)
      return bad(fmt::format("dimension {} of the shape is {}", shown_dimension(d, shape.size()), shape[d]));
  const auto elements = box_elements(shape);
  if (!elements)
    return bad(fmt::format("the shape {} has more than 2^63 - 1 elements", shown_sizes(shape)));
  Decomposition decomposition;
  decomposition.kind = kind;
  decomposition.shape.assign(shape.begin(), shape.end());
  decomposition.elements = *elements;
  return decomposition;
}

// One block, as spans with one value for each dimension; `name` is "block", or "block 3" of several.
struct BlockView {
  std::string name;
  std::span<const int64_t> start, count, memory_shape, memory_start;
  std::span<const int64_t> memory_stride;  // empty: the strides of the box

  bool empty() const noexcept { return std::ranges::find(count, 0) != count.end(); }
};

Status check_block(const BlockView& block, std::span<const int64_t> shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (block.count[d] < 0)
      return bad(
          fmt::format("{} of dimension {} has count {}", block.name, shown_dimension(d, shape.size()), block.count[d]));
    if (block.memory_shape[d] < 0)
      return bad(fmt::format("memory box of {} of dimension {} has size {}", block.name,
                             shown_dimension(d, shape.size()), block.memory_shape[d]));
  }
  if (block.empty())
    return {};
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t dimension = shown_dimension(d, shape.size());
    const auto ends = [&](int64_t start, int64_t limit, const char* where, const char* what) -> Status {
      if (start < 0)
        return bad(fmt::format("{} of dimension {} starts at {}{}", block.name, dimension, shown_index(start), where));
      const auto end = checked_add(start, block.count[d]);
      if (!end)
        return bad(fmt::format("{} of dimension {} starts at {}{} and has count {}: too large", block.name, dimension,
                               shown_index(start), where, block.count[d]));
      if (*end > limit)
        return bad(fmt::format("{} of dimension {} ends at {}{} but {} is {}", block.name, dimension, *end, where, what,
                               limit));
      return {};
    };
    if (Status status = ends(block.start[d], shape[d], "", "the shape"); !status.ok())
      return status;
    if (Status status = ends(block.memory_start[d], block.memory_shape[d], " in memory", "the memory box");
        !status.ok())
      return status;
  }
  return {};
}

// The end in memory of a block without a box. nullopt: an element is before the beginning, or too far.
std::optional<int64_t> strided_end(const BlockView& block, int64_t offset) noexcept {
  std::optional<int64_t> lowest = offset, highest = offset;
  for (size_t d = 0; d < block.count.size(); ++d) {
    const auto reach = checked_multiply(block.count[d] - 1, block.memory_stride[d]);
    auto& side = reach && *reach < 0 ? lowest : highest;
    side = reach && side ? checked_add(*side, *reach) : std::nullopt;
  }
  if (!lowest || *lowest < 0 || !highest)
    return std::nullopt;
  return checked_add(*highest, int64_t{1});
}

Result<int64_t> check_strides(const BlockView& block, int64_t offset) {
  if (block.empty())
    return int64_t{0};
  for (size_t d = 0; d < block.count.size(); ++d)
    if (block.memory_stride[d] == 0 && block.count[d] > 1)
      return bad(fmt::format("{} has stride 0 along dimension {}, which has {}", block.name,
                             shown_dimension(d, block.count.size()), counted(block.count[d], "element")));
  const auto end = strided_end(block, offset);
  if (!end)
    return bad(fmt::format("{} at {} in memory with strides {} reaches outside the memory", block.name,
                           shown_index(offset), shown_sizes(block.memory_stride)));
  return *end;
}

Status check_sizes(size_t dimensions, int64_t blocks, const BlockLists& lists) {
  const auto values = checked_multiply(blocks, static_cast<int64_t>(dimensions));
  if (!values)
    return bad(fmt::format("there are too many: {}", counted(blocks, "block")));
  const auto size = static_cast<size_t>(*values);
  const auto fits = [&](std::span<const int64_t> list) { return list.empty() || list.size() == size; };
  if (lists.starts.size() != size || lists.counts.size() != size || !fits(lists.memory_shapes) ||
      !fits(lists.memory_starts))
    return bad(fmt::format("{} of {}: {} starts and counts are needed, and as many memory shapes and starts if any",
                           counted(blocks, "block"), counted(dimensions, "dimension"), size));
  const bool strided = !lists.memory_offsets.empty() || !lists.memory_strides.empty();
  if (strided && (std::cmp_not_equal(lists.memory_offsets.size(), blocks) || lists.memory_strides.size() != size))
    return bad(fmt::format("{} of {}: {} and {} strides are needed", counted(blocks, "block"),
                           counted(dimensions, "dimension"), counted(blocks, "memory offset"), size));
  return {};
}

// Distances between neighbours along each dimension of a box in C order. The box is not empty, and its product was
// checked.
std::vector<int64_t> strides_of(std::span<const int64_t> box) {
  std::vector<int64_t> strides(box.size(), 1);
  for (size_t d = box.size(); d-- > 1;)
    strides[d - 1] = strides[d] * box[d];
  return strides;
}

// A block as one nest; its length is 0 if it is empty.
Nest nest_of(const BlockView& block, std::span<const int64_t> shape, int64_t memory_base) {
  if (block.empty())
    return Nest(Run{});
  const std::vector<int64_t> file_strides = strides_of(shape);
  std::vector<int64_t> memory_strides(block.memory_stride.begin(), block.memory_stride.end());
  if (memory_strides.empty())
    memory_strides = strides_of(block.memory_shape);
  Nest nest(Run{0, memory_base, 1, 0, 0, 1});
  for (size_t d = 0; d < shape.size(); ++d) {
    nest.run.file += block.start[d] * file_strides[d];
    nest.run.memory += block.memory_start[d] * memory_strides[d];
  }
  for (size_t d = shape.size(); d-- > 0;)
    nest.repeat(block.count[d], file_strides[d], memory_strides[d]);
  return nest;
}

BlockView block_of(const Decomposition& decomposition, int64_t block) noexcept {
  const size_t dimensions = decomposition.shape.size();
  const auto slice = [&](const std::vector<int64_t>& all) {
    return std::span<const int64_t>(all).subspan(static_cast<size_t>(block) * dimensions, dimensions);
  };
  const bool strided = !decomposition.memory_strides.empty();
  return {"",
          slice(decomposition.starts),
          slice(decomposition.counts),
          slice(decomposition.memory_shapes),
          slice(decomposition.memory_starts),
          strided ? slice(decomposition.memory_strides) : std::span<const int64_t>()};
}

// The start of each block or of its memory box.
std::vector<int64_t> memory_bases(const Decomposition& decomposition) {
  if (!decomposition.memory_offsets.empty())
    return decomposition.memory_offsets;
  std::vector<int64_t> bases;
  int64_t memory = 0;
  for (int64_t i = 0; i < decomposition.blocks; ++i) {
    bases.push_back(memory);
    memory += *box_elements(block_of(decomposition, i).memory_shape);
  }
  return bases;
}

// Calls visit(point, place) in the order of the points; equal points keep the order of the list. A list that does not
// ascend needs 8 bytes a point: point and place packed in one number, or places alone if that number would be too
// large.
template <class Visit>
void for_each_sorted(std::span<const int64_t> list, int64_t points, Visit&& visit) {
  const size_t size = list.size();
  if (std::ranges::is_sorted(list)) {
    for (size_t i = 0; i < size; ++i)
      visit(list[i], static_cast<int64_t>(i));
    return;
  }
  const auto place_bits = static_cast<unsigned>(std::bit_width(size));
  std::vector<uint64_t> keys(size);
  if (static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(points))) + place_bits <= 64) {
    for (size_t i = 0; i < size; ++i)
      keys[i] = static_cast<uint64_t>(list[i]) << place_bits | i;
    std::sort(keys.begin(), keys.end());
    const uint64_t places = (uint64_t{1} << place_bits) - 1;
    for (const uint64_t key : keys)
      visit(static_cast<int64_t>(key >> place_bits), static_cast<int64_t>(key & places));
    return;
  }
  std::iota(keys.begin(), keys.end(), uint64_t{0});
  std::sort(keys.begin(), keys.end(),
            [&](uint64_t a, uint64_t b) { return list[a] != list[b] ? list[a] < list[b] : a < b; });
  for (const uint64_t place : keys)
    visit(list[place], static_cast<int64_t>(place));
}

// If a point is listed twice, its later place counts, and it is owned if either entry is flagged.
void sort_points(std::span<const int64_t> list, std::span<const unsigned char> owned, Decomposition& decomposition) {
  PiecesBuilder listed, flagged;
  Piece last;  // length 0: none
  bool last_owned = false;
  int64_t flags = 0;
  std::vector<int64_t> same;  // earlier places of the last point
  const auto close = [&] {
    listed.add(last);
    for (const int64_t place : same)
      decomposition.listed_twice.push_back({last.memory, place, 1});
    if (last_owned)
      flagged.add(Piece{last.file, flags++, 1});
    same.clear();
  };
  for_each_sorted(list, decomposition.elements, [&](int64_t point, int64_t place) {
    const bool is_owned = !owned.empty() && owned[static_cast<size_t>(place)] != 0;
    if (last.length > 0 && last.file == point) {
      same.push_back(last.memory);
      last_owned = last_owned || is_owned;
    } else {
      if (last.length > 0)
        close();
      last_owned = is_owned;
    }
    last = {point, place, 1};
  });
  if (last.length > 0)
    close();
  decomposition.listed = listed.take();
  decomposition.flagged = flagged.take();
}

Result<Decomposition> make(DecompositionKind kind, std::span<const int64_t> shape, int64_t blocks,
                           const BlockLists& lists) {
  Result<Decomposition> made = make_empty(kind, shape);
  if (!made.ok())
    return made;
  if (blocks < 0)
    return bad(fmt::format("the number of blocks is {}", blocks));
  if (Status status = check_sizes(shape.size(), blocks, lists); !status.ok())
    return status;
  Decomposition& decomposition = made.value();
  decomposition.blocks = blocks;
  decomposition.starts.assign(lists.starts.begin(), lists.starts.end());
  decomposition.counts.assign(lists.counts.begin(), lists.counts.end());
  const std::span<const int64_t> boxes = lists.memory_shapes.empty() ? lists.counts : lists.memory_shapes;
  decomposition.memory_shapes.assign(boxes.begin(), boxes.end());
  decomposition.memory_starts.assign(lists.memory_starts.begin(), lists.memory_starts.end());
  decomposition.memory_starts.resize(lists.starts.size(), 0);
  decomposition.memory_offsets.assign(lists.memory_offsets.begin(), lists.memory_offsets.end());
  decomposition.memory_strides.assign(lists.memory_strides.begin(), lists.memory_strides.end());
  for (int64_t i = 0; i < blocks; ++i) {
    BlockView block = block_of(decomposition, i);
    block.name = kind == DecompositionKind::blocks ? fmt::format("block {}", shown_index(i)) : "block";
    if (Status status = check_block(block, shape); !status.ok())
      return status;
    if (!decomposition.memory_offsets.empty()) {
      const auto reached = check_strides(block, decomposition.memory_offsets[static_cast<size_t>(i)]);
      if (!reached.ok())
        return reached.status();
      decomposition.memory_elements = std::max(decomposition.memory_elements, reached.value());
      continue;
    }
    const auto box = box_elements(block.memory_shape);
    const auto end = box ? checked_add(decomposition.memory_elements, *box) : std::nullopt;
    if (!end)
      return bad(fmt::format("memory box {} of {} is too large", shown_sizes(block.memory_shape), block.name));
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
  if (rows < 0)
    return bad(fmt::format("the number of rows is {}", rows));
  if (count < 0)
    return bad(fmt::format("this rank's number of rows is {}", count));
  const auto end = checked_add(first, count);
  if (first < 0 || !end || *end > rows)
    return bad(fmt::format("{} from row {} exceed the total of {}", counted(count, "row"), shown_index(first),
                           counted(rows, "row")));
  return make(DecompositionKind::rows, {&rows, 1}, 1, {{&first, 1}, {&count, 1}, {}, {}});
}

Result<Decomposition> make_points(int64_t points, std::span<const int64_t> list, std::span<const unsigned char> owned) {
  if (points < 0)
    return bad(fmt::format("the number of points is {}", points));
  if (!owned.empty() && owned.size() != list.size())
    return bad(fmt::format("{} come with {}", counted(list.size(), "point"), counted(owned.size(), "owner flag")));
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] < 0 || list[i] >= points)
      return bad(fmt::format("entry {} of the points is {}; the points are {}", shown_index(i), shown_index(list[i]),
                             shown_range(points)));
  Result<Decomposition> made = make_empty(DecompositionKind::points, {&points, 1});
  if (!made.ok())
    return made;
  made.value().memory_elements = static_cast<int64_t>(list.size());
  made.value().has_flags = !owned.empty() || list.empty();
  sort_points(list, owned, made.value());
  return made;
}

Result<Decomposition> make_same(std::span<const int64_t> shape, std::span<const int64_t> start,
                                std::span<const int64_t> count) {
  const std::vector<int64_t> zeros(shape.size(), 0);
  return make(DecompositionKind::same, shape, 1,
              {start.empty() ? zeros : start, count.empty() ? shape : count, {}, {}});
}

Pieces element_pieces(const Decomposition& decomposition) {
  if (decomposition.kind == DecompositionKind::points)
    return decomposition.listed;
  const std::vector<int64_t> bases = memory_bases(decomposition);
  return pieces_from_nests(bases.size(), [&](size_t i) {
    return nest_of(block_of(decomposition, static_cast<int64_t>(i)), decomposition.shape, bases[i]);
  });
}

std::vector<LocalDuplicate> duplicates(const Decomposition& decomposition, PieceView held) {
  if (decomposition.kind == DecompositionKind::points)
    return decomposition.listed_twice;
  int64_t places = 0;
  for (int64_t i = 0; i < decomposition.blocks; ++i)
    places += *box_elements(block_of(decomposition, i).count);
  std::vector<LocalDuplicate> found;
  if (places == total_bytes(held))
    return found;
  const auto compare = [&](const Piece& place) {
    for_each_piece(held, {place.file, place.file + place.length}, [&](const Piece& source) {
      const int64_t to = place.memory + (source.file - place.file);
      if (to != source.memory)
        found.push_back({source.memory, to, source.length});
    });
  };
  const std::vector<int64_t> bases = memory_bases(decomposition);
  for (size_t i = 0; i < bases.size(); ++i) {
    const Nest nest = nest_of(block_of(decomposition, static_cast<int64_t>(i)), decomposition.shape, bases[i]);
    if (nest.run.length > 0)
      for_each_run(nest, [&](const Run& run) { for_each_piece_of(run, compare); });
  }
  return found;
}

Result<int64_t> load(const Decomposition& decomposition, std::span<const int64_t> variable_shape) {
  const std::span<const int64_t> shape = decomposition.shape;
  if (!box_elements(variable_shape))
    return bad(fmt::format("the shape {} has more than 2^63 - 1 elements", shown_sizes(variable_shape)));
  size_t leading = shape.size();
  if (decomposition.kind == DecompositionKind::points) {
    // The shortest prefix of dimensions whose product is the number of points.
    std::optional<int64_t> product = 1;
    for (leading = 0; leading < variable_shape.size();) {
      product = box_elements(variable_shape.first(++leading));
      if (product == decomposition.elements)
        break;
    }
    if (product != decomposition.elements)
      return bad(
          fmt::format("a variable of shape {} does not fit a decomposition of {}: no {} dimensions multiply to that",
                      shown_sizes(variable_shape), counted(decomposition.elements, "point"), slowest_side()));
  } else {
    if (variable_shape.size() < leading)
      return bad(fmt::format("a variable of {} does not fit a decomposition of {}",
                             counted(variable_shape.size(), "dimension"), leading));
    for (size_t d = 0; d < leading; ++d)
      if (variable_shape[d] != shape[d])
        return bad(
            fmt::format("a variable of shape {} does not fit a decomposition of shape {}: dimension {} is {}, not {}",
                        shown_sizes(variable_shape), shown_sizes(shape), shown_dimension(d, variable_shape.size()),
                        variable_shape[d], shape[d]));
  }
  const auto trailing = box_elements(variable_shape.subspan(leading));
  if (!trailing)
    return bad(fmt::format("the {} dimensions of the shape {} have more than 2^63 - 1 elements", fastest_side(),
                           shown_sizes(variable_shape)));
  return *trailing;
}

Result<PieceView> to_bytes(const Pieces& elements, int64_t element_bytes) {
  if (elements.empty() || element_bytes == 0)
    return PieceView{};
  const int64_t largest = std::max(hull(elements).end, memory_end(elements));
  if (element_bytes < 0 || !checked_multiply(largest, element_bytes))
    return bad(fmt::format("{} of {} are more than 2^63 - 1 bytes", counted(largest, "element"),
                           counted(element_bytes, "byte")));
  return PieceView(elements, element_bytes);
}

}  // namespace windrow
