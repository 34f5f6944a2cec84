// SPDX-License-Identifier: BSD-3-Clause
// Loops of any order, sign and stride, against a model that walks over single pieces.
#include "extent/loops.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "model.hpp"

namespace windrow {
namespace {

using Bytes = std::vector<std::pair<int64_t, int64_t>>;  // of the file and of memory

void put_bytes(const Piece& piece, Bytes& bytes) {
  for (int64_t i = 0; i < piece.length; ++i)
    bytes.emplace_back(piece.file + i, piece.memory + i);
}

void walk(const FreeNest& nest, size_t level, Piece at, Bytes& bytes) {
  if (level == nest.loops.size())
    return put_bytes(at, bytes);
  const Loop& loop = nest.loops[level];
  for (int64_t i = 0; i < loop.count; ++i)
    walk(nest, level + 1, {at.file + i * loop.file_stride, at.memory + i * loop.memory_stride, at.length}, bytes);
}

std::vector<Nest> sorted(const FreeNest& nest) {
  std::vector<Nest> nests;
  for_each_sorted_nest(nest, [&](const Nest& one) { nests.push_back(one); });
  return nests;
}

// The nests have the same bytes as often as the loops have them, and each nest is valid alone.
void expect_as_the_model(const FreeNest& nest) {
  Bytes expected, given;
  walk(nest, 0, nest.first, expected);
  for (Nest one : sorted(nest)) {
    for_each_run(one,
                 [&](const Run& run) { for_each_piece_of(run, [&](const Piece& piece) { put_bytes(piece, given); }); });
    one.run.file -= file_hull(nest)->begin;
    one.run.memory -= memory_hull(nest)->begin;
    EXPECT_STREQ(test::broken_invariant(test::pieces_of(std::vector<Nest>{one})), "");
  }
  std::sort(expected.begin(), expected.end());
  std::sort(given.begin(), given.end());
  EXPECT_EQ(given, expected);
  if (expected.empty())
    return;
  EXPECT_EQ(*file_hull(nest), (Extent{expected.front().first, expected.back().first + 1}));
  const auto by_memory = [](const auto& one, const auto& other) { return one.second < other.second; };
  const auto [low, high] = std::minmax_element(expected.begin(), expected.end(), by_memory);
  EXPECT_EQ(*memory_hull(nest), (Extent{low->second, high->second + 1}));
}

TEST(Loops, of_any_kind_give_the_same_bytes) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random random(seed);
    FreeNest nest{{random(0, 50), random(-50, 50), random(0, 20) == 0 ? 0 : random(1, 4)}, {}};
    for (int64_t loops = random(0, 5); loops > 0; --loops)
      nest.loops.push_back({random(0, 15) == 0 ? 0 : random(1, 4), random(-30, 30), random(-30, 30)});
    expect_as_the_model(nest);
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(Loops, that_do_not_overlap_are_one_nest) {
  // A block of 4 x 5 x 6 elements of 8 bytes in a file of 10 x 20 x 30, in each order of its loops, reversed or not.
  std::vector<Loop> loops{{4, 20 * 30 * 8, 5 * 6 * 8}, {5, 30 * 8, 6 * 8}, {6, 8, 8}};
  std::vector<int> order{0, 1, 2};
  do {
    for (int reversed = 0; reversed < 8; ++reversed) {
      FreeNest nest{{50'000, 0, 8}, {}};
      for (const int i : order) {
        const int64_t sign = (reversed >> i & 1) == 0 ? 1 : -1;
        const Loop& loop = loops[static_cast<size_t>(i)];
        nest.loops.push_back({loop.count, sign * loop.file_stride, loop.memory_stride});
      }
      expect_as_the_model(nest);
      ASSERT_EQ(sorted(nest).size(), 1u);
      EXPECT_EQ(sorted(nest).front().run.length, (reversed & 4) == 0 ? 48 : 8);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Loops, that_overlap_are_expanded_as_little_as_possible) {
  // The second loop begins within the span of the first. Of both, that with fewer steps is expanded.
  expect_as_the_model({{0, 0, 2}, {{100, 10, 2}, {3, 5, 1000}}});
  EXPECT_EQ(sorted({{0, 0, 2}, {{100, 10, 2}, {3, 5, 1000}}}).size(), 3u);
  EXPECT_EQ(sorted({{0, 0, 2}, {{3, 10, 2}, {100, 15, 1000}}}).size(), 3u);
  // Without the middle loop, the two others fit.
  EXPECT_EQ(sorted({{0, 0, 1}, {{10, 1, 3}, {2, 5, 100}, {1000, 10, 500}}}).size(), 2u);
  // The same bytes of the file again, from elsewhere.
  EXPECT_EQ(sorted({{0, 0, 1}, {{7, 0, 3}, {1'000'000, 5, 100}}}).size(), 7u);
}

TEST(Loops, beyond_the_depth_of_a_nest_are_expanded) {
  FreeNest nest{{0, 0, 1}, {}};
  for (int i = 0; i < k_max_loops + 3; ++i)
    nest.loops.push_back({2, int64_t{2} << i, int64_t{3} << i});
  const std::vector<Nest> nests = sorted(nest);
  ASSERT_EQ(nests.size(), 1u) << "loops that continue the previous one are merged with it";
  EXPECT_EQ(nests.front().depth, 0);
  for (size_t i = 1; i < nest.loops.size(); i += 2)
    nest.loops[i].memory_stride *= 5;
  EXPECT_EQ(sorted(nest).size(), 4u);
}

TEST(Loops, beyond_64_bits_have_no_hull) {
  constexpr int64_t k_half = int64_t{1} << 62;
  EXPECT_FALSE(file_hull({{0, 0, 1}, {{3, k_half, 0}}}));
  EXPECT_TRUE(memory_hull({{0, 0, 1}, {{3, k_half, 0}}}));
  EXPECT_FALSE(memory_hull({{0, -k_half, 1}, {{2, 0, k_half}, {2, 0, -k_half}, {2, 0, k_half}}}));
  EXPECT_FALSE(file_hull({{INT64_MAX, 0, 1}, {}}));
  EXPECT_EQ(*file_hull({{5, 0, 1}, {{0, 1, 1}}}), Extent{});
}

}  // namespace
}  // namespace windrow
