// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <limits>

#include "base/varint.hpp"
#include "extent/runs.hpp"
#include "model.hpp"

namespace windrow {
namespace {

using test::broken_invariant;
using test::byte_map;
using test::ByteMap;
using test::Random;
using test::random_list;

std::vector<std::byte> encoded(const RunList& list) {
  std::vector<std::byte> bytes;
  encode(list, bytes);
  return bytes;
}

std::vector<std::byte> numbers(std::initializer_list<uint64_t> values) {
  std::vector<std::byte> bytes;
  for (const uint64_t value : values) append_varint(bytes, value);
  return bytes;
}

// What decode() promises of any input: a valid list whose memory is packed, or bad_file; never beyond the input.
void expect_safe(const std::vector<std::byte>& bytes) {
  size_t position = 0;
  const Result<RunList> list = decode(bytes, position);
  ASSERT_LE(position, bytes.size());
  if (!list.ok()) {
    ASSERT_EQ(list.status().code(), Code::bad_file);
    ASSERT_FALSE(list.status().message().empty());
    return;
  }
  ASSERT_STREQ(broken_invariant(list.value()), "");
  int64_t memory = 0;
  for (const windrow::Run& run : list.value()) {
    ASSERT_EQ(run.memory, memory);
    ASSERT_TRUE(run.count == 1 || run.memory_stride == run.length);
    memory += run.bytes();
  }
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
  for (int round = 0; round < 20000; ++round) {
    const RunList list = shift(random_list(random), random(0, 1) * (int64_t{5} << 32), 0);
    std::vector<std::byte> bytes{std::byte{42}};
    encode(list, bytes);
    const size_t end = bytes.size();
    bytes.push_back(std::byte{7});  // self-delimiting: what follows is not touched
    size_t position = 1;
    const Result<RunList> back = decode(bytes, position);
    ASSERT_TRUE(back.ok()) << back.status().message();
    ASSERT_EQ(position, end);
    ASSERT_STREQ(broken_invariant(back.value()), "");
    ByteMap expected = byte_map(list);
    int64_t place = 0;
    for (auto& [file, memory] : expected) memory = place++;
    ASSERT_EQ(byte_map(back.value()), expected);
  }
}

TEST(Encode, is_small) {
  const RunList grid{{0, 0, 256, 4096, 256, 1'000'000}};
  EXPECT_LE(encoded(grid).size(), 12u);
  RunBuilder builder;  // a mesh: points with irregular small gaps
  Random random(12);
  int64_t file = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    builder.add(Piece{file, i, 1});
    file += random(2, 60);
  }
  const RunList mesh = builder.take();
  EXPECT_LE(encoded(mesh).size(), 10000u * 2);
  std::vector<std::byte> bytes;
  encode({}, bytes);
  EXPECT_EQ(bytes.size(), 1u);
}

TEST(Encode, reaches_the_largest_offset) {
  constexpr int64_t k_max = std::numeric_limits<int64_t>::max();
  const RunList list{{k_max - 10, 0, 10, 0, 0, 1}};
  size_t position = 0;
  EXPECT_EQ(decode(encoded(list), position).value(), list);
  const RunList dense{{1, 0, 1, 2, 1, (k_max - 1) / 2}};
  position = 0;
  const auto back = decode(encoded(dense), position);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(total_bytes(back.value()), total_bytes(dense));
  EXPECT_EQ(hull(back.value()), hull(dense));
}

TEST(Decode, refuses_what_cannot_be_a_list) {
  constexpr uint64_t k_max = std::numeric_limits<int64_t>::max();
  const std::vector<std::vector<std::byte>> bad{
      {},                                   // nothing at all
      numbers({~uint64_t{0}}),              // more runs than bytes
      numbers({1}),                         // the run is missing
      numbers({1, 0, 0}),                   // no length
      numbers({1, 0, 0, 0}),                // length 0
      numbers({1, 0, 1}),                   // length as before, but there is none
      numbers({1, k_max + 1, 0, 1}),        // begin beyond int64
      numbers({1, k_max, 0, 1}),            // end beyond int64
      numbers({1, 5, 0, k_max}),            // end beyond int64
      numbers({1, 0, 4, 8, k_max}),         // stride beyond int64
      numbers({1, 0, ~uint64_t{3}, 1, 2}),  // count so large that the end overflows
      numbers({1, 0, 6, 8}),                // stride as before, but there is none
      numbers({1, 0, 2, 8}),                // a single piece with a stride
      numbers({2, 0, 0, k_max, 0, 1}),      // begins at the very end
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    size_t position = 0;
    EXPECT_EQ(decode(bad[i], position).status().code(), Code::bad_file) << "case " << i;
    expect_safe(bad[i]);
  }
}

TEST(Decode, is_safe_on_random_bytes) {
  Random random(13);
  for (int round = 0; round < 200000; ++round) {
    std::vector<std::byte> bytes(static_cast<size_t>(random(0, 40)));
    const int64_t largest = random(0, 1) == 0 ? 255 : 9;
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random(0, largest));
    ASSERT_NO_FATAL_FAILURE(expect_safe(bytes));
  }
}

TEST(Decode, is_safe_on_mutated_encodings) {
  Random random(14);
  for (int round = 0; round < 100000; ++round) {
    auto bytes = encoded(random_list(random));
    for (int64_t i = random(1, 3); i > 0; --i) {
      const auto at = static_cast<size_t>(random(0, static_cast<int64_t>(bytes.size()) - 1));
      bytes[at] = static_cast<std::byte>(random(0, 255));
    }
    if (random(0, 4) == 0) bytes.resize(static_cast<size_t>(random(0, static_cast<int64_t>(bytes.size()))));
    ASSERT_NO_FATAL_FAILURE(expect_safe(bytes));
  }
}

}  // namespace
}  // namespace windrow
