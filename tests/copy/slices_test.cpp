// SPDX-License-Identifier: BSD-3-Clause
#include "copy/slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace copying {
namespace {

// Every element of every item is in exactly one share of one batch, and each rank's shares fit its buffer, or are one
// element.
void expect_covered_once(const std::vector<Item>& items, int ranks, int64_t given) {
  int64_t buffer = given;
  std::vector<std::vector<int>> seen;
  for (const Item& item : items)
    seen.emplace_back(static_cast<size_t>(elements_to_move(item)), 0);
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
      const Boxes boxes = boxes_of_range({0, shape}, first, count);
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
  EXPECT_EQ(boxes_of_range({0, {10, 20, 30}}, 2 * 600, 3 * 600).number, 1);
}

// The elements of boxes, in order, as numbers in C order.
std::vector<int64_t> elements_of(const std::vector<int64_t>& shape, const Boxes& boxes) {
  std::vector<int64_t> elements;
  const size_t ndims = shape.size();
  for (size_t box = 0; box < static_cast<size_t>(boxes.number); ++box) {
    const std::span<const int64_t> start = std::span(boxes.starts).subspan(box * ndims, ndims),
                                   count = std::span(boxes.counts).subspan(box * ndims, ndims);
    for (int64_t i = 0; i < element_count({count.begin(), count.end()}); ++i) {
      int64_t element = 0, rest = i, stride = 1;
      for (size_t d = ndims; d-- > 0; stride *= shape[d], rest /= count[d])
        element += (start[d] + rest % count[d]) * stride;
      elements.push_back(element);
    }
  }
  return elements;
}

TEST(BoxesOfRange, have_the_elements_of_a_partial_item) {
  Item item{0, {6, 7}, 8};
  const Boxes all{{0, 0, 1, 4, 5, 0}, {1, 2, 3, 3, 1, 7}, 3};
  move_only(item, all);
  const std::vector<int64_t> expected = elements_of(item.shape, all);
  ASSERT_EQ(elements_to_move(item), std::ssize(expected));
  for (int64_t first = 0; first < std::ssize(expected); ++first)
    for (int64_t end = first; end <= std::ssize(expected); ++end)
      EXPECT_EQ(elements_of(item.shape, boxes_of_range(item, first, end - first)),
                std::vector<int64_t>(expected.begin() + first, expected.begin() + end));
  EXPECT_EQ(boxes_of_range(item, 0, elements_to_move(item)).number, 3);
}

TEST(Slicer, moves_only_the_boxes_of_a_partial_item) {
  std::vector<Item> items{{0, {40, 40}, 8}, {1, {30}, 4}, {2, {50, 60}, 2}};
  move_only(items[0], {{0, 0, 1, 4, 30, 0}, {1, 2, 30, 30, 1, 7}, 3});
  move_only(items[2], {});
  for (int ranks : {1, 2, 3, 8})
    for (int64_t buffer : {16, 64, 1000, 1 << 20})
      expect_covered_once(items, ranks, buffer);
}

TEST(Slicer, cuts_between_boxes_and_then_at_their_rows) {
  std::vector<Item> items{{0, {100, 100}, 8}};
  move_only(items[0], {{0, 0, 50, 50}, {10, 10, 40, 20}, 2});
  Slicer slicer(items, 1, 8 * 150);
  std::vector<std::vector<int64_t>> counts;
  for (Batch batch = slicer.next(); !batch.empty(); batch = slicer.next())
    for (const Piece& piece : batch)
      counts.emplace_back().push_back(piece.count);
  EXPECT_EQ(counts, (std::vector<std::vector<int64_t>>{{100}, {140}, {140}, {140}, {140}, {140}, {100}}));
}

TEST(Slicer, limits_the_boxes_of_a_batch) {
  constexpr int64_t k_boxes = 100'000;
  std::vector<Item> items{{0, {k_boxes, 2}, 1}};
  Boxes boxes{{}, {}, k_boxes};
  for (int64_t box = 0; box < k_boxes; ++box) {
    boxes.starts.insert(boxes.starts.end(), {box, box % 2});
    boxes.counts.insert(boxes.counts.end(), {1, 1});
  }
  move_only(items[0], std::move(boxes));
  Slicer slicer(items, 1, 1 << 30);
  int64_t moved = 0;
  for (Batch batch = slicer.next(); !batch.empty(); batch = slicer.next()) {
    ASSERT_EQ(batch.size(), 1U);
    EXPECT_LE(batch.front().count, 32768);
    moved += batch.front().count;
  }
  EXPECT_EQ(moved, k_boxes);
}

}  // namespace
}  // namespace copying
