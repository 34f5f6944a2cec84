// SPDX-License-Identifier: BSD-3-Clause
#include "graph/adjacency.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace windrow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Numbers = std::vector<int64_t>;

std::map<int64_t, std::set<int64_t>> sets_of(const Lists& lists) {
  std::map<int64_t, std::set<int64_t>> sets;
  for (size_t i = 0; i + 1 < lists.offsets.size(); ++i) {
    const auto begin = lists.numbers.begin() + lists.offsets[i], end = lists.numbers.begin() + lists.offsets[i + 1];
    EXPECT_TRUE(std::is_sorted(begin, end));
    if (begin != end)
      sets[static_cast<int64_t>(i)] = {begin, end};
  }
  return sets;
}

TEST(Neighbours, of_two_tetrahedra_with_a_common_face) {
  const Numbers cells{0, 1, 2, 3, 1, 2, 3, 5};
  const Lists lists = neighbours_of(6, 6, cells, Neighbourhood::edges).value();
  EXPECT_THAT(lists.offsets, ElementsAre(0, 3, 7, 11, 15, 15, 18));  // node 4 is in no cell
  EXPECT_THAT(lists.numbers, ElementsAre(1, 2, 3, 0, 2, 3, 5, 0, 1, 3, 5, 0, 1, 2, 5, 1, 2, 3));
  EXPECT_EQ(neighbours_of(6, 6, cells, Neighbourhood::cells).value().numbers, lists.numbers);
}

TEST(Neighbours, of_each_kind_of_cell) {
  const std::map<int, std::pair<size_t, size_t>> nodes_and_edges{{4, {3, 3}}, {5, {4, 4}}, {6, {4, 6}},
                                                                 {7, {5, 8}}, {8, {6, 9}}, {9, {8, 12}}};
  for (const auto& [kind, counts] : nodes_and_edges) {
    Numbers cell(counts.first);
    for (size_t i = 0; i < cell.size(); ++i)
      cell[i] = static_cast<int64_t>(cell.size() - i);  // not in order, and from 1
    const auto nodes = static_cast<int64_t>(cell.size()) + 1;
    EXPECT_EQ(neighbours_of(nodes, kind, cell, Neighbourhood::edges).value().numbers.size(), 2 * counts.second) << kind;
    EXPECT_EQ(neighbours_of(nodes, kind, cell, Neighbourhood::cells).value().numbers.size(),
              counts.first * (counts.first - 1))
        << kind;
  }
}

TEST(Neighbours, of_a_hexahedron_are_three_each_by_its_edges) {
  const Numbers cell{0, 1, 2, 3, 4, 5, 6, 7};
  const auto sets = sets_of(neighbours_of(8, 9, cell, Neighbourhood::edges).value());
  EXPECT_EQ(sets.at(0), (std::set<int64_t>{1, 3, 4}));
  EXPECT_EQ(sets.at(6), (std::set<int64_t>{2, 5, 7}));
  const auto all = sets_of(neighbours_of(8, 9, cell, Neighbourhood::cells).value());
  EXPECT_EQ(all.at(0), (std::set<int64_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(Neighbours, of_mixed_cells) {
  const Numbers cells{4, 0, 1, 2, 5, 1, 3, 4, 2};  // a triangle and a quadrilateral with a common edge
  const auto sets = sets_of(neighbours_of(5, 112, cells, Neighbourhood::edges).value());
  EXPECT_EQ(sets.at(1), (std::set<int64_t>{0, 2, 3}));
  EXPECT_EQ(sets.at(4), (std::set<int64_t>{2, 3}));
}

TEST(Neighbours, of_a_mesh_without_cells) {
  const Lists lists = neighbours_of(3, 6, {}, Neighbourhood::edges).value();
  EXPECT_THAT(lists.offsets, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(lists.numbers, IsEmpty());
  EXPECT_THAT(neighbours_of(0, 112, {}, Neighbourhood::edges).value().offsets, ElementsAre(0));
}

TEST(Neighbours, a_node_that_a_cell_has_twice_is_not_its_own_neighbour) {
  EXPECT_THAT(neighbours_of(3, 4, Numbers{0, 1, 1}, Neighbourhood::edges).value().numbers, ElementsAre(1, 0));
}

TEST(Neighbours, messages_name_the_cell) {
  const auto message = [](int64_t nodes, int kind, const Numbers& cells) {
    return neighbours_of(nodes, kind, cells, Neighbourhood::edges).status().message();
  };
  EXPECT_EQ(message(4, 6, {0, 1, 2, 3, 0, 1, 2, 4}), "cell 1 has node 4; the nodes of this mesh are 0 to 3");
  EXPECT_EQ(message(4, 6, {0, 1, 2, -1}), "cell 0 has node -1; the nodes of this mesh are 0 to 3");
  EXPECT_EQ(message(4, 6, {0, 1, 2, 3, 0, 1}), "cell 1 has 2 nodes in the connectivity, not 4");
  EXPECT_EQ(message(4, 3, {0}), "3 is not a kind of cell");
  EXPECT_EQ(message(4, 112, {4, 0, 1, 2, 13, 0}), "cell 1 is of kind 13, which is not a kind of cell");
  EXPECT_EQ(message(-1, 4, {}), "a mesh cannot have -1 nodes");
}

}  // namespace
}  // namespace windrow
