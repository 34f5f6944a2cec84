// SPDX-License-Identifier: BSD-3-Clause
#include "sim/workload.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "decomposition/decomposition.hpp"
#include "extent/algebra.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_elements = int64_t{1} << 58;
constexpr int64_t k_most_variables = 100'000;

// Start of part `index` of `parts` even parts.
int64_t even_begin(int64_t length, int64_t index, int64_t parts) {
  return length / parts * index + std::min(index, length % parts);
}

Pieces block_of(std::span<const int64_t> shape, std::span<const int64_t> start, std::span<const int64_t> count) {
  const auto made =
      make_block(shape, BlockLists{.starts = start, .counts = count, .memory_shapes = {}, .memory_starts = {}});
  return made.ok() ? element_pieces(made.value()) : Pieces();
}

// The ranks [begin, end) in each dimension of the grid.
struct RankBox {
  std::vector<int64_t> begin, end;
};

Pieces block_of_ranks(const Workload& workload, const RankBox& box) {
  std::vector<int64_t> start, count;
  for (size_t i = 0; i < workload.shape.size(); ++i) {
    const int64_t parts = workload.rank_grid[i];
    start.push_back(even_begin(workload.shape[i], box.begin[i], parts));
    count.push_back(even_begin(workload.shape[i], box.end[i], parts) - start.back());
  }
  return block_of(workload.shape, start, count);
}

// Consecutive ranks of a grid in C order form a few boxes: the incomplete rows at both ends, those of layers, and so
// on.
void add_boxes(const std::vector<int64_t>& grid, size_t dimension, RankBox box, int64_t first, int64_t last,
               std::vector<RankBox>& boxes) {
  if (first >= last)
    return;
  int64_t inner = 1;
  for (size_t i = dimension + 1; i < grid.size(); ++i)
    inner *= grid[i];
  const int64_t begin = ceil_divide(first, inner), end = last / inner;
  const auto part = [&](int64_t index, int64_t from, int64_t to) {
    RankBox one = box;
    one.begin[dimension] = index, one.end[dimension] = index + 1;
    add_boxes(grid, dimension + 1, std::move(one), from - index * inner, to - index * inner, boxes);
  };
  if (begin > end)
    return part(end, first, last);  // all in one
  if (first < begin * inner)
    part(begin - 1, first, begin * inner);
  if (begin < end) {
    RankBox whole = box;
    whole.begin[dimension] = begin, whole.end[dimension] = end;
    boxes.push_back(std::move(whole));
  }
  if (end * inner < last)
    part(end, end * inner, last);
}

Pieces grid_part(const Workload& workload, int first, int last) {
  std::vector<RankBox> boxes;
  add_boxes(workload.rank_grid, 0, {std::vector<int64_t>(workload.shape.size(), 0), workload.rank_grid}, first, last,
            boxes);
  std::vector<Nest> nests;
  for (const RankBox& box : boxes) {
    const Pieces block = block_of_ranks(workload, box);
    for (NestCursor cursor(block); !cursor.done(); cursor.next())
      nests.push_back(cursor.nest());
  }
  if (boxes.size() == 1)
    return block_of_ranks(workload, boxes.front());
  const Pieces all = pieces_from_nests(nests.size(), [&](size_t i) { return nests[i]; });
  return coverage(std::array{PieceView(all)});
}

Pieces cyclic_part(const Workload& workload, int first, int last) {
  const int64_t elements = workload.elements(), period = workload.block * workload.ranks;
  const int64_t begin = workload.block * first, length = workload.block * (last - first);
  PiecesBuilder builder;
  if (length == period) {
    builder.add(Piece{0, 0, elements});
    return builder.take();
  }
  // Whole pieces are one run; the last piece may be cut.
  const int64_t whole = begin + length > elements ? 0 : (elements - begin - length) / period + 1;
  if (whole > 0)
    builder.add(Run{begin, 0, length, whole > 1 ? period : 0, whole > 1 ? length : 0, whole});
  const int64_t rest = begin + whole * period;
  if (rest < elements)
    builder.add(Piece{rest, whole * length, std::min(length, elements - rest)});
  return builder.take();
}

// As even as possible, in descending order: assigns prime factors from the largest on to the dimension with the fewest
// ranks.
std::vector<int64_t> even_grid(int ranks, size_t dimensions) {
  std::vector<int64_t> grid(dimensions, 1), factors;
  int64_t rest = ranks;
  for (int64_t factor = 2; factor * factor <= rest; ++factor)
    for (; rest % factor == 0; rest /= factor)
      factors.push_back(factor);
  if (rest > 1)
    factors.push_back(rest);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor)
    *std::min_element(grid.begin(), grid.end()) *= *factor;
  std::sort(grid.rbegin(), grid.rend());
  return grid;
}

Status check_shape(const Workload& workload) {
  const auto wrong = [](std::string what) { return Status{Code::bad_argument, "pattern: " + std::move(what)}; };
  if (workload.shape.empty() || workload.shape.size() > 32)
    return wrong(fmt::format("a shape of {}", counted(workload.shape.size(), "dimension")));
  for (const int64_t length : workload.shape)
    if (length < 1)
      return wrong(fmt::format("the shape {} has no elements", fmt::join(workload.shape, "x")));
  const auto elements = checked_product(workload.shape);
  if (workload.ranks < 1)
    return wrong(fmt::format("{}", counted(workload.ranks, "rank")));
  if (workload.element_bytes < 1 || workload.element_bytes > (int64_t{1} << 20))
    return wrong(fmt::format("elements of {}", counted(workload.element_bytes, "byte")));
  if (workload.variables < 1 || workload.variables > k_most_variables)
    return wrong(fmt::format("{}; it must be from 1 to {}", counted(workload.variables, "variable"), k_most_variables));
  const auto bytes = elements ? checked_multiply(*elements, workload.element_bytes * workload.variables) : std::nullopt;
  if (!bytes || *bytes > k_most_elements)
    return wrong(fmt::format("{} elements of {} in {} exceed the maximum of a file", fmt::join(workload.shape, "x"),
                             counted(workload.element_bytes, "byte"), counted(workload.variables, "variable")));
  return {};
}

}  // namespace

int64_t Workload::elements() const noexcept {
  int64_t count = 1;
  for (const int64_t length : shape)
    count *= length;
  return count;
}

Status complete(Workload& workload) {
  if (Status status = check_shape(workload); !status.ok())
    return status;
  if (workload.division == Division::grid) {
    if (workload.rank_grid.empty())
      workload.rank_grid = even_grid(workload.ranks, workload.shape.size());
    const auto ranks = checked_product(workload.rank_grid);
    if (workload.rank_grid.size() != workload.shape.size() || ranks != workload.ranks ||
        *std::min_element(workload.rank_grid.begin(), workload.rank_grid.end()) < 1)
      return {Code::bad_argument,
              fmt::format("pattern: a grid of {} ranks is not one of {} for {}", fmt::join(workload.rank_grid, "x"),
                          counted(workload.ranks, "rank"), counted(workload.shape.size(), "dimension"))};
  }
  if (workload.division == Division::cyclic &&
      (workload.block < 1 || workload.block > k_most_elements / workload.ranks))
    return {Code::bad_argument, fmt::format("pattern: blocks of {}", counted(workload.block, "element"))};
  if (workload.division != Division::lists)
    return {};
  if (workload.lists.size() != static_cast<size_t>(workload.ranks))
    return {Code::bad_argument,
            fmt::format("pattern: {} lists for {}", workload.lists.size(), counted(workload.ranks, "rank"))};
  for (size_t rank = 0; rank < workload.lists.size(); ++rank)
    if (hull(workload.lists[rank]).end > workload.elements())
      return {Code::bad_argument, fmt::format("pattern: rank {} holds element {} of {}", rank,
                                              hull(workload.lists[rank]).end - 1, workload.elements())};
  return {};
}

HeldElements held_by(const Workload& workload, int rank) {
  if (workload.division == Division::lists)
    return {workload.lists[static_cast<size_t>(rank)], workload.element_bytes};
  return held_by_all(workload, rank, rank + 1);
}

HeldElements held_by_all(const Workload& workload, int first, int last) {
  HeldElements held{.elements = {}, .element_bytes = workload.element_bytes};
  PiecesBuilder builder;
  switch (workload.division) {
    case Division::rows: {
      const int64_t row = workload.elements() / workload.shape.front();
      const int64_t begin = even_begin(workload.shape.front(), first, workload.ranks),
                    end = even_begin(workload.shape.front(), last, workload.ranks);
      if (begin < end)
        builder.add(Piece{begin * row, 0, (end - begin) * row});
      held.elements = builder.take();
      break;
    }
    case Division::grid:
      held.elements = grid_part(workload, first, last);
      break;
    case Division::cyclic:
      held.elements = cyclic_part(workload, first, last);
      break;
    case Division::same:
      builder.add(Piece{0, 0, workload.elements()});
      held.elements = builder.take();
      break;
    case Division::lists: {
      std::vector<PieceView> views;
      for (int rank = first; rank < last; ++rank)
        views.emplace_back(workload.lists[static_cast<size_t>(rank)]);
      held.elements = coverage(views);
      break;
    }
  }
  return held;
}

std::string workload_text(const Workload& workload) {
  if (workload.plain_bytes) {
    int64_t bytes = 0;
    for (const Pieces& list : workload.lists)
      bytes += total_bytes(list);
    return fmt::format("{} {}, lists of plain bytes, {}", workload.reading ? "read by" : "written by",
                       counted(workload.ranks, "rank"), format_bytes(bytes));
  }
  std::string division;
  switch (workload.division) {
    case Division::rows:
      division = "rows";
      break;
    case Division::grid:
      division = fmt::format("a grid of {} ranks", fmt::join(workload.rank_grid, "x"));
      break;
    case Division::cyclic:
      division = fmt::format("{} in turn", counted(workload.block, "element"));
      break;
    case Division::same:
      division = "everything for every rank";
      break;
    case Division::lists:
      division = "lists of elements";
      break;
  }
  return fmt::format("{} {}, {}: {} of {} elements of {}, {}", workload.reading ? "read by" : "written by",
                     counted(workload.ranks, "rank"), division, counted(workload.variables, "variable"),
                     fmt::join(workload.shape, "x"), counted(workload.element_bytes, "byte"),
                     format_bytes(workload.bytes()));
}

}  // namespace windrow
