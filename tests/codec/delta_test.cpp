// SPDX-License-Identifier: BSD-3-Clause
// Differences of neighbours: what they shrink, what they leave alone, and any bytes are safe.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "codec/compressor.hpp"
#include "contents.hpp"

namespace windrow {
namespace {

using windrow_test::Message;

class Delta : public testing::Test {
 protected:
  void SetUp() override {
    if (state_ == nullptr)
      GTEST_SKIP() << "delta is not built in";
  }

  // Empty: it does not fit into this many bytes, or into `room`.
  Message compressed(const Message& raw, int element_bytes, size_t room) {
    constexpr std::byte k_never_written{0x5a};
    Message made(room + 64, k_never_written);
    const int64_t length = state_->compress(raw, {.element_bytes = element_bytes}, std::span(made).first(room));
    EXPECT_GE(length, 0);
    EXPECT_LE(length, static_cast<int64_t>(room));
    EXPECT_TRUE(std::all_of(made.begin() + static_cast<std::ptrdiff_t>(room), made.end(),
                            [](std::byte byte) { return byte == k_never_written; }));
    made.resize(static_cast<size_t>(length));
    return made;
  }
  Message compressed(const Message& raw, int element_bytes) { return compressed(raw, element_bytes, raw.size()); }

  bool decompresses(const Message& from, Message& to) { return state_->decompress(from, to); }

  double ratio(const Message& raw, int element_bytes) {
    const Message made = compressed(raw, element_bytes);
    if (made.empty())
      return 1;
    Message back(raw.size(), std::byte{0xee});
    EXPECT_TRUE(decompresses(made, back));
    EXPECT_TRUE(back == raw);
    return static_cast<double>(made.size()) / static_cast<double>(raw.size());
  }

 private:
  static std::unique_ptr<CompressorState> state() {
    const Compressor* delta = find_compressor("delta");
    return delta == nullptr ? nullptr : delta->make_state(1 << 20, 1);
  }
  std::unique_ptr<CompressorState> state_ = state();
};

template <class Element, class Value>
Message message_of(size_t count, Value value) {
  Message made(count * sizeof(Element));
  for (size_t i = 0; i < count; ++i) {
    const auto each = static_cast<Element>(value(static_cast<double>(i)));
    std::memcpy(made.data() + i * sizeof each, &each, sizeof each);
  }
  return made;
}

Message swapped(Message message, size_t element) {
  for (size_t i = 0; i + element <= message.size(); i += element)
    std::reverse(message.begin() + static_cast<std::ptrdiff_t>(i),
                 message.begin() + static_cast<std::ptrdiff_t>(i + element));
  return message;
}

double wave(double i) {
  return 300 + 25 * std::sin(0.001 * i);
}

TEST_F(Delta, makes_smooth_numbers_smaller_in_either_byte_order) {
  constexpr size_t k_count = 100000;
  for (const auto& [raw, element, most] :
       {std::tuple{message_of<float>(k_count, wave), 4, 0.3}, std::tuple{message_of<double>(k_count, wave), 8, 0.62},
        std::tuple{message_of<int32_t>(k_count, [](double i) { return 1e6 * wave(i); }), 4, 0.25},
        std::tuple{message_of<int64_t>(k_count, [](double i) { return -1e9 * wave(i); }), 8, 0.3},
        std::tuple{message_of<uint16_t>(k_count, [](double i) { return 100 * wave(i); }), 2, 0.5}}) {
    EXPECT_LT(ratio(raw, element), most) << "elements of " << element;
    EXPECT_NEAR(ratio(swapped(raw, static_cast<size_t>(element)), element), ratio(raw, element), 1e-3)
        << "elements of " << element;
  }
}

// By what is shortest: numbers as they are, differences, or differences of differences.
TEST_F(Delta, finds_the_order_of_differences) {
  std::mt19937 random(5);
  const auto small = message_of<uint32_t>(65536, [&](double) { return random() % 8; });
  EXPECT_LT(ratio(small, 4), 0.17) << "3 bits in 4, and 1 for the width";
  int64_t walk = 0;
  const auto steps =
      message_of<int32_t>(65536, [&](double) { return walk += static_cast<int64_t>(random() % 16) - 8; });
  EXPECT_LT(ratio(steps, 4), 0.17) << "4 bits, and 1";
  const auto line = message_of<int64_t>(65536, [](double i) { return 1234567.0 * i; });
  EXPECT_LT(ratio(line, 8), 0.02) << "no bits, and 1";
}

// Rows that begin with a jump, as long as what is looked at is far apart or as a group is.
TEST_F(Delta, is_not_blinded_by_the_begins_of_rows) {
  for (const int columns : {16, 32, 64, 128, 256}) {
    const auto rows = message_of<float>(65536, [columns](double i) { return std::fmod(i, columns) / (columns - 1); });
    EXPECT_LT(ratio(rows, 4), 0.8) << columns;
  }
}

TEST_F(Delta, leaves_noise_and_other_elements_alone) {
  for (const int element : {2, 4, 8})
    EXPECT_TRUE(compressed(windrow_test::noise(1 << 16), element).empty()) << element;
  for (const int element : {1, 3, 5, 12, 16, 255}) {
    EXPECT_FALSE(find_compressor("delta")->does(element));
    EXPECT_TRUE(compressed(windrow_test::zeros(1 << 16), element).empty()) << element;
  }
}

// Lengths about where groups, blocks and elements end; what is largest, and where differences do not fit into an
// element.
TEST_F(Delta, gives_back_what_went_in) {
  std::mt19937_64 random(3);
  for (const int element : {2, 4, 8})
    for (const int elements : {0, 1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 258, 259, 260, 511, 513, 1000})
      for (const int rest : {0, 1, element - 1})
        for (int content = 0; content < 4; ++content) {
          Message raw(static_cast<size_t>(elements * element + rest));
          for (size_t i = 0; i < raw.size(); ++i) {
            const bool jump = random() % 64 == 0;
            raw[i] = content == 0            ? std::byte{0}
                     : content == 1          ? std::byte{0xff}
                     : content == 2 && !jump ? std::byte{7}
                                             : static_cast<std::byte>(random());
          }
          if (raw.empty())
            continue;
          const size_t most = 2 * raw.size() + 100;
          const Message made = compressed(raw, element, most);
          ASSERT_FALSE(made.empty());
          Message back(raw.size(), std::byte{0xee});
          ASSERT_TRUE(decompresses(made, back));
          ASSERT_EQ(back, raw) << elements << " of " << element << " and " << rest;
          ASSERT_EQ(compressed(raw, element, made.size()), made) << "it needs no more room than it takes";
          ASSERT_TRUE(compressed(raw, element, made.size() - 1).empty());
          for (const size_t other : {raw.size() - 1, raw.size() + 1, raw.size() + 4096}) {
            Message wrong(other);  // the frame knows how long it is to be; here no byte is read or written elsewhere
            (void)decompresses(made, wrong);
          }
        }
}

TEST_F(Delta, refuses_what_it_did_not_make) {
  const Message raw = message_of<float>(1000, wave);
  const Message made = compressed(raw, 4);
  ASSERT_FALSE(made.empty());
  Message back(raw.size());
  for (size_t length = 0; length < made.size(); ++length) {
    const Message cut(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_FALSE(decompresses(cut, back)) << length;
  }
  Message longer = made;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decompresses(longer, back));
  for (const int size : {0, 1, 3, 5, 16, 0x80}) {
    Message wrong = made;
    wrong[0] = static_cast<std::byte>(size);
    EXPECT_FALSE(decompresses(wrong, back)) << "elements of " << size;
  }
  Message four(8);  // elements of 2 bytes, in one group: of codes 0 to 8
  for (const auto& [code, bytes] : {std::pair{8, 8}, {9, 9}, {15, 8}}) {
    Message group(3 + static_cast<size_t>(bytes));
    group[0] = std::byte{2};
    group[2] = static_cast<std::byte>(code);
    EXPECT_EQ(decompresses(group, four), code == 8) << "a group of code " << code;
  }
  Message order = made;
  order[1] = std::byte{3};
  EXPECT_FALSE(decompresses(order, back)) << "third differences";
  std::mt19937 random(9);
  for (int round = 0; round < 20000;
       ++round) {  // for any content no byte outside is read or written, which a sanitizer would report
    Message any(random() % 600);
    for (std::byte& each : any)
      each = static_cast<std::byte>(random() >> 7);
    if (!any.empty())
      any[0] = static_cast<std::byte>(2U << random() % 3);
    Message to(random() % 2000);
    (void)decompresses(any, to);
  }
}

}  // namespace
}  // namespace windrow
