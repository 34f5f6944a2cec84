// SPDX-License-Identifier: BSD-3-Clause
// Typemaps of the constructors, against the places of their bytes.
#include "datatype/type_map.hpp"

#include <gtest/gtest.h>

#include "bytes.hpp"
#include "datatype/constructors.hpp"

namespace windrow {
namespace {

using Kind = TypeNode::Kind;
using Places = std::vector<int64_t>;
using test::places_of;

TypeMap basic(int64_t size, int64_t extent = 0) {
  return {contiguous_bytes(size), 0, extent == 0 ? size : extent};
}

// The places that copies of a type with one byte of data have.
Places places(const Result<TypeData>& data) {
  EXPECT_TRUE(data.ok()) << data.status().message();
  return data.ok() ? places_of(data.value()) : Places{};
}

// All nodes of a tree, and all their entries.
int64_t weight(const TypeNode& node) {
  auto all = static_cast<int64_t>(1 + node.offsets.size());
  for (const auto& part : node.parts)
    all += weight(*part);
  return all;
}

TEST(TypeMap, of_contiguous_types_is_contiguous) {
  const auto data = repeated(contiguous_bytes(4), 1'000'000, 4);
  EXPECT_EQ(data.value().node->kind, Kind::bytes);
  EXPECT_EQ(data.value().size(), 4'000'000);
  EXPECT_EQ(repeated(TypeData{}, 5, 8).value().size(), 0);
  EXPECT_EQ(repeated(contiguous_bytes(4), 0, 8).value().size(), 0);
  EXPECT_EQ(repeated(contiguous_bytes(2), 3, -5).value().begin(), -10);
  EXPECT_EQ(places(repeated(contiguous_bytes(2), 3, -5)), (Places{0, 1, -5, -4, -10, -9}));
}

TEST(TypeMap, of_vectors_is_a_loop) {
  EXPECT_EQ(places(vector_type(basic(1, 3), 2, 2, 10)), (Places{0, 3, 10, 13}));
  EXPECT_EQ(places(vector_type(basic(1), 3, 2, -4)), (Places{0, 1, -4, -3, -8, -7}));
  EXPECT_EQ(vector_type(basic(8), 1000, 5, 40).value().node->kind, Kind::bytes);
  const auto large = vector_type(basic(8), 1'000'000'000'000, 5, 100);
  EXPECT_EQ(weight(*large.value().node), 2);
  EXPECT_TRUE(large.value().node->ascending);
  // Loops that continue each other are one.
  EXPECT_EQ(weight(*repeated(large.value(), 1000, 100'000'000'000'000).value().node), 2);
}

TEST(TypeMap, of_blocks_is_a_list_unless_they_are_regular) {
  EXPECT_EQ(places(indexed_type(basic(1, 2), {2, 0, 1}, {5, 99, 1})), (Places{5, 7, 1}));
  const auto list = indexed_type(basic(4), {1, 2, 1}, {100, 200, 300});
  EXPECT_EQ(list.value().node->kind, Kind::list);
  EXPECT_TRUE(list.value().node->ascending);
  EXPECT_EQ(list.value().offset, 100);
  EXPECT_EQ(indexed_type(basic(4), {2, 2, 2}, {100, 200, 300}).value().node->kind, Kind::loop);
  EXPECT_EQ(places(indexed_type(basic(1), {2, 2, 2}, {-5, 0, 5})), (Places{-5, -4, 0, 1, 5, 6}));
  // Blocks that touch are one, and all of them contiguous bytes.
  EXPECT_EQ(indexed_type(basic(4), {1, 3, 2}, {100, 104, 116}).value().node->kind, Kind::bytes);
  EXPECT_EQ(indexed_type(basic(4), {0, 0}, {1, 2}).value().size(), 0);
  EXPECT_FALSE(indexed_type(basic(4), {1, 1, 1}, {0, 9, 4}).value().node->ascending);
  EXPECT_FALSE(indexed_type(basic(4), {1, 1, 1}, {0, 9, 12}).value().node->ascending);
}

TEST(TypeMap, of_structures_is_a_sequence) {
  const TypeMap row{repeated(contiguous_bytes(1), 2, 2).value(), 0, 4};
  EXPECT_EQ(places(struct_type({basic(2), row}, {1, 2}, {1, 10})), (Places{1, 2, 10, 12, 14, 16}));
  EXPECT_EQ(places(struct_type({row, basic(1)}, {1, 2}, {10, -3})), (Places{10, 12, -3, -2}));
  EXPECT_EQ(struct_type({basic(4), basic(8), row}, {2, 3, 0}, {16, 24, 0}).value().node->kind, Kind::bytes);
  EXPECT_EQ(struct_type({basic(4), basic(4), basic(4)}, {1, 1, 1}, {0, 8, 16}).value().node->kind, Kind::loop);
  EXPECT_EQ(struct_type({basic(4), basic(8)}, {1, 1}, {0, 8}).value().node->kind, Kind::list);
  EXPECT_EQ(struct_type({row, row}, {1, 1}, {0, 40}).value().node->kind, Kind::loop);
  EXPECT_EQ(struct_type({}, {}, {}).value().size(), 0);
}

TEST(TypeMap, of_subarrays_is_nested_loops) {
  const std::vector<ArrayDimension> dimensions{{3, 1, 2, 3, 3}, {4, 2, 2, 4, 4}};
  EXPECT_EQ(places(array_type(basic(1), dimensions)), (Places{6, 7, 10, 11}));
  EXPECT_EQ(places(array_type(basic(1, 10), {{4, 1, 2, 4, 3}})), (Places{10, 20}));
  std::vector<ArrayDimension> large;
  for (int i = 0; i < 5; ++i)
    large.push_back({1000, 100, 800, 1000, 900});
  EXPECT_EQ(weight(*array_type(basic(8), large).value().node), 5);
  EXPECT_EQ(array_type(basic(8), {{0, 0, 0, 0, 0}, {7, 1, 2, 7, 3}}).value().size(), 0);
}

// By the definition, index by index.
Places distributed_places(const DistributedArray& array) {
  int64_t coordinate = array.rank;
  std::vector<int64_t> coordinates(array.sizes.size());
  for (size_t i = array.sizes.size(); i-- > 0;) {
    coordinates[i] = coordinate % array.processes[i];
    coordinate /= array.processes[i];
  }
  Places all{0};
  for (size_t i = 0; i < array.sizes.size(); ++i) {
    int64_t block = array.blocks[i];
    if (block == 0)
      block = array.distributions[i] == Distribution::block ? (array.sizes[i] - 1) / array.processes[i] + 1 : 1;
    Places next;
    for (const int64_t place : all)
      for (int64_t index = 0; index < array.sizes[i]; ++index)
        if (array.distributions[i] == Distribution::none || index / block % array.processes[i] == coordinates[i])
          next.push_back(place * array.sizes[i] + index);
    all = next;
  }
  return all;
}

TEST(TypeMap, of_distributed_arrays_is_what_the_definition_says) {
  using enum Distribution;
  const std::vector<DistributedArray> arrays{
      {6, 0, {7}, {block}, {0}, {6}},
      {3, 0, {10}, {cyclic}, {0}, {3}},
      {3, 0, {20}, {cyclic}, {4}, {3}},
      {4, 0, {10, 9}, {block, cyclic}, {5, 2}, {2, 2}},
      {6, 0, {5, 4, 7}, {cyclic, none, block}, {2, 0, 0}, {3, 1, 2}},
      {8, 0, {3, 3, 3}, {cyclic, cyclic, cyclic}, {0, 5, 2}, {2, 2, 2}},
  };
  for (DistributedArray array : arrays)
    for (array.rank = 0; array.rank < array.ranks; ++array.rank)
      EXPECT_EQ(places(array_type(basic(1), dimensions_of(array))), distributed_places(array)) << "rank " << array.rank;
  const DistributedArray large{100, 37, {1'000'000, 1'000'000}, {cyclic, cyclic}, {10, 10}, {10, 10}};
  EXPECT_LE(weight(*array_type(basic(8), dimensions_of(large)).value().node), 4);
}

TEST(TypeMap, beyond_64_bits_is_an_error) {
  constexpr int64_t k_half = int64_t{1} << 62;
  const auto bytes = contiguous_bytes(8);
  for (const auto& result :
       {repeated(bytes, 3, k_half), repeated(bytes, k_half, 8), repeated(bytes, 3, -k_half - 1),
        moved(bytes, INT64_MAX), blocks_of(bytes, 8, {0, INT64_MAX - 4}, {1, 1}),
        blocks_of(bytes, 8, {INT64_MIN, 9}, {1, 2}), blocks_of(bytes, 8, {0, 5}, {k_half, 1}),
        sequence_of({bytes, moved(repeated(bytes, 2, 9).value(), INT64_MIN).value()}),
        struct_type({basic(8), basic(8)}, {k_half, 1}, {0, 1}), vector_type(basic(8), k_half, 1, 0),
        array_type(basic(8), {{k_half, 0, 1, 1, 1}, {k_half, 0, 1, 1, 1}, {9, 8, 1, 1, 9}})}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), Code::bad_argument);
    EXPECT_NE(result.status().message().find("64 bits"), std::string::npos);
  }
}

}  // namespace
}  // namespace windrow
