// SPDX-License-Identifier: BSD-3-Clause
#include "extent/encode.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "../stride.hpp"
#include "base/varint.hpp"
#include "model.hpp"

namespace windrow {
namespace {

using test::broken_invariant;
using test::byte_map;
using test::ByteMap;
using test::pieces_of;
using test::Random;
using test::random_list;
using test::random_nests;
using test::runs_of;

constexpr Extent k_everything{0, std::numeric_limits<int64_t>::max()};

std::vector<std::byte> encoded(const Pieces& list) {
  std::vector<std::byte> bytes;
  encode(list, k_everything, bytes);
  return bytes;
}

std::vector<std::byte> numbers(std::initializer_list<uint64_t> values) {
  std::vector<std::byte> bytes;
  for (const uint64_t value : values)
    append_varint(bytes, value);
  return bytes;
}

// What decode() promises of any input: a valid list whose memory is packed, or bad_file; never beyond the input.
void expect_safe(const std::vector<std::byte>& bytes) {
  size_t position = 0;
  const Result<Pieces> list = decode(bytes, position);
  ASSERT_LE(position, bytes.size());
  if (!list.ok()) {
    ASSERT_EQ(list.status().code(), Code::bad_file);
    ASSERT_FALSE(list.status().message().empty());
    return;
  }
  ASSERT_STREQ(broken_invariant(list.value()), "");
  int64_t memory = 0;
  for (const Nest& nest : test::nests_of(list.value())) {
    ASSERT_EQ(nest.run.memory, memory);
    const Nest expected = packed(nest, memory);
    ASSERT_EQ(nest.run, expected.run);
    ASSERT_EQ(nest.depth, expected.depth);
    for (int i = 0; i < nest.depth; ++i)
      ASSERT_EQ(nest.loops[Nest::at(i)].memory_stride, expected.loops[Nest::at(i)].memory_stride);
    memory += nest.bytes();
  }
  ASSERT_EQ(memory, total_bytes(list.value()));
}

TEST(Varint, holds_all_64_bits_and_no_more) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 63, ~uint64_t{0}}) {
    const auto bytes = numbers({value});
    size_t position = 0;
    EXPECT_EQ(read_varint(bytes, position), value);
    EXPECT_EQ(position, bytes.size());
    position = 0;
    EXPECT_EQ(read_varint(std::span(bytes).first(bytes.size() - 1), position), std::nullopt);
  }
  std::vector<std::byte> wide(9, std::byte{0xff});
  wide.push_back(std::byte{2});
  size_t position = 0;
  EXPECT_EQ(read_varint(wide, position), std::nullopt);
}

TEST(Encode, gives_back_the_file_side_with_packed_memory) {
  Random random(11);
  for (int round = 0; round < 20000; round += windrow_test::stride()) {
    const int64_t base = random(0, 1) * (int64_t{5} << 32);
    const Pieces list = pieces_of(random_nests(random, base + random(0, 20), random(0, 6)));
    const ByteMap whole = byte_map(list);
    const Extent window = random(0, 1) == 0 ? k_everything : Extent{base + random(0, 60), base + random(0, 120)};
    std::vector<std::byte> bytes{std::byte{42}};
    encode(list, window, bytes);
    const size_t end = bytes.size();
    bytes.push_back(std::byte{7});  // self-delimiting: what follows is not touched
    size_t position = 1;
    const Result<Pieces> back = decode(bytes, position);
    ASSERT_TRUE(back.ok()) << back.status().message();
    ASSERT_EQ(position, end);
    ASSERT_STREQ(broken_invariant(back.value()), "");
    ByteMap expected;
    int64_t place = 0;
    for (const auto& [file, memory] : whole)
      if (file >= window.begin && file < window.end)
        expected[file] = place++;
    ASSERT_EQ(byte_map(back.value()), expected);
  }
}

TEST(Encode, a_block_is_a_few_bytes_a_dimension_until_it_is_cut_and_then_too) {
  Nest block(windrow::Run{0, 0, 100, 0, 0, 1});
  int64_t stride = 128, memory = 120;
  for (int d = 0; d < 3; ++d, stride *= 1024, memory *= 1010)
    block.repeat(1000, stride, memory);
  const Pieces list = pieces_of(std::vector<Nest>{block});
  EXPECT_LE(encoded(list).size(), 24u);
  std::vector<std::byte> part;
  encode(list, {hull(list).begin + 77, hull(list).end - 8'000'000'077}, part);
  EXPECT_LE(part.size(), 120u);
  size_t position = 0;
  EXPECT_EQ(total_bytes(decode(part, position).value()),
            bytes_within(list, {hull(list).begin + 77, hull(list).end - 8'000'000'077}));
}

TEST(Encode, is_small) {
  const Pieces grid = pieces_of({windrow::Run{0, 0, 256, 4096, 256, 1'000'000}});
  EXPECT_LE(encoded(grid).size(), 12u);
  PiecesBuilder builder;  // a mesh: points with irregular small gaps
  Random random(12);
  int64_t file = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    builder.add(Piece{file, i, 1});
    file += random(2, 60);
  }
  const Pieces mesh = builder.take();
  EXPECT_LE(encoded(mesh).size(), 10000u * 2);
  EXPECT_EQ(encoded({}).size(), 1u);
}

TEST(Encode, reaches_the_largest_offset) {
  constexpr int64_t k_max = std::numeric_limits<int64_t>::max();
  const Pieces list = pieces_of({windrow::Run{k_max - 10, 0, 10, 0, 0, 1}});
  size_t position = 0;
  EXPECT_EQ(runs_of(decode(encoded(list), position).value()), runs_of(list));
  const Pieces dense = pieces_of({windrow::Run{1, 0, 1, 2, 1, (k_max - 1) / 2}});
  position = 0;
  const auto back = decode(encoded(dense), position);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(total_bytes(back.value()), total_bytes(dense));
  EXPECT_EQ(hull(back.value()), hull(dense));
}

TEST(Decode, refuses_what_cannot_be_a_list) {
  constexpr uint64_t k_max = std::numeric_limits<int64_t>::max();
  const std::vector<std::vector<std::byte>> bad{
      {},                                             // nothing at all
      numbers({~uint64_t{0}}),                        // more runs than bytes
      numbers({1}),                                   // the run is missing
      numbers({1, 0, 0}),                             // no length
      numbers({1, 0, 0, 0}),                          // length 0
      numbers({1, 0, 1}),                             // length as before, but there is none
      numbers({1, k_max + 1, 0, 1}),                  // begin beyond int64
      numbers({1, k_max, 0, 1}),                      // end beyond int64
      numbers({1, 5, 0, k_max}),                      // end beyond int64
      numbers({1, 0, 4, 8, k_max}),                   // stride beyond int64
      numbers({1, 0, ~uint64_t{3}, 1, 2}),            // count so large that the end overflows
      numbers({1, 0, 6, 8}),                          // stride as before, but there is none
      numbers({1, 0, 2, 8}),                          // a single piece with a stride
      numbers({2, 0, 0, k_max, 0, 1}),                // begins at the very end
      numbers({1, 0, 3, 8}),                          // a single piece with a stride, in the other way
      numbers({1, 0, 2, 1}),                          // a nest without a run
      numbers({1, 0, 2, 32, 4, 1, 1}),                // more loops than there can be
      numbers({1, 0, 2, 1, 0, 8, 0, 0}),              // loops around a single piece
      numbers({1, 0, 2, 1, 4, 8, 8, 0}),              // a loop without a stride
      numbers({1, 0, 2, 1, 4, 8, 8, 0, k_max}),       // stride of a loop beyond int64
      numbers({1, 0, 2, 1, 4, 8, 8, k_max, 0}),       // count of a loop beyond int64
      numbers({1, 0, 2, 1, 4, 8, 8, k_max / 16, 0}),  // end of a loop beyond int64
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    size_t position = 0;
    EXPECT_EQ(decode(bad[i], position).status().code(), Code::bad_file) << "case " << i;
    expect_safe(bad[i]);
  }
}

// A block never looks like this, and merging such steps one by one would take as long as there are steps.
TEST(Decode, takes_loops_whose_steps_touch_without_counting_them) {
  constexpr uint64_t k_steps = uint64_t{1} << 50;
  const auto bytes = numbers({2, 0, 0, 8, 0, 2, 1, 5, 8, k_steps - 2, 0});
  size_t position = 0;
  const Result<Pieces> list = decode(bytes, position);
  ASSERT_TRUE(list.ok()) << list.status().message();
  EXPECT_EQ(total_bytes(list.value()), static_cast<int64_t>(8 + 16 * k_steps));
  expect_safe(bytes);

  std::vector<uint64_t> many{2, 0, 0, 8, 0, 2, 31, 5, 8};  // 31 loops of two steps, each adjacent to the other
  for (int i = 0; i < 31; ++i)
    many.insert(many.end(), {0, 0});
  std::vector<std::byte> nested;
  for (const uint64_t value : many)
    append_varint(nested, value);
  position = 0;
  const Result<Pieces> deep = decode(nested, position);
  ASSERT_TRUE(deep.ok()) << deep.status().message();
  EXPECT_EQ(total_bytes(deep.value()), 8 + (int64_t{16} << 31));
}

TEST(Decode, is_safe_on_random_bytes) {
  Random random(13);
  for (int round = 0; round < 200000; round += windrow_test::stride()) {
    std::vector<std::byte> bytes(static_cast<size_t>(random(0, 40)));
    const int64_t largest = random(0, 1) == 0 ? 255 : 9;
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random(0, largest));
    ASSERT_NO_FATAL_FAILURE(expect_safe(bytes));
  }
}

TEST(Decode, is_safe_on_mutated_encodings) {
  Random random(14);
  for (int round = 0; round < 100000; round += windrow_test::stride()) {
    auto bytes = encoded(random_list(random));
    for (int64_t i = random(1, 3); i > 0; --i) {
      const auto at = static_cast<size_t>(random(0, static_cast<int64_t>(bytes.size()) - 1));
      bytes[at] = static_cast<std::byte>(random(0, 255));
    }
    if (random(0, 4) == 0)
      bytes.resize(static_cast<size_t>(random(0, static_cast<int64_t>(bytes.size()))));
    ASSERT_NO_FATAL_FAILURE(expect_safe(bytes));
  }
}

}  // namespace
}  // namespace windrow
