// SPDX-License-Identifier: BSD-3-Clause
#include "graph/adjacency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/numbering.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

using Edge = std::pair<signed char, signed char>;

// Numbers and node order of cell types, as XDMF and windrow.h define them.
struct Shape {
  int kind;
  size_t nodes;
  std::span<const Edge> edges;
};
constexpr std::array<Edge, 3> k_triangle{{{0, 1}, {1, 2}, {2, 0}}};
constexpr std::array<Edge, 4> k_quadrilateral{{{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
constexpr std::array<Edge, 6> k_tetrahedron{{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
constexpr std::array<Edge, 8> k_pyramid{{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}};
constexpr std::array<Edge, 9> k_wedge{{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}}};
constexpr std::array<Edge, 12> k_hexahedron{
    {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
constexpr std::array k_shapes{Shape{4, 3, k_triangle}, Shape{5, 4, k_quadrilateral}, Shape{6, 4, k_tetrahedron},
                              Shape{7, 5, k_pyramid},  Shape{8, 6, k_wedge},         Shape{9, 8, k_hexahedron}};
constexpr int k_mixed = 112;

const Shape* find_shape(int64_t kind) noexcept {
  for (const Shape& shape : k_shapes)
    if (shape.kind == kind)
      return &shape;
  return nullptr;
}

// Calls visit(shape, nodes of the cell) for each cell.
template <class Visit>
Status for_each_cell(int64_t nodes, int kind, std::span<const int64_t> connectivity, Visit&& visit) {
  const Shape* shape = find_shape(kind);
  if (shape == nullptr && kind != k_mixed)
    return {Code::bad_argument, fmt::format("{} is not a kind of cell", kind)};
  int64_t cell = 0;
  for (size_t at = 0; at < connectivity.size(); ++cell) {
    if (kind == k_mixed) {
      shape = find_shape(connectivity[at]);
      if (shape == nullptr)
        return {Code::bad_argument,
                fmt::format("cell {} is of kind {}, which is not a kind of cell", shown_index(cell), connectivity[at])};
      ++at;
    }
    if (connectivity.size() - at < shape->nodes)
      return {Code::bad_argument, fmt::format("cell {} has {} in the connectivity, not {}", shown_index(cell),
                                              counted(connectivity.size() - at, "node"), shape->nodes)};
    const auto corners = connectivity.subspan(at, shape->nodes);
    for (const int64_t node : corners)
      if (node < 0 || node >= nodes)
        return {Code::bad_argument, fmt::format("cell {} has node {}; the nodes of this mesh are {}", shown_index(cell),
                                                shown_index(node), shown_range(nodes))};
    visit(*shape, corners);
    at += shape->nodes;
  }
  return {};
}

// Calls join(a, b) once for each pair of neighbours in a cell.
template <class Join>
void for_each_pair(const Shape& shape, std::span<const int64_t> corners, Neighbourhood neighbourhood, Join&& join) {
  if (neighbourhood == Neighbourhood::edges) {
    for (const Edge& edge : shape.edges)
      join(corners[static_cast<size_t>(edge.first)], corners[static_cast<size_t>(edge.second)]);
    return;
  }
  for (size_t a = 0; a < corners.size(); ++a)
    for (size_t b = a + 1; b < corners.size(); ++b)
      join(corners[a], corners[b]);
}

// Sorts each list and removes duplicates.
void sort_unique(Lists& lists) {
  size_t kept = 0;
  int64_t begin = 0;
  for (size_t node = 0; node + 1 < lists.offsets.size(); ++node) {
    const auto first = lists.numbers.begin() + begin, last = lists.numbers.begin() + lists.offsets[node + 1];
    begin = lists.offsets[node + 1];
    std::sort(first, last);
    const auto end = std::unique(first, last);
    std::copy(first, end, lists.numbers.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += static_cast<size_t>(end - first);
    lists.offsets[node + 1] = static_cast<int64_t>(kept);
  }
  lists.numbers.resize(kept);
}

}  // namespace

Result<Lists> neighbours_of(int64_t nodes, int kind, std::span<const int64_t> connectivity,
                            Neighbourhood neighbourhood) {
  if (nodes < 0)
    return Status{Code::bad_argument, fmt::format("a mesh cannot have {}", counted(nodes, "node"))};
  Lists lists;
  lists.offsets.resize(static_cast<size_t>(nodes) + 1);
  const auto count = [&](int64_t a, int64_t b) {
    if (a == b)
      return;
    ++lists.offsets[static_cast<size_t>(a) + 1];
    ++lists.offsets[static_cast<size_t>(b) + 1];
  };
  Status status = for_each_cell(nodes, kind, connectivity, [&](const Shape& shape, std::span<const int64_t> corners) {
    for_each_pair(shape, corners, neighbourhood, count);
  });
  if (!status.ok())
    return status;
  for (size_t node = 0; node + 1 < lists.offsets.size(); ++node)
    lists.offsets[node + 1] += lists.offsets[node];
  lists.numbers.resize(static_cast<size_t>(lists.offsets.back()));
  std::vector<int64_t> next(lists.offsets.begin(), lists.offsets.end() - 1);
  const auto put = [&](int64_t a, int64_t b) {
    if (a == b)
      return;
    lists.numbers[static_cast<size_t>(next[static_cast<size_t>(a)]++)] = b;
    lists.numbers[static_cast<size_t>(next[static_cast<size_t>(b)]++)] = a;
  };
  status = for_each_cell(nodes, kind, connectivity, [&](const Shape& shape, std::span<const int64_t> corners) {
    for_each_pair(shape, corners, neighbourhood, put);
  });
  if (!status.ok())
    return status;
  sort_unique(lists);
  return lists;
}

}  // namespace windrow
