// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "../stride.hpp"
#include "codec/codec.hpp"
#include "contents.hpp"

namespace windrow {
namespace {

using testing::HasSubstr;
using windrow_test::Message;

constexpr size_t k_largest = (1 << 20) + 3;

std::unique_ptr<CodecWorkspace> workspace_for(size_t largest, int level = 0) {
  auto made = CodecWorkspace::make(static_cast<int64_t>(largest), compressors(), level);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return std::move(made).value();
}

// All that a message can be made with, none included.
std::vector<CodecChoice> choices(int element_bytes) {
  std::vector<CodecChoice> all{{.element_bytes = element_bytes}};
  for (const Compressor* compressor : compressors())
    for (const bool shuffle : {false, true})
      if (!shuffle || compressor->shuffles())
        all.push_back({compressor, 0, shuffle, element_bytes});
  return all;
}

std::string name_of(const CodecChoice& choice) {
  return std::string(choice.compressor != nullptr ? choice.compressor->name() : "none") +
         (choice.shuffle ? "+shuffle" : "") + " of elements of " + std::to_string(choice.element_bytes);
}

// Encodes into a buffer of exactly the promised length; the bytes after it must be unchanged.
Message encoded(const Message& raw, const CodecChoice& choice, bool checksum, bool always, CodecWorkspace& workspace) {
  constexpr std::byte k_never_written{0x5a};
  const size_t room = raw.size() + (always ? k_frame_header : 0);
  Message frame(room + 64, k_never_written);
  const auto to = std::span(frame).first(room);
  const int64_t length =
      always ? encode_checked_frame(raw, choice, workspace, to) : encode_frame(raw, choice, checksum, workspace, to);
  EXPECT_GE(length, 0);
  EXPECT_LE(length, static_cast<int64_t>(room));
  EXPECT_TRUE(std::all_of(frame.begin() + static_cast<std::ptrdiff_t>(room), frame.end(),
                          [](std::byte byte) { return byte == k_never_written; }));
  frame.resize(static_cast<size_t>(length));
  return frame;
}

Message decoded(const Message& frame, size_t size, CodecWorkspace& workspace) {
  Message raw(size, std::byte{0xee});
  const Status status = decode_frame(frame, raw, workspace);
  EXPECT_TRUE(status.ok()) << status.message();
  return raw;
}

std::string error_of(const Message& frame, size_t size, CodecWorkspace& workspace) {
  Message raw(size);
  const Status status = decode_frame(frame, raw, workspace);
  EXPECT_EQ(status.code(), Code::internal);
  return status.message();
}

Message changed(Message frame, size_t at, uint8_t value) {
  frame[at] = std::byte{value};
  return frame;
}

std::vector<std::pair<std::string, Message>> contents(size_t size, size_t element) {
  return {{"zeros", windrow_test::zeros(size)},
          {"equal elements", windrow_test::equal_elements(size, element)},
          {"smooth floats", windrow_test::smooth_floats(size)},
          {"noise", windrow_test::noise(size)},
          {"text", windrow_test::text(size)}};
}

TEST(Frame, gives_back_what_went_in) {
  const auto workspace = workspace_for(k_largest);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{15}, size_t{16}, size_t{17},
                            size_t{18}, size_t{255}, size_t{4096}, k_largest})
    for (const int element : {1, 2, 3, 4, 8, 12, 255})
      for (const auto& [content, raw] : contents(size, static_cast<size_t>(element)))
        for (const CodecChoice& choice : choices(element)) {
          SCOPED_TRACE(std::to_string(size) + " bytes of " + content + " by " + name_of(choice));
          const Message frame = encoded(raw, choice, false, false, *workspace);
          if (!frame.empty()) {
            ASSERT_LT(frame.size(), raw.size());
            ASSERT_EQ(decoded(frame, size, *workspace), raw);
          }
          if (size > 4096 && element != 8)
            continue;  // time
          const Message checked = encoded(raw, choice, true, true, *workspace);
          ASSERT_EQ(decoded(checked, size, *workspace), raw);
          const Message same = encoded(raw, choice, true, false, *workspace);
          if (!same.empty()) {
            ASSERT_EQ(same, checked);
          }
        }
}

TEST(Frame, is_made_of_what_can_be_smaller_and_of_nothing_else) {
  const auto workspace = workspace_for(1 << 16);
  for (const CodecChoice& choice : choices(4)) {
    SCOPED_TRACE(name_of(choice));
    EXPECT_TRUE(encoded(windrow_test::noise(1 << 16), choice, false, false, *workspace).empty());
    if (choice.compressor == nullptr || choice.compressor->name() == "delta") {  // text is no numbers
      EXPECT_TRUE(encoded(windrow_test::text(1 << 16), choice, false, false, *workspace).empty());
      continue;
    }
    const Message frame = encoded(windrow_test::text(1 << 16), choice, false, false, *workspace);
    EXPECT_FALSE(frame.empty());
    EXPECT_LT(frame.size(), choice.shuffle ? size_t{1} << 15 : size_t{1} << 14);
  }
}

TEST(Frame, of_smooth_floats_is_smaller_with_their_bytes_shuffled) {
  const auto workspace = workspace_for(1 << 19);
  const Message raw = windrow_test::smooth_floats(1 << 19);
  for (const Compressor* compressor : compressors()) {
    if (!compressor->shuffles())
      continue;
    const Message plain = encoded(raw, {compressor, 0, false, 4}, false, false, *workspace);
    const Message shuffled = encoded(raw, {compressor, 0, true, 4}, false, false, *workspace);
    ASSERT_FALSE(shuffled.empty());
    EXPECT_LT(shuffled.size(), plain.empty() ? raw.size() : plain.size()) << compressor->name();
    EXPECT_LT(shuffled.size(), raw.size() * 7 / 10) << compressor->name();
  }
}

// The bytes that ranks of different builds and machines have to agree about.
TEST(Frame, of_equal_elements_is_one_element_behind_a_header) {
  const auto workspace = workspace_for(1000);
  Message raw(999);
  for (size_t i = 0; i < raw.size(); ++i)
    raw[i] = static_cast<std::byte>(i % 3 + 1);
  Message expected{std::byte{0xf7}, std::byte{1}, std::byte{0}, std::byte{3}, std::byte{0xe7},
                   std::byte{3},    std::byte{0}, std::byte{0}, std::byte{3}, std::byte{0},
                   std::byte{0},    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
                   std::byte{0},    std::byte{1}, std::byte{2}, std::byte{3}};
  for (const CodecChoice& choice : choices(3))
    EXPECT_EQ(encoded(raw, choice, false, false, *workspace), expected) << name_of(choice);
  expected[2] = std::byte{2};
  const Message checked = encoded(raw, {.element_bytes = 3}, true, false, *workspace);
  ASSERT_EQ(checked.size(), expected.size());
  std::copy_n(checked.begin() + 12, 4, expected.begin() + 12);  // checksum_test.cpp has the sums
  EXPECT_EQ(checked, expected);

  raw.push_back(std::byte{9});  // a last element that is begun, and not like the others
  EXPECT_EQ(encoded(raw, {.element_bytes = 3}, false, false, *workspace), Message());
  raw.back() = std::byte{1};
  EXPECT_EQ(decoded(encoded(raw, {.element_bytes = 3}, false, false, *workspace), raw.size(), *workspace), raw);
}

TEST(Frame, of_equal_elements_takes_the_place_of_the_message) {
  auto made = CodecWorkspace::make(4096, compressors(), 0);
  ASSERT_TRUE(made.ok());
  for (const int element : {1, 4, 8, 255}) {
    std::vector<std::byte> raw(4080 / static_cast<size_t>(element) * static_cast<size_t>(element));
    for (size_t i = 0; i < raw.size(); ++i)
      raw[i] = static_cast<std::byte>(i % static_cast<size_t>(element) + 3);
    std::vector<std::byte> message = raw, back(raw.size());
    ASSERT_EQ(frame_equal_elements(message, element), k_frame_header + element);
    ASSERT_TRUE(
        decode_frame({message.data(), static_cast<size_t>(k_frame_header + element)}, back, *made.value()).ok());
    EXPECT_EQ(back, raw);
    message = raw;
    message.back() ^= std::byte{1};
    const std::vector<std::byte> other = message;
    EXPECT_EQ(frame_equal_elements(message, element), 0);
    EXPECT_EQ(message, other);
    EXPECT_EQ(frame_equal_elements(std::span(message).first(static_cast<size_t>(k_frame_header)), 1),
              0);  // a frame would be no shorter
  }
}

TEST(Frame, that_is_always_made_has_a_header_more_at_most) {
  const auto workspace = workspace_for(1000);
  for (const CodecChoice& choice : choices(8)) {
    EXPECT_EQ(encoded(windrow_test::noise(1000), choice, true, true, *workspace).size(), size_t{1000 + k_frame_header})
        << name_of(choice);
    EXPECT_EQ(encoded({}, choice, true, true, *workspace).size(), size_t{k_frame_header}) << name_of(choice);
  }
}

TEST(Frame, longer_than_the_workspace_is_not_made_and_not_undone) {
  const auto small = workspace_for(1000), large = workspace_for(100'000);
  const Message raw = windrow_test::steps(100'000);
  for (const CodecChoice& choice : choices(4)) {
    if (choice.compressor == nullptr)
      continue;
    EXPECT_TRUE(encoded(raw, choice, false, false, *small).empty());
    const Message frame = encoded(raw, choice, false, false, *large);
    ASSERT_FALSE(frame.empty());
    EXPECT_THAT(error_of(frame, raw.size(), *small),
                HasSubstr("a message of 100000 bytes, larger than the maximum of 1000"));
  }
  for (const int64_t size : {int64_t{-1}, int64_t{1} << 32})
    EXPECT_EQ(CodecWorkspace::make(size, compressors()).status().code(), Code::bad_argument) << size;
}

TEST(Frame, with_a_wrong_field_says_which) {
  const auto workspace = workspace_for(1000);
  const Message raw = windrow_test::equal_elements(1000, 4);
  const Message frame = encoded(raw, {.element_bytes = 4}, true, false, *workspace);
  ASSERT_EQ(frame.size(), 20u);
  EXPECT_THAT(error_of({}, 1000, *workspace), HasSubstr("a frame of 0 bytes, shorter than its header"));
  EXPECT_THAT(error_of(Message(frame.begin(), frame.begin() + 15), 1000, *workspace),
              HasSubstr("a frame of 15 bytes, shorter than its header"));
  EXPECT_THAT(error_of(changed(frame, 0, 1), 1000, *workspace), HasSubstr("begins with 0x01"));
  EXPECT_THAT(error_of(changed(frame, 1, 0), 1000, *workspace), HasSubstr("elements of 4 bytes"));
  EXPECT_THAT(error_of(changed(frame, 1, 99), 1000, *workspace), HasSubstr("elements of 4 bytes"));
  EXPECT_THAT(error_of(changed(changed(frame, 3, 1), 1, 99), 1000, *workspace),
              HasSubstr("unknown compressor number 99"));
  EXPECT_THAT(error_of(changed(frame, 2, 6), 1000, *workspace), HasSubstr("flags 0x06"));
  EXPECT_THAT(error_of(changed(frame, 2, 3), 1000, *workspace), HasSubstr("shuffled but not compressed"));
  EXPECT_THAT(error_of(changed(frame, 2, 0), 1000, *workspace), HasSubstr("an unexpected checksum"));
  EXPECT_THAT(error_of(changed(frame, 3, 0), 1000, *workspace), HasSubstr("elements of 0 bytes"));
  EXPECT_THAT(error_of(changed(frame, 3, 3), 1000, *workspace), HasSubstr("4 bytes for one element of 3"));
  EXPECT_THAT(error_of(changed(frame, 7, 1), 1000, *workspace),
              HasSubstr("of a message of 16778216 bytes, expected one of 1000"));
  EXPECT_THAT(error_of(frame, 999, *workspace), HasSubstr("of a message of 1000 bytes, expected one of 999"));
  EXPECT_THAT(error_of(changed(frame, 8, 5), 1000, *workspace), HasSubstr("a frame of 20 bytes with a payload of 5"));
  EXPECT_THAT(error_of(changed(frame, 12, static_cast<uint8_t>(frame[12]) ^ 1u), 1000, *workspace),
              HasSubstr("checksum 0x"));
  EXPECT_THAT(error_of(changed(frame, 16, 77), 1000, *workspace), HasSubstr("checksum 0x"));

  const Message few = windrow_test::noise(3);
  const Message as_it_is = encoded(few, {}, true, true, *workspace);
  EXPECT_THAT(error_of(changed(changed(as_it_is, 1, 1), 3, 4), 3, *workspace),
              HasSubstr("3 bytes for one element of 4"));
  Message longer = changed(as_it_is, 8, 4);
  longer.push_back({});
  EXPECT_THAT(error_of(longer, 3, *workspace), HasSubstr("4 bytes for a message of 3 that is not compressed"));
  Message element_longer_than_all = changed(changed(longer, 1, 1), 3, 4);
  EXPECT_THAT(error_of(element_longer_than_all, 3, *workspace),
              HasSubstr("4 bytes for one element of 4 in a message of 3"));
}

TEST(Frame, that_needs_what_is_not_there_names_it) {
  const auto none = std::move(CodecWorkspace::make(1000, {})).value();
  const auto all = workspace_for(1000);
  const Message raw = windrow_test::steps(1000);
  for (const Compressor* compressor : known_compressors()) {
    const std::string name(compressor->name());
    Message frame = changed(encoded(windrow_test::noise(1000), {}, true, true, *all), 1, compressor->id());
    if (compressor->is_built_in()) {
      EXPECT_THAT(error_of(frame, 1000, *none), HasSubstr("a frame needs " + name + ", which is not among"));
      EXPECT_EQ(encoded(raw, {compressor, 0, false, 4}, false, false, *none), Message());
      frame = encoded(raw, {compressor, 0, false, 4}, true, true, *all);
      frame.resize(frame.size() - 1);
      frame[8] = static_cast<std::byte>(static_cast<uint8_t>(frame[8]) - 1);
      EXPECT_THAT(error_of(frame, 1000, *all), HasSubstr(name + " cannot decompress 1000 bytes from "));
    } else {
      EXPECT_THAT(error_of(frame, 1000, *all),
                  HasSubstr("this rank was built without " + name + ", which a frame needs"));
    }
  }
  EXPECT_EQ(find_compressor("zip"), nullptr);
}

TEST(Frame, of_shuffled_numbers_where_they_are_needed_whole_is_broken) {
  if (find_compressor("delta") == nullptr)
    GTEST_SKIP() << "delta is not built in";
  const auto all = workspace_for(1000);
  Message frame =
      encoded(windrow_test::smooth_floats(1000), {find_compressor("delta"), 0, true, 4}, false, false, *all);
  ASSERT_FALSE(frame.empty());
  EXPECT_FALSE(kind_of_frame(frame).shuffled);
  EXPECT_THAT(error_of(changed(changed(frame, 2, 1), 3, 4), 1000, *all),
              HasSubstr("shuffled, which delta does not support"));
}

// Every single byte changed to every other value, and every shorter frame: no crash, no byte outside, and a checksum
// lets nothing through.
TEST(Frame, that_was_damaged_is_an_error_or_has_no_checksum) {
  const auto workspace = workspace_for(200);
  for (const Message& raw : {windrow_test::text(200), windrow_test::smooth_floats(200),
                             windrow_test::equal_elements(200, 4), windrow_test::noise(20)})
    for (const CodecChoice& choice : choices(4))
      for (const bool checksum : {false, true}) {
        const Message frame = encoded(raw, choice, checksum, checksum, *workspace);
        for (size_t length = 0; length < frame.size(); ++length)
          error_of(Message(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length)), raw.size(), *workspace);
        for (size_t at = 0; at < frame.size(); ++at)
          for (int flip = 1; flip < 256; flip += windrow_test::stride()) {
            const Message wrong = changed(frame, at, static_cast<uint8_t>(static_cast<int>(frame[at]) ^ flip));
            Message back(raw.size());
            const Status status = decode_frame(wrong, back, *workspace);
            if (!status.ok()) {
              ASSERT_EQ(status.code(), Code::internal);
              ASSERT_FALSE(status.message().empty());
            } else if (checksum) {
              ASSERT_EQ(back, raw) << name_of(choice) << ", byte " << at << " xor " << flip;
            }
          }
      }
}

TEST(Frame, is_made_at_every_level) {
  for (const Compressor* compressor : compressors()) {
    const Message raw = compressor->largest_level() > 1 ? windrow_test::text(30'000) : windrow_test::steps(30'000);
    size_t at_level_one = 0, at_the_largest = 0;
    for (int level = 1; level <= compressor->largest_level(); ++level) {
      const auto workspace = workspace_for(raw.size(), level);
      const Message frame = encoded(raw, {compressor, level, false, 4}, true, false, *workspace);
      ASSERT_FALSE(frame.empty()) << compressor->name() << " at level " << level;
      EXPECT_EQ(decoded(frame, raw.size(), *workspace), raw);
      (level == 1 ? at_level_one : at_the_largest) = frame.size();
      EXPECT_EQ(encoded(raw, {compressor, level + 5, false, 4}, true, false, *workspace), frame)
          << "a level that the workspace was not made for";
    }
    if (compressor->largest_level() > 1) {
      EXPECT_LT(at_the_largest, at_level_one);
    }
  }
}

TEST(Sample, is_exact_where_it_is_all) {
  const auto workspace = workspace_for(8192);
  for (const size_t size : {0u, 1u, 16u, 17u, 100u, 8191u, 8192u})
    for (const auto& [content, raw] : contents(size, 4))
      for (const CodecChoice& choice : choices(4)) {
        const size_t length = encoded(raw, choice, false, false, *workspace).size();
        EXPECT_EQ(sample_frame(raw, choice, *workspace).bytes, static_cast<int64_t>(length > 0 ? length : size))
            << size << " bytes of " << content << " by " << name_of(choice);
      }
}

TEST(Sample, tells_what_shrinks_from_what_does_not) {
  const size_t size = 1 << 19;
  const auto workspace = workspace_for(size);
  for (const CodecChoice& choice : choices(4)) {
    SCOPED_TRACE(name_of(choice));
    EXPECT_EQ(sample_frame(windrow_test::zeros(size), choice, *workspace).bytes, k_frame_header + 4);
    EXPECT_EQ(sample_frame(windrow_test::noise(size), choice, *workspace).bytes, static_cast<int64_t>(size));
    if (!choice.shuffle)
      continue;
    const Message smooth = windrow_test::smooth_floats(size);
    const auto length = static_cast<double>(encoded(smooth, choice, false, false, *workspace).size());
    const auto guess = static_cast<double>(sample_frame(smooth, choice, *workspace).bytes);
    EXPECT_GT(guess, 0.5 * length);
    EXPECT_LT(guess, 2.0 * length);
  }
  // What is equal in its parts, and not from part to part, is no constant.
  Message halves = windrow_test::zeros(size);
  std::fill(halves.begin() + static_cast<std::ptrdiff_t>(size / 2), halves.end(), std::byte{1});
  EXPECT_EQ(sample_frame(halves, {.element_bytes = 4}, *workspace).bytes, static_cast<int64_t>(size));
  for (const int element : {3, 255}) {
    const Message same = windrow_test::equal_elements(8193 + 1000, static_cast<size_t>(element));
    EXPECT_EQ(sample_frame(same, {.element_bytes = element}, *workspace).bytes, k_frame_header + element);
  }
}

}  // namespace
}  // namespace windrow
