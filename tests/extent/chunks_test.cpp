// SPDX-License-Identifier: BSD-3-Clause
// Places in the chunks' line, against a model that walks over single elements.
#include "extent/chunks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace windrow {
namespace {

ChunkGrid grid_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& chunk) {
  auto grid = ChunkGrid::make(shape, chunk);
  EXPECT_TRUE(grid.ok()) << grid.status().message();
  return std::move(grid).value();
}

int64_t model_place(const std::vector<int64_t>& shape, const std::vector<int64_t>& chunk, int64_t element) {
  int64_t number = 0, within = 0, grid_stride = 1, chunk_stride = 1, elements = 1;
  for (const int64_t extent : chunk)
    elements *= extent;
  for (size_t i = shape.size(); i-- > 0; element /= shape[i]) {
    const int64_t index = element % shape[i];
    number += index / chunk[i] * grid_stride;
    within += index % chunk[i] * chunk_stride;
    grid_stride *= (shape[i] + chunk[i] - 1) / chunk[i];
    chunk_stride *= chunk[i];
  }
  return number * elements + within;
}

TEST(ChunkGrid, places_each_element_where_the_model_does) {
  std::mt19937 random(7);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> shape, chunk;
    int64_t all = 1;
    for (int64_t i = 0, dimensions = 1 + below(4); i < dimensions; ++i) {
      shape.push_back(1 + below(9));
      chunk.push_back(1 + below(shape.back() + 2));
      all *= shape.back();
    }
    const ChunkGrid grid = grid_of(shape, chunk);
    // Pieces of any length, and some elements omitted; memory in reverse order.
    PiecesBuilder builder;
    std::map<int64_t, int64_t> expected;
    for (int64_t element = 0; element < all;) {
      const int64_t length = std::min(all - element, 1 + below(12)), memory = 10 * all - 2 * element;
      if (below(4) > 0) {
        builder.add(Piece{element, memory, length});
        for (int64_t i = 0; i < length; ++i)
          expected[model_place(shape, chunk, element + i)] = memory + i;
      }
      element += length;
    }
    std::map<int64_t, int64_t> found;
    int64_t before = -1;
    const Pieces placed = grid.place(builder.take());
    for_each_piece(placed, [&](const Piece& piece) {
      EXPECT_GT(piece.file, before);
      before = piece.file + piece.length - 1;
      for (int64_t i = 0; i < piece.length; ++i)
        found[piece.file + i] = piece.memory + i;
    });
    EXPECT_EQ(found, expected);
  }
}

TEST(ChunkGrid, knows_what_of_a_chunk_lies_inside) {
  const std::vector<int64_t> shape{7, 5, 4}, chunk{3, 2, 4};
  const ChunkGrid grid = grid_of(shape, chunk);
  EXPECT_EQ(grid.count(), 9);
  EXPECT_EQ(grid.elements(), 24);
  int64_t all = 0;
  for (int64_t number = 0; number < grid.count(); ++number)
    all += grid.elements_inside(number);
  EXPECT_EQ(all, 140);
  EXPECT_EQ(grid.first_element(8), (std::vector<int64_t>{6, 4, 0}));
  EXPECT_EQ(grid.elements_inside(8), 4);
}

TEST(ChunkGrid, a_block_costs_a_run_a_plane_of_a_chunk) {
  const std::vector<int64_t> shape{64, 64, 64}, chunk{32, 32, 32};
  const ChunkGrid grid = grid_of(shape, chunk);
  PiecesBuilder builder;
  builder.add(Piece{0, 0, 64 * 64 * 64});
  const Pieces placed = grid.place(builder.take());
  EXPECT_EQ(total_bytes(placed), 64 * 64 * 64);
  EXPECT_LE(placed.store()->records, 8 * 32 + 8);
}

TEST(ChunkGrid, refuses_what_cannot_be) {
  const auto refused = [](std::vector<int64_t> shape, std::vector<int64_t> chunk) {
    return ChunkGrid::make(shape, chunk).status().code() == Code::bad_argument;
  };
  EXPECT_TRUE(refused({}, {}));
  EXPECT_TRUE(refused({3, 3}, {3}));
  EXPECT_TRUE(refused({3}, {0}));
  EXPECT_TRUE(refused({-1}, {1}));
  EXPECT_TRUE(refused({int64_t{1} << 40, int64_t{1} << 40}, {1, 1}));
  EXPECT_EQ(grid_of({0, 5}, {2, 2}).count(), 0);
}

}  // namespace
}  // namespace windrow
