// SPDX-License-Identifier: BSD-3-Clause
#include "copy/slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace copying {
namespace {

// Every element of every item is in exactly one share of one batch, and each rank's shares fit its buffer, or are one
// element.
void expect_covered_once(const std::vector<Item>& items, int ranks, int64_t given) {
  int64_t buffer = given;
  std::vector<std::vector<int>> seen;
  for (const Item& item : items)
    seen.emplace_back(static_cast<size_t>(element_count(item.shape)), 0);
  for (const Item& item : items)
    buffer = std::max(buffer, (item.element_bytes + 7) / 8 * 8);
  Slicer slicer(items, ranks, given);
  for (Batch batch = slicer.next(); !batch.empty(); batch = slicer.next()) {
    for (int rank = 0; rank < ranks; ++rank) {
      int64_t bytes = 0;
      for (const Piece& piece : batch) {
        const Item& item = items[piece.item];
        bytes += share_bytes(item, piece, rank, ranks);
        if (item.shape.empty() && rank > 0)
          continue;  // a scalar is everybody's
        const Share share = share_of(item, piece, rank, ranks);
        for (int64_t i = share.first; i < share.first + share.count; ++i)
          ++seen[piece.item][static_cast<size_t>(i)];
      }
      ASSERT_LE(bytes, buffer) << "rank " << rank << " of " << ranks;
    }
  }
  for (size_t i = 0; i < items.size(); ++i)
    EXPECT_TRUE(std::ranges::all_of(seen[i], [](int times) { return times == 1; }))
        << "item " << i << " at " << ranks << " ranks";
}

TEST(Slicer, covers_each_element_once_within_the_buffer) {
  const std::vector<Item> items{{0, {}, 8},     {1, {7, 5, 3}, 4}, {2, {0, 4}, 8},
                                {3, {1000}, 1}, {4, {2, 300}, 8},  {5, {1, 1, 1}, 2}};
  for (int ranks : {1, 2, 3, 4, 13})
    for (int64_t buffer : {16, 24, 64, 1000, 4096, 1 << 20})
      expect_covered_once(items, ranks, buffer);
}

TEST(Slicer, takes_elements_that_are_larger_than_the_buffer_one_a_rank) {
  const std::vector<Item> items{{0, {5}, 4}, {1, {7}, 5000}, {2, {}, 20000}, {3, {100}, 1}, {4, {2, 3}, 4097}};
  for (int ranks : {1, 2, 3, 8})
    for (int64_t buffer : {16, 2048, 4096, 5001, 1 << 20})
      expect_covered_once(items, ranks, buffer);
}

TEST(Slicer, takes_small_variables_together) {
  const std::vector<Item> items(100, Item{0, {10}, 8});
  Slicer slicer(items, 2, 1 << 16);
  EXPECT_EQ(slicer.next().size(), 100U);
  EXPECT_TRUE(slicer.next().empty());
}

TEST(Slicer, cuts_a_large_variable_at_whole_rows) {
  const std::vector<Item> items{{0, {100, 10, 10}, 8}};
  Slicer slicer(items, 2, 8 * 250);  // both buffers: five rows of 100 elements
  const Batch batch = slicer.next();
  ASSERT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch[0].count, 500);
  const std::vector<Item> wide{
      {0, {2, 30, 10}, 8}};  // a row of 300 elements does not fit: cut along the next dimension
  Slicer deeper(wide, 1, 8 * 55);
  EXPECT_EQ(deeper.next()[0].count, 50);
}

TEST(BoxesOfRange, lists_exactly_the_elements_of_the_range_in_order) {
  const std::vector<int64_t> shape{3, 1, 4, 2};
  const int64_t total = element_count(shape);
  for (int64_t first = 0; first < total; ++first) {
    for (int64_t count = 0; first + count <= total; ++count) {
      const Boxes boxes = boxes_of_range(shape, first, count);
      ASSERT_LE(boxes.number, 7);
      std::vector<int64_t> elements;
      for (int64_t b = 0; b < boxes.number; ++b) {
        const int64_t* start = &boxes.starts[static_cast<size_t>(b) * 4];
        const int64_t* extent = &boxes.counts[static_cast<size_t>(b) * 4];
        for (int64_t i = 0; i < extent[0]; ++i)
          for (int64_t j = 0; j < extent[1]; ++j)
            for (int64_t k = 0; k < extent[2]; ++k)
              for (int64_t l = 0; l < extent[3]; ++l)
                elements.push_back((((start[0] + i) * 1 + start[1] + j) * 4 + start[2] + k) * 2 + start[3] + l);
      }
      std::vector<int64_t> expected(static_cast<size_t>(count));
      std::iota(expected.begin(), expected.end(), first);
      ASSERT_EQ(elements, expected) << "from " << first;
    }
  }
}

TEST(BoxesOfRange, is_one_box_for_whole_rows) {
  EXPECT_EQ(boxes_of_range({10, 20, 30}, 2 * 600, 3 * 600).number, 1);
}

TEST(RangesOfChunks, have_the_rows_of_a_chunk_that_is_as_long_as_the_slowest_dimension) {
  const std::vector<int64_t> shape{64, 512, 512}, chunk{64, 64, 64}, start{0, 64, 128};
  const auto ranges = ranges_of_chunks(shape, chunk, start);
  ASSERT_EQ(ranges.size(), 64U);
  for (size_t i = 0; i < ranges.size(); ++i)
    EXPECT_EQ(ranges[i], std::pair(static_cast<int64_t>(i * 512 * 512 + 64 * 512), int64_t{64 * 512}));
}

TEST(RangesOfChunks, are_one_for_all_chunks) {
  const std::vector<int64_t> shape{100, 100}, chunk{64, 64}, starts{0, 0, 0, 64, 64, 0, 64, 64};
  EXPECT_EQ(ranges_of_chunks(shape, chunk, starts), (std::vector<std::pair<int64_t, int64_t>>{{0, 10000}}));
}

TEST(RangesOfChunks, are_none_without_chunks) {
  EXPECT_TRUE(ranges_of_chunks({100, 100}, {64, 64}, {}).empty());
}

}  // namespace
}  // namespace copying
