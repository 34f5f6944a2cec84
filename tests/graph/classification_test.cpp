// SPDX-License-Identifier: BSD-3-Clause
#include "graph/classification.hpp"

#include <gmock/gmock.h>

namespace windrow {
namespace {

using testing::ElementsAre;

// Figure 3 and table 1 of the paper. Its pseudocode adds the parts of neighbours as they come, so that node 2's list is
// 1 0: the table has the same.
TEST(Classification, of_the_papers_mesh) {
  const std::vector<std::vector<int64_t>> neighbours{{1, 3},    {0, 4, 7}, {4, 5, 6, 7}, {0, 5, 7},
                                                     {1, 2, 6}, {2, 3, 7}, {2, 4},       {1, 2, 3, 5}};
  const std::vector<int> partition{0, 0, 1, 0, 1, 0, 1, 0};
  std::vector<int64_t> offsets{0}, numbers;
  for (const auto& list : neighbours) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    offsets.push_back(static_cast<int64_t>(numbers.size()));
  }
  const Lists lists = classify_nodes(offsets, numbers, partition).value();
  EXPECT_THAT(lists.offsets, ElementsAre(0, 1, 3, 5, 6, 8, 10, 11, 13));
  EXPECT_THAT(lists.numbers, ElementsAre(0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1));
}

TEST(Classification, keeps_the_order_of_the_neighbours_and_names_no_part_twice) {
  const std::vector<int64_t> offsets{0, 4, 4, 4, 4, 4}, neighbours{4, 2, 1, 3};
  const std::vector<int> partition{1, 0, 7, 1, 7};
  const Lists lists = classify_nodes(offsets, neighbours, partition).value();
  EXPECT_THAT(lists.numbers, ElementsAre(1, 7, 0, 0, 7, 1, 7));
}

TEST(Classification, messages_name_the_node) {
  const auto message = [](const std::vector<int64_t>& offsets, const std::vector<int64_t>& neighbours,
                          const std::vector<int>& partition) {
    return classify_nodes(offsets, neighbours, partition).status().message();
  };
  EXPECT_EQ(message({0, 1, 2}, {1, 2}, {0, 0}), "node 1 has neighbour 2; the nodes of this mesh are 0 to 1");
  EXPECT_EQ(message({0, 1, 2}, {1, 0}, {0, -1}), "node 1 is in part -1; parts count from 0");
  EXPECT_EQ(message({0, 1, 3}, {1, 0}, {0, 0}), "the neighbours of node 1 are entries 1 to 3 of a list of 2");
  EXPECT_EQ(message({1, 0, 0}, {1, 0}, {0, 0}), "the neighbours of node 0 are entries 1 to 0 of a list of 2");
}

}  // namespace
}  // namespace windrow
