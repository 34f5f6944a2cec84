// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/decomposition.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "model.hpp"

namespace windrow {
namespace {

using test::Blocks;
using test::element_map;
using test::ElementMap;
using test::for_each_element;
using test::model_of;
using test::Random;
using test::random_blocks;
using test::runs_of;
using testing::ElementsAre;
using testing::HasSubstr;

using Shape = std::vector<int64_t>;
constexpr int64_t k_max = std::numeric_limits<int64_t>::max();

std::string message_of(const Result<Decomposition>& made) {
  EXPECT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::bad_argument);
  return made.status().message();
}

TEST(Block, is_one_nest) {
  const Shape shape{40, 50, 60}, start{1, 2, 3}, count{4, 5, 6};
  const auto block = make_block(shape, {start, count, {}, {}});
  ASSERT_TRUE(block.ok()) << block.status().message();
  EXPECT_EQ(block.value().memory_elements, 120);
  const Pieces pieces = element_pieces(block.value());
  ASSERT_EQ(pieces.store()->records, 1);
  const std::vector<windrow::Run> runs = runs_of(pieces);
  EXPECT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0], (windrow::Run{1 * 3000 + 2 * 60 + 3, 0, 6, 60, 6, 5}));
  EXPECT_EQ(runs[3], (windrow::Run{4 * 3000 + 2 * 60 + 3, 90, 6, 60, 6, 5}));
}

// What a block costs depends on its dimensions, not on its rows.
TEST(Block, of_10_to_the_9_rows_costs_less_than_a_kilobyte) {
  const Shape shape{1200, 1200, 1200, 64}, start{1, 2, 3, 4}, count{1000, 1000, 1000, 32}, box{1002, 1002, 1002, 36},
      inside{1, 1, 1, 2};
  const Pieces pieces = element_pieces(make_block(shape, {start, count, box, inside}).value());
  EXPECT_EQ(extent_count(pieces), 1'000'000'000);
  EXPECT_EQ(total_bytes(pieces), 32'000'000'000);
  EXPECT_LT(pieces.memory_bytes(), 1000);
}

TEST(Block, dimensions_that_continue_each_other_are_one) {
  const Shape shape{40, 50, 60};
  const auto runs = [&](const Shape& start, const Shape& count) {
    return runs_of(element_pieces(make_block(shape, {start, count, {}, {}}).value()));
  };
  EXPECT_THAT(runs({0, 0, 0}, {40, 50, 60}), ElementsAre(windrow::Run{0, 0, 120000, 0, 0, 1}));
  EXPECT_THAT(runs({3, 0, 0}, {2, 50, 60}), ElementsAre(windrow::Run{9000, 0, 6000, 0, 0, 1}));
  EXPECT_THAT(runs({0, 0, 5}, {40, 50, 2}), ElementsAre(windrow::Run{5, 0, 2, 60, 2, 2000}));
  EXPECT_THAT(runs({0, 7, 5}, {40, 1, 1}), ElementsAre(windrow::Run{7 * 60 + 5, 0, 1, 3000, 1, 40}));
  EXPECT_THAT(runs({39, 49, 59}, {1, 1, 1}), ElementsAre(windrow::Run{119999, 0, 1, 0, 0, 1}));
}

TEST(Block, lies_in_its_memory_box) {
  const Shape shape{4, 6}, start{1, 2}, count{2, 3}, box{4, 5}, inside{1, 1};
  const auto block = make_block(shape, {start, count, box, inside});
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block.value().memory_elements, 20);
  EXPECT_THAT(runs_of(element_pieces(block.value())), ElementsAre(windrow::Run{8, 6, 3, 6, 5, 2}));
}

TEST(Blocks, agree_with_the_model_from_0_to_5_dimensions) {
  Random random(21);
  for (int round = 0; round < 6000; ++round) {
    Shape shape;
    for (int64_t d = random(0, 5); d > 0; --d)
      shape.push_back(random(0, 40) == 0 ? 0 : random(1, 6));
    const Blocks blocks = random_blocks(random, shape, random(0, 4));
    const auto made = make_blocks(shape, blocks.count, blocks.lists());
    ASSERT_TRUE(made.ok()) << made.status().message();
    const Pieces runs = element_pieces(made.value());
    ASSERT_EQ(element_map(runs), model_of(shape, blocks));
    ASSERT_LE(memory_end(runs), made.value().memory_elements);
    ASSERT_LE(hull(runs).end, made.value().elements);
  }
}

// Boxes given as offsets and strides are the same; then with dimensions in another order in memory, some reversed and
// with gaps.
TEST(Blocks, may_lie_at_any_distances_in_memory) {
  Random random(22);
  for (int round = 0; round < 4000; ++round) {
    Shape shape;
    for (int64_t d = random(0, 4); d > 0; --d)
      shape.push_back(random(1, 6));
    const Blocks blocks = random_blocks(random, shape, random(0, 4));
    const size_t n = shape.size();
    Shape offsets, strides;
    ElementMap expected;
    int64_t base = 0;
    for (size_t i = 0; i < static_cast<size_t>(blocks.count); ++i) {
      Shape order(n), stride(n);
      std::iota(order.begin(), order.end(), size_t{0});
      for (size_t d = n; d-- > 1;)
        std::swap(order[d], order[static_cast<size_t>(random(0, static_cast<int64_t>(d)))]);
      int64_t room = 1, first = base;
      for (const int64_t d : order) {
        const auto at = static_cast<size_t>(d);
        room *= random(1, 2);
        stride[at] = random(0, 2) == 0 ? -room : room;
        const int64_t count = std::max<int64_t>(1, blocks.counts[i * n + at]);
        if (stride[at] < 0)
          first += (count - 1) * room;
        room *= count;
      }
      base += room;
      offsets.push_back(first);
      strides.insert(strides.end(), stride.begin(), stride.end());
      for_each_element(shape, blocks, static_cast<int64_t>(i), [&](const Shape& index, int64_t file) {
        int64_t memory = first;
        for (size_t d = 0; d < n; ++d)
          memory += index[d] * stride[d];
        expected[file] = memory;
      });
    }
    const auto made = make_blocks(shape, blocks.count, {blocks.starts, blocks.counts, {}, {}, offsets, strides});
    ASSERT_TRUE(made.ok()) << made.status().message();
    const Pieces runs = element_pieces(made.value());
    ASSERT_EQ(element_map(runs), expected);
    ASSERT_EQ(made.value().memory_elements <= base, true);
    ASSERT_LE(memory_end(runs), made.value().memory_elements);
    for (const auto& duplicate : duplicates(made.value(), runs))
      ASSERT_LE(std::max(duplicate.from, duplicate.to) + duplicate.length, base);
  }
}

TEST(Block, with_strides_that_cannot_be_is_refused) {
  const Shape shape{4, 6}, start{0, 0}, count{2, 3};
  const auto refused = [&](const Shape& offsets, const Shape& strides) {
    return message_of(make_blocks(shape, 1, {start, count, {}, {}, offsets, strides}));
  };
  EXPECT_THAT(refused({0}, {0, 1}), HasSubstr("block 0 has stride 0 along dimension 0, which has 2 elements"));
  EXPECT_THAT(refused({1}, {3, -1}),
              HasSubstr("block 0 at 1 in memory with strides 3 x -1 reaches outside the memory"));
  EXPECT_THAT(refused({-1}, {3, 1}), HasSubstr("reaches outside the memory"));
  EXPECT_THAT(refused({0}, {k_max, k_max}), HasSubstr("reaches outside the memory"));
  EXPECT_THAT(refused({k_max}, {3, 1}), HasSubstr("reaches outside the memory"));
  EXPECT_THAT(refused({0}, {3}), HasSubstr("1 memory offset and 2 strides are needed"));
  EXPECT_THAT(refused({0, 0}, {3, 1}), HasSubstr("1 memory offset and"));
  const Shape one{1, 1};
  EXPECT_TRUE(make_blocks(shape, 1, {start, one, {}, {}, Shape{7}, Shape{0, 0}}).ok())
      << "of one element strides do not matter";
}

// The cost does not depend on the number of elements, none of which are adjacent.
TEST(Block, in_the_order_of_fortran_is_one_nest) {
  const Shape shape{1000, 1000, 1000}, start{0, 0, 0};
  const Pieces pieces =
      element_pieces(make_blocks(shape, 1, {start, shape, {}, {}, Shape{0}, Shape{1, 1000, 1'000'000}}).value());
  EXPECT_EQ(extent_count(pieces), 1'000'000'000);
  EXPECT_EQ(pieces.store()->records, 1);
  EXPECT_LT(pieces.memory_bytes(), 1000);
  EXPECT_EQ(memory_end(pieces), 1'000'000'000);
}

TEST(Blocks, of_a_mesh_refined_by_blocks_are_few_runs) {
  // FLASH: 80 consecutive blocks of 16 x 16 x 16 cells, with 4 guard cells at each side in memory.
  const Shape shape{8 * 80, 16, 16, 16};
  Blocks blocks{80, {}, {}, {}, {}};
  for (int64_t i = 0; i < 80; ++i) {
    blocks.starts.insert(blocks.starts.end(), {160 + i, 0, 0, 0});
    blocks.counts.insert(blocks.counts.end(), {1, 16, 16, 16});
    blocks.memory_shapes.insert(blocks.memory_shapes.end(), {1, 24, 24, 24});
    blocks.memory_starts.insert(blocks.memory_starts.end(), {0, 4, 4, 4});
  }
  const auto made = make_blocks(shape, blocks.count, blocks.lists());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().memory_elements, 80 * 24 * 24 * 24);
  const Pieces runs = element_pieces(made.value());
  EXPECT_EQ(total_bytes(runs), 80 * 4096);
  EXPECT_EQ(runs.store()->records, 80);
  EXPECT_EQ(hull(runs), (Extent{160 * 4096, 240 * 4096}));
}

TEST(Block, may_be_empty) {
  const Shape shape{4, 6}, start{99, -3}, count{0, 3};
  const auto block = make_block(shape, {start, count, {}, {}});
  ASSERT_TRUE(block.ok()) << "where an empty block starts does not matter";
  EXPECT_TRUE(element_pieces(block.value()).empty());
  EXPECT_EQ(block.value().memory_elements, 0);
  const Shape none{4, 0, 6}, at{0, 0, 0};
  EXPECT_TRUE(element_pieces(make_block(none, {at, none, {}, {}}).value()).empty());
  EXPECT_TRUE(element_pieces(make_blocks(shape, 0, {}).value()).empty());
  const Shape scalar;
  EXPECT_EQ(total_bytes(element_pieces(make_block(scalar, {}).value())), 1);
}

TEST(Block, errors_name_dimension_and_values) {
  const auto error = [](const Shape& shape, const Shape& start, const Shape& count, const Shape& box = {},
                        const Shape& inside = {}) {
    return message_of(make_block(shape, {start, count, box, inside}));
  };
  EXPECT_EQ(error({5, 10}, {0, 8}, {5, 4}), "block of dimension 1 ends at 12 but the shape is 10");
  EXPECT_EQ(error({5, 10}, {-1, 8}, {5, 1}), "block of dimension 0 starts at -1");
  EXPECT_EQ(error({5, 10}, {0, 8}, {5, -4}), "block of dimension 1 has count -4");
  EXPECT_EQ(error({5, -10}, {0, 8}, {5, 4}), "dimension 1 of the shape is -10");
  EXPECT_EQ(error({5, 10}, {0, 5}, {5, 4}, {5, 4}, {0, 1}),
            "block of dimension 1 ends at 5 in memory but the memory box is 4");
  EXPECT_EQ(error({5, 10}, {0, 5}, {5, 4}, {5, 4}, {-2, 0}), "block of dimension 0 starts at -2 in memory");
  EXPECT_EQ(error({5, 10}, {0, 5}, {5, 4}, {5, -4}), "memory box of block of dimension 1 has size -4");
  EXPECT_THAT(error({5, 10}, {0, k_max}, {5, 4}), HasSubstr("too large"));
  EXPECT_THAT(error({k_max, 2}, {0, 0}, {1, 1}), HasSubstr("more than 2^63 - 1 elements"));
  EXPECT_THAT(error({5, 10}, {0, 0}, {1, 1}, {k_max, k_max}), HasSubstr("is too large"));
  EXPECT_THAT(error(Shape(33, 1), Shape(33, 0), Shape(33, 1)), HasSubstr("33 dimensions; the maximum is 32"));
  EXPECT_THAT(error({5, 10}, {0}, {1, 1}), HasSubstr("2 starts and counts are needed"));
  const Shape shape{5, 10}, starts{0, 0, 1, 1, 0, 8}, counts{1, 1, 1, 1, 5, 4};
  EXPECT_EQ(message_of(make_blocks(shape, 3, {starts, counts, {}, {}})),
            "block 2 of dimension 1 ends at 12 but the shape is 10");
  EXPECT_THAT(message_of(make_blocks(shape, -1, {})), HasSubstr("-1"));
  EXPECT_THAT(message_of(make_blocks(shape, k_max, {})), HasSubstr("too many"));
}

TEST(Blocks, two_huge_memory_boxes_overflow) {
  const Shape shape{4}, starts{0, 0}, counts{1, 1}, boxes{k_max, k_max};
  EXPECT_THAT(message_of(make_blocks(shape, 2, {starts, counts, boxes, {}})), HasSubstr("block 1 is too large"));
}

TEST(Rows, are_a_block_of_one_dimension) {
  const auto rows = make_rows(5'000'000'000, 4'000'000'000, 1'000'000'000);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(runs_of(element_pieces(rows.value())),
              ElementsAre(windrow::Run{4'000'000'000, 0, 1'000'000'000, 0, 0, 1}));
  EXPECT_THAT(message_of(make_rows(10, 8, 3)), HasSubstr("3 rows from row 8 exceed the total of 10 rows"));
  EXPECT_THAT(message_of(make_rows(10, -1, 3)), HasSubstr("row -1"));
  EXPECT_THAT(message_of(make_rows(10, 1, -3)), HasSubstr("-3"));
  EXPECT_THAT(message_of(make_rows(-10, 0, 0)), HasSubstr("-10"));
  EXPECT_THAT(message_of(make_rows(10, k_max, 3)), HasSubstr("exceed"));
  EXPECT_TRUE(make_rows(0, 0, 0).ok());
}

TEST(Points, are_sorted_and_the_later_of_two_wins) {
  const Shape list{7, 3, 4, 3, 9};
  const std::vector<unsigned char> owned{1, 0, 1, 1, 0};
  const auto points = make_points(10, list, owned);
  ASSERT_TRUE(points.ok());
  EXPECT_EQ(points.value().memory_elements, 5);
  EXPECT_EQ(element_map(element_pieces(points.value())), (ElementMap{{3, 3}, {4, 2}, {7, 0}, {9, 4}}));
  EXPECT_EQ(element_map(points.value().flagged).size(), 3u);
  EXPECT_THAT(runs_of(points.value().flagged),
              ElementsAre(windrow::Run{3, 0, 2, 0, 0, 1}, windrow::Run{7, 2, 1, 0, 0, 1}));
  EXPECT_THAT(duplicates(points.value(), points.value().listed), ElementsAre(LocalDuplicate{3, 1, 1}));
  EXPECT_THAT(message_of(make_points(10, Shape{0, 10}, {})),
              HasSubstr("entry 1 of the points is 10; the points are 0 to 9"));
  EXPECT_THAT(message_of(make_points(10, Shape{-1}, {})), HasSubstr("entry 0 of the points is -1"));
  EXPECT_THAT(message_of(make_points(-1, {}, {})), HasSubstr("-1"));
  EXPECT_THAT(message_of(make_points(10, list, std::vector<unsigned char>{1})),
              HasSubstr("5 points come with 1 owner flag"));
  EXPECT_TRUE(element_pieces(make_points(0, {}, {}).value()).empty());
}

TEST(Points, agree_with_the_model) {
  Random random(22);
  for (int round = 0; round < 3000; ++round) {
    const int64_t points = random(1, 50);
    Shape list(static_cast<size_t>(random(0, 40)));
    ElementMap expected;
    for (size_t i = 0; i < list.size(); ++i) {
      list[i] = random(0, points - 1);
      expected[list[i]] = static_cast<int64_t>(i);
    }
    const int64_t scale = random(0, 3) == 0 ? k_max / 60 : 1;  // too large to be sorted together with their places
    for (int64_t& point : list)
      point *= scale;
    const Decomposition made = make_points(points * scale, list, {}).value();
    ElementMap scaled;
    for (const auto& [point, place] : expected)
      scaled[point * scale] = place;
    ASSERT_EQ(element_map(element_pieces(made)), scaled);
    std::map<int64_t, int64_t> copies;
    for (const LocalDuplicate& duplicate : duplicates(made, made.listed)) {
      ASSERT_EQ(list[static_cast<size_t>(duplicate.from)], list[static_cast<size_t>(duplicate.to)]);
      ASSERT_EQ(scaled[list[static_cast<size_t>(duplicate.to)]], duplicate.from);
      copies[duplicate.to] = duplicate.from;
    }
    ASSERT_EQ(copies.size() + scaled.size(), list.size());
  }
}

TEST(Same, is_all_or_a_part) {
  const Shape shape{4, 6}, start{1, 2}, count{1, 2};
  EXPECT_EQ(total_bytes(element_pieces(make_same(shape, {}, {}).value())), 24);
  EXPECT_THAT(runs_of(element_pieces(make_same(shape, start, count).value())),
              ElementsAre(windrow::Run{8, 0, 2, 0, 0, 1}));
}

TEST(Load, is_the_trailing_elements) {
  const Shape shape{4, 6}, start{0, 0};
  const Decomposition block = make_block(shape, {start, shape, {}, {}}).value();
  EXPECT_EQ(load(block, Shape{4, 6}).value(), 1);
  EXPECT_EQ(load(block, Shape{4, 6, 10, 2}).value(), 20);
  EXPECT_EQ(load(block, Shape{4, 6, 0}).value(), 0);
  EXPECT_EQ(load(block, Shape{4}).status().message(), "a variable of 1 dimension does not fit a decomposition of 2");
  EXPECT_EQ(load(block, Shape{4, 7, 2}).status().message(),
            "a variable of shape 4 x 7 x 2 does not fit a decomposition of shape 4 x 6: dimension 1 is 7, not 6");
  EXPECT_EQ(load(block, Shape{4, 6, k_max}).status().code(), Code::bad_argument);

  const Decomposition points = make_points(24, {}, {}).value();
  EXPECT_EQ(load(points, Shape{24}).value(), 1);
  EXPECT_EQ(load(points, Shape{24, 3}).value(), 3);
  EXPECT_EQ(load(points, Shape{4, 6, 5}).value(), 5);
  EXPECT_EQ(load(points, Shape{24, 1, 5}).value(), 5);
  EXPECT_THAT(load(points, Shape{5, 5}).status().message(), HasSubstr("24 points"));
  EXPECT_FALSE(load(points, Shape{}).ok());
  EXPECT_EQ(load(make_points(1, {}, {}).value(), Shape{}).value(), 1);
  EXPECT_EQ(load(make_rows(0, 0, 0).value(), Shape{0, 7}).value(), 7);
}

TEST(ToBytes, scales_everything) {
  const Shape shape{50'000, 100'000}, start{10, 20}, count{20'000, 30'000}, box{20'002, 30'002},
      inside{1, 1};  // 5e9 elements
  const Pieces elements = element_pieces(make_block(shape, {start, count, box, inside}).value());
  const Result<PieceView> bytes = to_bytes(elements, 8);
  ASSERT_TRUE(bytes.ok());
  EXPECT_THAT(runs_of(bytes.value()),
              ElementsAre(windrow::Run{8 * 1'000'020, 8 * 30'003, 240'000, 800'000, 240'016, 20'000}));
  EXPECT_TRUE(to_bytes(elements, 0).value().empty());
  EXPECT_EQ(to_bytes(elements, k_max / 1000).status().code(), Code::bad_argument);
}

}  // namespace
}  // namespace windrow
