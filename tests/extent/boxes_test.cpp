// SPDX-License-Identifier: BSD-3-Clause
#include "extent/boxes.hpp"

#include <gtest/gtest.h>

#include <random>

namespace windrow {
namespace {

using Numbers = std::vector<int64_t>;

Numbers numbers_of(const BoxList& boxes) {
  return {boxes.numbers().begin(), boxes.numbers().end()};
}

// How often each element of an array of 3 dimensions is in a box.
std::vector<int> paint(const Numbers& shape, const BoxList& boxes) {
  std::vector<int> painted(static_cast<size_t>(shape[0] * shape[1] * shape[2]));
  for (int64_t box = 0; box < boxes.size(); ++box) {
    const auto start = boxes.start(box), count = boxes.count(box);
    for (int64_t i = start[0]; i < start[0] + count[0]; ++i)
      for (int64_t j = start[1]; j < start[1] + count[1]; ++j)
        for (int64_t k = start[2]; k < start[2] + count[2]; ++k)
          ++painted[static_cast<size_t>((i * shape[1] + j) * shape[2] + k)];
  }
  return painted;
}

TEST(BoxList, has_the_chunks_of_a_part_of_an_array) {
  BoxList boxes(2);
  boxes.add_chunks({{10, 0}, {7, 5}}, Numbers{4, 3}, Numbers{0, 0, 4, 3});
  EXPECT_EQ(numbers_of(boxes), Numbers({10, 0, 4, 3, 14, 3, 3, 2}));
}

TEST(BoxList, ignores_what_is_not_a_chunk) {
  BoxList boxes(2);
  boxes.add_chunks({{0, 0}, {7, 5}}, Numbers{4, 3}, Numbers{8, 0, -4, 0, 1, 0, 0, 6, 4, 3, 0});
  EXPECT_EQ(numbers_of(boxes), Numbers({4, 3, 3, 2}));
  boxes.add_all(Numbers{0, 0, 1, 1, 5});
  EXPECT_EQ(boxes.size(), 2);
}

TEST(BoxList, joins_all_chunks_to_one_box) {
  BoxList boxes(3);
  Numbers firsts;
  for (int64_t k = 0; k < 9; k += 2)
    for (int64_t i = 0; i < 10; i += 4)
      for (int64_t j = 0; j < 7; j += 7)
        firsts.insert(firsts.end(), {i, j, k});
  boxes.add_chunks({{0, 0, 0}, {10, 7, 9}}, Numbers{4, 7, 2}, firsts);
  EXPECT_EQ(boxes.size(), 15);
  boxes.join();
  EXPECT_EQ(numbers_of(boxes), Numbers({0, 0, 0, 10, 7, 9}));
}

TEST(BoxList, joins_nothing_diagonally_and_nothing_to_nothing) {
  BoxList boxes(2), none(2), scalar(0);
  boxes.add_chunks({{0, 0}, {8, 8}}, Numbers{4, 4}, Numbers{4, 4, 0, 0, 0, 0});
  for (BoxList* each : {&boxes, &none, &scalar})
    each->join();
  EXPECT_EQ(numbers_of(boxes), Numbers({0, 0, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(scalar.size(), 0);
  scalar.add(Box{});
  scalar.join();
  EXPECT_EQ(scalar.size(), 1);
}

TEST(BoxList, has_the_same_elements_after_joining) {
  std::mt19937 random(7);
  const Numbers shape{11, 9, 10}, chunk{3, 4, 2};
  for (int round = 0; round < 200; ++round) {
    const auto percent = std::uniform_int_distribution<>(0, 100)(random);
    Numbers firsts;
    for (int64_t i = 0; i < shape[0]; i += chunk[0])
      for (int64_t j = 0; j < shape[1]; j += chunk[1])
        for (int64_t k = 0; k < shape[2]; k += chunk[2])
          if (std::uniform_int_distribution<>(1, 100)(random) <= percent)
            firsts.insert(firsts.begin(), {i, j, k});
    BoxList boxes(3);
    boxes.add_chunks({{0, 0, 0}, shape}, chunk, firsts);
    const auto painted = paint(shape, boxes);
    const int64_t before = boxes.size();
    boxes.join();
    EXPECT_EQ(paint(shape, boxes), painted);
    EXPECT_LE(boxes.size(), before);
    for (int64_t box = 1; box < boxes.size(); ++box)
      EXPECT_TRUE(std::ranges::lexicographical_compare(boxes.start(box - 1), boxes.start(box)));
  }
}

}  // namespace
}  // namespace windrow
