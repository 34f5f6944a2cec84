// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/message.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "../stride.hpp"
#include "exchange/view.hpp"
#include "layout/parse.hpp"
#include "plan/plan.hpp"

namespace windrow {
namespace {

constexpr int64_t k_message_bytes = int64_t{512} << 10;

Window window_of(Extent bytes) {
  Window window(bytes);
  window.message_bytes = k_message_bytes;
  return window;
}

std::vector<Message> messages_of(std::span<const Item> items, const Window& window) {
  std::vector<Message> messages;
  for (Message message = first_message(items, window); message.bytes > 0;
       message = message_after(items, window, message))
    messages.push_back(message);
  return messages;
}

Pieces irregular(int64_t count, unsigned seed, uint64_t most_apart = 4000) {
  std::mt19937_64 random(seed);
  PiecesBuilder builder;
  int64_t file = 0, memory = 0;
  for (int64_t i = 0; i < count; ++i) {
    file += static_cast<int64_t>(random() % 3 == 0 ? random() % most_apart : 1) * 4;
    const auto length = static_cast<int64_t>(4 * (1 + random() % 40));
    builder.add(Piece{file, memory, length});
    file += length;
    memory += length;
  }
  return builder.take();
}

// What is packed message by message and spread at the other side is what the window is to hold; there are as few
// messages as can be, none much shorter.
void expect_whole(std::span<const Item> items, const Window& window, int64_t slot_bytes) {
  std::vector<std::byte> want(static_cast<size_t>(slot_bytes), std::byte{0xee}),
      got = want, packed(static_cast<size_t>(window.message_bytes));
  const int64_t all = place_in_slot(items, window, want.data());
  std::vector<std::byte> description;
  describe(items, {0, INT64_MAX / 4}, description);
  const View view = parse_description(description).value();
  int64_t bytes = 0;
  Message theirs = first_message(view.span(), window);
  const std::vector<Message> messages = messages_of(items, window);
  for (const Message& message : messages) {
    ASSERT_LE(message.bytes, window.message_bytes);
    ASSERT_EQ(theirs.bytes, message.bytes) << "both sides cut alike";
    ASSERT_EQ(pack_message(items, message.part, packed.data()), message.bytes);
    ASSERT_EQ(spread_to_slot(view, theirs.part, packed.data(), got.data()), message.bytes);
    theirs = message_after(view.span(), window, theirs);
    bytes += message.bytes;
    EXPECT_GT(message.bytes, messages.size() > 1 ? window.message_bytes / 3 : 0);
  }
  EXPECT_EQ(theirs.bytes, 0);
  EXPECT_EQ(bytes, all);
  EXPECT_EQ(static_cast<int64_t>(messages.size()), ceil_divide(all, window.message_bytes))
      << "where no byte is asked for twice";
  EXPECT_TRUE(got == want);
}

std::vector<std::byte> numbers(int64_t bytes) {
  std::vector<std::byte> memory(static_cast<size_t>(bytes));
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>(i * 31 + (i >> 9));
  return memory;
}

TEST(Message, is_cut_where_a_window_holds_much) {
  for (const int64_t count : {1, 5'000, 60'000}) {
    const Pieces pieces = irregular(count, static_cast<unsigned>(count));
    std::vector<std::byte> memory = numbers(total_bytes(pieces));
    const std::vector<Item> items{make_item(pieces, 12, memory.data(), 1)};
    const int64_t end = items[0].hull.end;
    expect_whole(items, window_of({0, end}), end);
    expect_whole(items, window_of({end / 3 + 1, end / 2 + 3}), end);
  }
}

TEST(Message, holds_all_variables_of_its_bytes) {
  const Pieces pieces = irregular(12'000, 7);
  const int64_t apart = hull(pieces).end + 20;
  std::vector<std::byte> memory = numbers(total_bytes(pieces));
  std::vector<Item> items;
  for (int64_t i = 0; i < 5; ++i)
    items.push_back(make_item(pieces, i * apart, memory.data(), i == 3 ? 4 : 1));
  expect_whole(items, window_of({0, 5 * apart}), 5 * apart);
  expect_whole(items, window_of({apart - 9, 3 * apart + 1001}), 5 * apart);
}

TEST(Message, may_be_one_unbroken_piece) {
  const int64_t bytes = 5 * k_message_bytes + 17;
  std::vector<std::byte> memory = numbers(bytes);
  PiecesBuilder builder;
  builder.add(Piece{0, 0, bytes});
  const Pieces piece = builder.take();
  const std::vector<Item> items{make_item(piece, 100, memory.data(), 1)};
  expect_whole(items, window_of({0, bytes + 200}), bytes + 200);
  for (const Message& message : messages_of(items, window_of({0, bytes + 200}))) {
    const Extent held = intersect(items[0].hull, message.part.reach());
    EXPECT_EQ(held.size(), message.bytes);
  }
}

// Stripes of 64 KiB to 1 MiB, dealt to three writers: windows have many parts, and messages end inside of them.
TEST(Message, is_cut_where_windows_are_dealt) {
  for (const char* const text : {"stripe=1MiB,count=4", "stripe=64KiB,count=3"}) {
    const PlanLimits limits{.buffer_bytes = int64_t{4} << 20,
                            .unit = 65536,
                            .writers = 3,
                            .layout = std::make_shared<const StorageLayout>(parse_mock(text).value())};
    const Pieces pieces = irregular(60'000, 11, 8);
    const Extent held = hull(pieces);
    Pattern pattern{.regions = {{0, held.end}}};
    pattern.bytes = held.end;
    pattern.pieces = extent_count(pieces);
    const Plan plan =
        make_plan(Strategy{.domains = Domains::target}, pattern, {.ranks = 3, .host_roots = {0, 1, 2}}, limits).value();
    ASSERT_TRUE(plan.deal != nullptr);
    std::vector<std::byte> memory = numbers(total_bytes(pieces));
    const std::vector<Item> items{make_item(pieces, 0, memory.data(), 1)};
    int64_t longest = 0;
    for (size_t domain = 0; domain < plan.domains.size(); ++domain) {
      const Windows windows = windows_of(plan, domain);
      for (int64_t i = 0; i < windows.count(); ++i) {
        longest = std::max(longest, bytes_in(std::span<const Item>(items), windows.window(i)));
        if (i % windrow_test::stride() == 0)
          expect_whole(items, windows.window(i), windows.slot_bytes());
      }
    }
    EXPECT_GT(longest, plan.message_bytes);
  }
}

// A rank reads the same bytes many times in one flush. Then no cut may be possible, and a message is as long as
// necessary.
TEST(Message, ends_where_one_byte_is_asked_for_too_often) {
  PiecesBuilder builder;
  builder.add(Piece{5, 0, 3});
  const Pieces piece = builder.take();
  std::vector<std::byte> memory(3);
  const std::vector<Item> items(static_cast<size_t>(k_message_bytes) + 1, make_item(piece, 0, memory.data(), 1));
  const std::vector<Message> messages = messages_of(items, window_of({0, 64}));
  ASSERT_EQ(messages.size(), 3U);
  for (const Message& message : messages)
    EXPECT_EQ(message.bytes, k_message_bytes + 1) << "also where nobody asks for the bytes before";
}

}  // namespace
}  // namespace windrow
