// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "extent/split.hpp"
#include "kerchunk/kerchunk.hpp"

namespace windrow {
namespace {

using Bounds = std::vector<std::vector<int64_t>>;

// Each chunk of the grid is in one part, in one piece of it.
void expect_pieces_of_parts(const Bounds& bounds) {
  const Split split = Split::make(bounds).value();
  const std::vector<int64_t> shape(split.shape().begin(), split.shape().end()), chunk = regular_chunk(bounds, 1);
  ASSERT_EQ(chunk.size(), shape.size());
  for (int64_t part = 0; part < split.parts(); ++part) {
    const Box box = split.box(part);
    bool may_be_longer = true;
    for (size_t i = 0; i < shape.size(); ++i) {
      ASSERT_GE(chunk[i], 1);
      EXPECT_EQ(box.start[i] % chunk[i], 0);
      EXPECT_EQ(box.count[i] % chunk[i], 0);
      // After the first dimension along which a chunk is longer than 1, it has the whole part.
      EXPECT_TRUE(may_be_longer || chunk[i] == box.count[i]) << "dimension " << i;
      if (chunk[i] > 1)
        may_be_longer = false;
    }
  }
}

TEST(RegularChunk, lies_in_one_piece_of_one_part) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    Bounds bounds(1 + random() % 3);
    for (auto& ranges : bounds) {
      const int64_t unit = 1 + static_cast<int64_t>(random() % 3);
      ranges = {0};
      for (size_t i = 0; i < 1 + random() % 3; ++i)
        ranges.push_back(ranges.back() + unit * (1 + static_cast<int64_t>(random() % 4)));
    }
    expect_pieces_of_parts(bounds);
  }
}

TEST(RegularChunk, is_what_all_ends_have_in_common) {
  EXPECT_EQ(regular_chunk(Bounds{{0, 8, 16, 24}, {0, 5}}, 8), (std::vector<int64_t>{8, 5}));
  EXPECT_EQ(regular_chunk(Bounds{{0, 20, 24}, {0, 5}}, 8), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(regular_chunk(Bounds{{0, 9, 17, 24}, {0, 5}}, 8), (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(regular_chunk(Bounds{{0, 12, 24}, {0, 4, 5}}, 8), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(regular_chunk(Bounds{{0, 12, 24}, {0, 4, 8}}, 8), (std::vector<int64_t>{12, 4}));
  EXPECT_EQ(regular_chunk(Bounds{{0, 12, 24}, {0, 4, 10}}, 8), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(regular_chunk(Bounds{}, 8), std::vector<int64_t>{});
  EXPECT_EQ(regular_chunk(Bounds{{0, 0}, {0, 7}}, 8), (std::vector<int64_t>{1, 7}));
}

TEST(RegularChunk, is_cut_where_it_is_large) {
  EXPECT_EQ(regular_chunk(Bounds{{0, 1024}, {0, 1 << 20}}, 8), (std::vector<int64_t>{8, 1 << 20}));
  EXPECT_EQ(regular_chunk(Bounds{{0, 2}, {0, 1 << 24}}, 8), (std::vector<int64_t>{1, 1 << 23}));
  const int64_t prime = 1'000'000'007;
  EXPECT_EQ(regular_chunk(Bounds{{0, prime}}, 8), std::vector<int64_t>{prime})
      << "or it would have a reference for each element";
}

TEST(CountOfChunks, has_an_end) {
  const auto count = [](std::vector<int64_t> shape, std::vector<int64_t> chunk) {
    return count_of_chunks(shape, chunk);
  };
  EXPECT_EQ(count({}, {}), 1);
  EXPECT_EQ(count({7, 0}, {1, 1}), 0);
  EXPECT_EQ(count({7, 5}, {2, 5}), 4);
  EXPECT_EQ(count({k_most_references}, {1}), k_most_references);
  EXPECT_EQ(count({k_most_references + 1}, {1}), std::nullopt);
  EXPECT_EQ(count({INT64_MAX, INT64_MAX}, {1, 1}), std::nullopt);
}

}  // namespace
}  // namespace windrow
