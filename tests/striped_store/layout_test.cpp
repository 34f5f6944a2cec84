// SPDX-License-Identifier: BSD-3-Clause
#include "layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "lov.hpp"

namespace striped_store {
namespace {

using ::testing::ElementsAre;

constexpr int64_t k_kib = 1024;
constexpr int64_t k_mib = 1024 * k_kib;

Component part(int64_t begin, int64_t end, int64_t stripe, int count) {
  return {.begin = begin, .end = end, .stripe = stripe, .count = count, .first = k_any_target, .targets = {}};
}

Layout three_parts() {
  return {.components = {part(0, k_mib, 64 * k_kib, 1), part(k_mib, 7 * k_mib, k_mib, 3),
                         part(7 * k_mib, k_end_of_file, k_mib, k_all_targets)},
          .pool = {}};
}

TEST(Layout, targets_are_taken_in_turn) {
  uint64_t next = 3;
  const Layout layout = placed(three_parts(), 5, next);
  EXPECT_THAT(layout.components[0].targets, ElementsAre(3));
  EXPECT_THAT(layout.components[1].targets, ElementsAre(4, 0, 1));
  EXPECT_THAT(layout.components[2].targets, ElementsAre(2, 3, 4, 0, 1));
  EXPECT_EQ(next, 12u);
}

// Each byte by itself: stripes of an object follow each other in it, and no two bytes have the same place.
TEST(Layout, requests_are_cut_as_their_bytes_are) {
  uint64_t next = 0;
  const Layout layout = placed(three_parts(), 4, next);
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    const auto offset = static_cast<int64_t>(random() % static_cast<uint64_t>(20 * k_mib));
    const auto bytes = static_cast<int64_t>(random() % static_cast<uint64_t>(3 * k_mib)) + 1;
    int64_t at = offset;
    for (const Piece& piece : cut(layout, offset, bytes)) {
      const Component& component = layout.components[static_cast<size_t>(piece.component)];
      ASSERT_TRUE(at >= component.begin && at + piece.bytes <= component.end);
      ASSERT_EQ(piece.stripe, at / component.stripe);
      ASSERT_EQ(piece.stripe, (at + piece.bytes - 1) / component.stripe);
      ASSERT_EQ(piece.target, component.targets[static_cast<size_t>(piece.stripe % component.count)]);
      ASSERT_EQ(piece.begin, at / (component.stripe * component.count) * component.stripe + at % component.stripe);
      at += piece.bytes;
    }
    ASSERT_EQ(at, offset + bytes);
    int64_t sum = 0;
    for (const ObjectRequest& request : by_object(cut(layout, offset, bytes)))
      sum += request.bytes;
    ASSERT_EQ(sum, bytes);
  }
}

TEST(Layout, pieces_of_a_request_in_one_object_follow_each_other) {
  uint64_t next = 0;
  const Layout layout = placed({.components = {part(0, k_end_of_file, 64 * k_kib, 3)}, .pool = {}}, 3, next);
  const std::vector<Piece> pieces = cut(layout, 100, k_mib);
  for (const ObjectRequest& request : by_object(pieces)) {
    int64_t at = request.begin;
    for (const Piece& piece : pieces) {
      if (piece.object != request.object)
        continue;
      EXPECT_EQ(piece.begin, at);
      at += piece.bytes;
    }
    EXPECT_EQ(at, request.begin + request.bytes);
  }
}

TEST(Layout, mistakes) {
  EXPECT_EQ(mistake_in(three_parts(), 3), "");
  EXPECT_NE(mistake_in(three_parts(), 2), "");
  EXPECT_NE(mistake_in({}, 2), "");
  EXPECT_NE(mistake_in({.components = {part(0, k_mib, k_mib, 1)}, .pool = {}}, 2), "");
  EXPECT_NE(mistake_in({.components = {part(k_mib, k_end_of_file, k_mib, 1)}, .pool = {}}, 2), "");
  EXPECT_NE(mistake_in({.components = {part(0, k_end_of_file, 0, 1)}, .pool = {}}, 2), "");
  for (const int64_t end : {k_mib / 2, k_mib * 3 / 2})
    EXPECT_NE(
        mistake_in({.components = {part(0, end, k_mib, 1), part(end, k_end_of_file, 64 * k_kib, 1)}, .pool = {}}, 2),
        "")
        << "it ends inside a stripe";
  EXPECT_NE(mistake_in({.components = {part(0, k_end_of_file, 4096 * k_mib, 1)}, .pool = {}}, 2), "");
  EXPECT_NE(mistake_in({.components = {part(0, k_end_of_file, k_mib, 0)}, .pool = {}}, 2), "");
}

TEST(Lov, is_read_as_it_was_written) {
  uint64_t next = 2;
  Layout plain{.components = {part(0, k_end_of_file, 192 * k_kib, 2)}, .pool = {}};
  Layout pooled = plain;
  pooled.pool = "of fifteen byte";
  for (const Layout& layout : {plain, pooled, three_parts(), placed(three_parts(), 4, next), placed(pooled, 4, next)}) {
    const std::optional<Layout> read = layout_of_lov(lov_of(layout, 17), Component{});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->pool, layout.pool);
    Layout again = *read;
    uint64_t unused = 0;
    if (!layout.components.front().targets.empty())
      again = placed(again, 4, unused);
    EXPECT_EQ(text_of(again), text_of(layout));
  }
}

// Arbitrary input: it is refused, or it is a layout, which mistake_in() checks.
TEST(Lov, damaged_ones_do_no_harm) {
  uint64_t next = 0;
  const std::string sound = lov_of(placed(three_parts(), 4, next), 17);
  std::mt19937_64 random(2);
  for (int turn = 0; turn < 20000; ++turn) {
    std::string damaged = sound.substr(0, turn % 3 == 0 ? random() % (sound.size() + 1) : sound.size());
    for (uint64_t change = random() % 4; change > 0 && !damaged.empty(); --change)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::optional<Layout> layout = layout_of_lov(damaged, Component{});
    if (!layout || !mistake_in(*layout, 4).empty())
      continue;
    EXPECT_FALSE(cut(placed(*layout, 4, next), 0, k_mib).empty());
  }
}

}  // namespace
}  // namespace striped_store
