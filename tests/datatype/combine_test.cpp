// SPDX-License-Identifier: BSD-3-Clause
// Memory types to views: byte for byte against the typemaps, and the number of nests of regular types.
#include "datatype/combine.hpp"

#include <gtest/gtest.h>

#include "../extent/model.hpp"
#include "bytes.hpp"
#include "datatype/constructors.hpp"

namespace windrow {
namespace {

using test::nest_count;
using test::Pair;
using test::pairs_of;
using test::places_of;

TypeMap basic(int64_t size) {
  return {contiguous_bytes(size), 0, size};
}

TypeMap with_extent(const Result<TypeData>& data, int64_t extent) {
  EXPECT_TRUE(data.ok()) << data.status().message();
  return {data.value(), 0, extent};
}

TypeMap subarray(const std::vector<int64_t>& sizes, const std::vector<int64_t>& counts,
                 const std::vector<int64_t>& starts, int64_t element = 8) {
  std::vector<ArrayDimension> dimensions;
  int64_t extent = element;
  for (size_t i = 0; i < sizes.size(); ++i) {
    dimensions.push_back({sizes[i], starts[i], counts[i], sizes[i], starts[i] + counts[i]});
    extent *= sizes[i];
  }
  return with_extent(array_type(basic(element), dimensions), extent);
}

std::vector<Pair> expected(const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count) {
  const std::vector<int64_t> inside = places_of(memory, count);
  const int64_t begin = offset * view.etype_size, size = std::max<int64_t>(1, view.filetype.size());
  const auto end = begin + static_cast<int64_t>(inside.size());
  const std::vector<int64_t> file = places_of(view.filetype, (end + size - 1) / size);
  std::vector<Pair> pairs;
  for (size_t i = 0; i < inside.size(); ++i)
    pairs.push_back({view.displacement + file[static_cast<size_t>(begin) + i], inside[i]});
  return pairs;
}

ViewedBytes list_of(const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count) {
  const auto list = combine(view, offset, memory, count);
  EXPECT_TRUE(list.ok()) << list.status().message();
  return list.ok() ? list.value() : ViewedBytes{};
}

void expect_as_the_model(const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count) {
  const ViewedBytes list = list_of(view, offset, memory, count);
  EXPECT_EQ(pairs_of(list), expected(view, offset, memory, count));
  EXPECT_STREQ(test::broken_invariant(list.pieces), "");
}

TEST(Combine, arrays_in_memory_and_in_the_file_are_one_nest) {
  const TypeMap memory = subarray({700, 600, 500}, {600, 500, 400}, {50, 50, 50});
  const TiledView view{1000, 8, subarray({3000, 2000, 1000}, {600, 500, 400}, {7, 8, 9})};
  EXPECT_EQ(nest_count(list_of(view, 0, memory, 1)), 1);
  EXPECT_EQ(nest_count(list_of(view, 0, basic(8), 600 * 500 * 400)), 1);
  EXPECT_EQ(nest_count(list_of({0, 1, basic(1)}, 12345, memory, 1)), 1);
  // Each copy of the memory goes to one tile.
  EXPECT_EQ(nest_count(list_of(view, 0, memory, 1000)), 1);
  EXPECT_EQ(list_of(view, 0, memory, 1000).pieces.store()->bytes, int64_t{600} * 500 * 400 * 8 * 1000);
  // Rows of one side are planes of the other, or all of it.
  const TypeMap planes = subarray({700, 200'000}, {600, 200'000}, {50, 0}),
                all = subarray({500'000'000}, {120'000'000}, {5});
  EXPECT_EQ(nest_count(list_of(view, 0, planes, 1)), 1);
  EXPECT_EQ(nest_count(list_of(view, 0, all, 1)), 1);
  // From the middle of a tile on: the rest of each dimension, whole tiles, and the begin of each dimension.
  EXPECT_LE(nest_count(list_of(view, 54'321'123, basic(8), 600 * 500 * 400 * int64_t{10})), 7);
  expect_as_the_model({3, 2, subarray({5, 6, 7}, {3, 4, 5}, {1, 1, 2}, 2)}, 17,
                      subarray({4, 9, 9}, {3, 4, 5}, {0, 2, 1}, 2), 3);
}

TEST(Combine, distributed_arrays_stay_nested) {
  // 25 whole blocks of 40 elements along each dimension.
  const DistributedArray array{16, 6, {4000, 4000}, {Distribution::cyclic, Distribution::cyclic}, {40, 40}, {4, 4}};
  const TypeMap filetype = with_extent(array_type(basic(8), dimensions_of(array)), 4000 * 4000 * 8);
  EXPECT_EQ(nest_count(list_of({0, 8, filetype}, 0, basic(8), 1'000'000)), 1);
  EXPECT_EQ(nest_count(list_of({0, 8, filetype}, 0, basic(8), 50'000'000)), 1);
  EXPECT_EQ(nest_count(list_of({0, 8, filetype}, 0, subarray({1000, 1010}, {1000, 1000}, {0, 5}), 1)), 1);
}

TEST(Combine, resized_types_that_are_repeated_stay_nested) {
  // A column of a matrix, resized to one element: the file has the transposed matrix.
  const TypeMap column = with_extent(repeated(contiguous_bytes(8), 1000, 8 * 900), 8);
  const ViewedBytes transposed = list_of({0, 8, basic(8)}, 0, column, 900);
  EXPECT_EQ(nest_count(transposed), 1);
  EXPECT_EQ(transposed.pieces.store()->pieces, 900'000);
  // Interleaved tiles of four ranks.
  const TypeMap quarter = with_extent(moved(contiguous_bytes(16), 32), 64);
  EXPECT_EQ(nest_count(list_of({100, 8, quarter}, 7, basic(8), 2'000'000)), 3);
  EXPECT_EQ(nest_count(list_of({100, 8, quarter}, 8, basic(8), 2'000'000)), 1);
  // Eight bytes of each sixteen go to blocks of sixteen bytes: one loop over both halves, and one over the blocks.
  EXPECT_EQ(nest_count(list_of({0, 8, quarter}, 0, with_extent(contiguous_bytes(8), 16), 2'000'000)), 1);
}

TEST(Combine, patterns_that_do_not_match_are_runs_at_least) {
  // Rows of ten elements in memory, of seven in the file.
  const TypeMap rows = with_extent(contiguous_bytes(80), 100), filetype = with_extent(contiguous_bytes(56), 64);
  const ViewedBytes list = list_of({0, 8, filetype}, 0, rows, 7000);
  EXPECT_LE(nest_count(list), list.pieces.store()->pieces);
  for (int64_t offset = 0; offset < 20; ++offset)
    expect_as_the_model({5, 8, filetype}, offset, rows, 30);
}

TEST(Combine, a_long_list_is_compact) {
  std::vector<int64_t> offsets, counts;
  test::Random random(1);
  for (int64_t i = 0, at = 0; i < 300'000; ++i) {
    at += random(9, 90);
    offsets.push_back(at);
    counts.push_back(random(1, 8));
  }
  const TypeMap filetype = with_extent(indexed_type(basic(1), counts, offsets), 300'000 * 100);
  const ViewedBytes list = list_of({0, 1, filetype}, 0, basic(1), filetype.size());
  EXPECT_EQ(list.pieces.store()->pieces, 300'000);
  EXPECT_LT(list.pieces.memory_bytes(), 300'000 * 6);
  EXPECT_EQ(pairs_of(list), expected({0, 1, filetype}, 0, basic(1), filetype.size()));
  const ViewedBytes both = list_of({0, 1, filetype}, 0, filetype, 1);
  EXPECT_EQ(both.pieces.store()->pieces, 300'000);
}

TEST(Combine, zero_sizes_move_nothing) {
  const TypeMap empty{{}, 0, 16};
  const TiledView nothing{0, 4, empty}, view{0, 4, basic(4)};
  for (const ViewedBytes& list : {list_of(view, 3, basic(4), 0), list_of(view, 3, empty, 7),
                                  list_of(nothing, 3, basic(4), 0), list_of({0, 0, empty}, 3, empty, 2)}) {
    EXPECT_TRUE(list.pieces.empty());
    EXPECT_EQ(list.memory_base, 0);
  }
  EXPECT_EQ(combine(nothing, 0, basic(4), 1).status().code(), Code::bad_argument);
  EXPECT_EQ(combine({0, 0, basic(4)}, 0, basic(4), 1).status().code(), Code::bad_argument);
}

TEST(Combine, memory_may_be_anywhere_and_repeat_bytes) {
  const TiledView view{10, 1, with_extent(contiguous_bytes(3), 5)};
  const TypeMap backward = with_extent(repeated(contiguous_bytes(2), 4, -3), -20),
                repeating = with_extent(repeated(contiguous_bytes(2), 4, 0), 1),
                absolute = with_extent(moved(contiguous_bytes(6), int64_t{1} << 46), 6);
  EXPECT_EQ(list_of(view, 0, backward, 2).memory_base, -29);
  EXPECT_EQ(list_of(view, 0, absolute, 2).memory_base, int64_t{1} << 46);
  for (const TypeMap& memory : {backward, repeating, absolute})
    expect_as_the_model(view, 4, memory, 3);
}

TEST(Combine, refuses_what_a_file_cannot_have) {
  const auto code = [](const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count) {
    return combine(view, offset, memory, count).status().code();
  };
  const TypeMap backward = with_extent(indexed_type(basic(4), {1, 1}, {8, 0}), 12),
                negative = with_extent(moved(contiguous_bytes(4), -4), 8),
                overlapping = with_extent(repeated(contiguous_bytes(4), 2, 3), 8),
                short_extent = with_extent(repeated(contiguous_bytes(4), 2, 8), 8);
  for (const TypeMap& filetype : {backward, negative, overlapping})
    EXPECT_EQ(code({100, 4, filetype}, 0, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, short_extent}, 0, basic(4), 2), Code::ok) << "one copy does not overlap";
  EXPECT_EQ(code({0, 4, short_extent}, 0, basic(4), 3), Code::bad_argument);
  EXPECT_EQ(code({0, 4, short_extent}, 2, basic(4), 1), Code::bad_argument) << "as if the data began in the first copy";
  EXPECT_EQ(code({100, 4, with_extent(contiguous_bytes(4), -8)}, 1, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, with_extent(contiguous_bytes(4), -8)}, 0, basic(4), 1), Code::ok);
  EXPECT_EQ(code({-1, 4, basic(4)}, 0, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, basic(4)}, -1, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, basic(4)}, 0, basic(4), -1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, basic(4)}, INT64_MAX / 4, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({INT64_MAX - 3, 4, basic(4)}, 0, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, with_extent(contiguous_bytes(4), INT64_MAX / 2)}, 4, basic(4), 1), Code::bad_argument);
  EXPECT_EQ(code({0, 4, basic(4)}, 0, basic(4), INT64_MAX / 2), Code::bad_argument);
}

// A random type. `ascending`: one that a file can have.
TypeMap random_type(test::Random& random, int depth, bool ascending) {
  if (depth == 0 || random(0, 5) == 0)
    return {contiguous_bytes(random(ascending ? 1 : 0, 4)), 0, random(4, 6)};
  const auto part = [&] { return random_type(random, depth - 1, ascending); };
  const TypeMap type = part();
  const auto step = [&](int64_t span) { return ascending ? span + random(0, 3) : random(-30, 30); };
  Result<TypeData> data(TypeData{});
  switch (random(0, 3)) {
    case 0:
      data = vector_type(type, random(0, 4), 1, step(type.data.end()));
      break;
    case 1: {
      std::vector<int64_t> offsets, counts;
      for (int64_t blocks = random(0, 4), at = step(0); blocks > 0; --blocks) {
        counts.push_back(random(0, 3));
        offsets.push_back(at);
        at += step(counts.back() * std::max(type.extent, type.data.end()));
      }
      data = indexed_type(type, counts, offsets);
      break;
    }
    case 2: {
      const TypeMap other = part();
      data = struct_type({type, other}, {1, 1}, {0, step(type.data.end())});
      break;
    }
    default:
      data = array_type(type, {{random(3, 5), 1, 2, 3, 3}, {5, random(0, 1), 2, 3, random(3, 5)}});
  }
  return {data.value(), 0, step(data.value().end())};
}

TEST(Combine, random_types_are_as_the_model) {
  int64_t combined = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random random(seed);
    const TypeMap memory = random_type(random, static_cast<int>(random(0, 3)), false);
    const TiledView view{random(0, 9), random(1, 3), random_type(random, static_cast<int>(random(0, 3)), true)};
    const int64_t count = random(0, 7), offset = random(0, 50);
    if (!combine(view, offset, memory, count).ok())
      continue;
    ++combined;
    expect_as_the_model(view, offset, memory, count);
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(combined, 1500);
}

}  // namespace
}  // namespace windrow
