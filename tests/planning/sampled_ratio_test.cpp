// SPDX-License-Identifier: BSD-3-Clause
// A few KiB of the data to write determine its compression ratio, for any places of its pieces in memory and in the
// file.
#include "planning/sampled_ratio.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "codec/compressor.hpp"

namespace windrow {
namespace {

// `count` pieces of `length` bytes, `stride` apart in the file, consecutive in memory.
Pieces pieces_of(int64_t count, int64_t length, int64_t stride) {
  PiecesBuilder builder;
  for (int64_t i = 0; i < count; ++i)
    builder.add(Piece{.file = i * stride, .memory = i * length, .length = length});
  return builder.take();
}

int64_t of_64(std::vector<std::byte>& memory, int64_t length, int64_t stride, int element_bytes) {
  const Pieces pieces = pieces_of(static_cast<int64_t>(memory.size()) / length, length, stride);
  const std::vector<Item> items{make_item(pieces, 1000, memory.data(), 1, element_bytes)};
  return sampled_ratio_of(items).of_64();
}

TEST(Shrinkage, is_known_from_a_few_places) {
  if (compressors().empty())
    GTEST_SKIP() << "no compressor is built in";
  std::mt19937 random(7);
  for (const int64_t size : {int64_t{512}, int64_t{100'000}, int64_t{4'000'000}})
    for (const int64_t length : {int64_t{8}, int64_t{512}}) {
      std::vector<std::byte> zeros(static_cast<size_t>(size / 512 * 512)), noise(zeros.size());
      for (std::byte& each : noise)
        each = static_cast<std::byte>(random());
      EXPECT_LE(of_64(zeros, length, 3 * length, 8), size > 1000 ? 1 : 4) << size << " " << length;
      EXPECT_EQ(of_64(noise, length, 3 * length, 8), 64) << size << " " << length;
      // Small numbers in large elements: shuffled, most of it is zeros.
      std::vector<std::byte> small(zeros.size());
      for (size_t i = 0; i < small.size(); i += 8)
        small[i] = static_cast<std::byte>(random());
      const int64_t left = of_64(small, length, 3 * length, 8);
      EXPECT_GE(left, 8);
      EXPECT_LE(left, 16);
    }
}

TEST(Shrinkage, of_nothing_is_unknown) {
  EXPECT_EQ(sampled_ratio_of({}).of_64(), 0);
  const std::vector<Item> items(3);
  EXPECT_EQ(sampled_ratio_of(items).of_64(), 0);
}

// Two pieces as far apart as a sparse array lets them be, and very many with the last one far away.
TEST(Shrinkage, of_sparse_items_is_seen_too) {
  if (compressors().empty())
    GTEST_SKIP() << "no compressor is built in";
  std::vector<std::byte> memory(std::size_t{1} << 20);
  std::vector<Item> items;
  PiecesBuilder builder;
  for (const int64_t at : {int64_t{0}, int64_t{1} << 57})
    builder.add(Piece{.file = at, .memory = at > 0 ? 4096 : 0, .length = 4096});
  const Pieces two = builder.take();
  for (int64_t i = 0; i < 100'000; ++i)
    builder.add(Piece{.file = i * 16, .memory = i * 8, .length = 8});
  builder.add(Piece{.file = int64_t{1} << 57, .memory = 800'000, .length = 8});
  const Pieces many = builder.take();
  for (const Pieces& pieces : {two, many}) {
    items.assign(1, make_item(pieces, 0, memory.data(), 1, 8));
    EXPECT_GE(sampled_ratio_of(items).of_64(), 1);
    EXPECT_LE(sampled_ratio_of(items).of_64(), 16);
  }
}

// A large field of noise is not hidden by a small one of zeros, on one rank or on several.
TEST(Shrinkage, counts_bytes) {
  if (compressors().empty())
    GTEST_SKIP() << "no compressor is built in";
  std::mt19937 random(3);
  std::vector<std::byte> noise(1'000'000), zeros(100'000);
  for (std::byte& each : noise)
    each = static_cast<std::byte>(random());
  const Pieces all_noise = pieces_of(1, 1'000'000, 1), all_zeros = pieces_of(1, 100'000, 1);
  const std::vector<Item> loud{make_item(all_noise, 0, noise.data(), 1, 4)},
      quiet{make_item(all_zeros, 1'000'000, zeros.data(), 1, 4)}, both{loud[0], quiet[0]};
  EXPECT_EQ(sampled_ratio_of(both).of_64(), 64);
  const SampledRatio a = sampled_ratio_of(loud), b = sampled_ratio_of(quiet);
  EXPECT_EQ((SampledRatio{.bytes = a.bytes + b.bytes, .left = a.left + b.left}).of_64(), 64);
  EXPECT_LE(b.of_64(), 1);
}

// A twentieth more or less from one time step to the next is mostly the same to a plan.
TEST(Shrinkage, is_told_in_halves) {
  const auto of = [](int64_t left) { return SampledRatio{.bytes = 1000, .left = left}.of_64(); };
  EXPECT_EQ(of(1000), 64);
  EXPECT_EQ(of(900), 64);
  EXPECT_EQ(of(550), 32);
  EXPECT_EQ(of(450), 32);
  EXPECT_EQ(of(30), 2);
  EXPECT_EQ(of(1), 1);
  EXPECT_EQ(of(0), 1);
}

}  // namespace
}  // namespace windrow
