// SPDX-License-Identifier: BSD-3-Clause
#include "extent/algebra.hpp"

#include <gmock/gmock.h>

#include "../stride.hpp"
#include "extent/sweep.hpp"
#include "model.hpp"

namespace windrow {
namespace {

using test::broken_invariant;
using test::byte_map;
using test::ByteMap;
using test::contiguous_extents;
using test::pieces_of;
using test::Random;
using test::random_list;
using test::random_nests;
using test::runs_of;
using testing::ElementsAre;
using testing::IsEmpty;

Pieces from_nests(const std::vector<Nest>& nests) {
  return pieces_from_nests(nests.size(), [&](size_t i) { return nests[i]; });
}

Pieces from_pieces(const std::vector<Piece>& pieces) {
  return pieces_from_nests(pieces.size(), [&](size_t i) {
    return Nest(windrow::Run{pieces[i].file, pieces[i].memory, pieces[i].length, 0, 0, 1});
  });
}

TEST(FromNests, later_pieces_win) {
  EXPECT_THAT(runs_of(from_pieces({{0, 100, 10}, {4, 200, 2}})),
              ElementsAre(windrow::Run{0, 100, 4, 0, 0, 1}, windrow::Run{4, 200, 2, 0, 0, 1},
                          windrow::Run{6, 106, 4, 0, 0, 1}));
  EXPECT_THAT(runs_of(from_pieces({{4, 200, 2}, {0, 100, 10}})), ElementsAre(windrow::Run{0, 100, 10, 0, 0, 1}));
  EXPECT_THAT(runs_of(from_pieces({})), IsEmpty());
}

// Overlaps at will: the model is a map that later pieces overwrite.
TEST(FromNests, agrees_with_the_model_for_pieces) {
  Random random(2);
  for (int round = 0; round < 5000; round += windrow_test::stride()) {
    std::vector<Piece> pieces;
    ByteMap expected;
    const int64_t width = random(1, 30);
    for (int64_t i = random(0, 12); i > 0; --i) {
      const Piece piece{random(0, 60), random(0, 1000), random(0, width)};
      pieces.push_back(piece);
      for (int64_t k = 0; k < piece.length; ++k)
        expected[piece.file + k] = piece.memory + k;
    }
    const Pieces list = from_pieces(pieces);
    ASSERT_STREQ(broken_invariant(list), "");
    ASSERT_EQ(byte_map(list), expected);
  }
}

TEST(FromNests, agrees_with_the_model) {
  Random random(3);
  for (int round = 0; round < 5000; round += windrow_test::stride()) {
    std::vector<Nest> nests;
    ByteMap expected;
    for (int64_t i = random(0, 5); i > 0; --i)
      for (const Nest& nest : random_nests(random, random(0, 300), random(0, 6))) {
        nests.push_back(nest);
        test::put_into(expected, nest);
      }
    const Pieces list = from_nests(nests);
    ASSERT_STREQ(broken_invariant(list), "");
    ASSERT_EQ(byte_map(list), expected);
  }
}

TEST(FromNests, keeps_nests_whole_that_meet_no_other) {
  // 4e9 pieces in two runs: walking them would not end in time.
  const Nest first(windrow::Run{0, 0, 1, 3, 1, 2'000'000'000});
  const Nest second(windrow::Run{10'000'000'000, 50, 2, 5, 2, 2'000'000'000});
  EXPECT_EQ(extent_count(from_nests({second, first})), 4'000'000'000);
  EXPECT_LE(runs_of(from_nests({second, first})).size(), 6u);
}

TEST(Subtract, agrees_with_the_model) {
  Random random(6);
  for (int round = 0; round < 20000; round += windrow_test::stride()) {
    const Pieces a = random_list(random), b = random_list(random);
    const ByteMap map_b = byte_map(b);
    ByteMap only;
    for (const auto& entry : byte_map(a))
      if (!map_b.contains(entry.first))
        only.insert(entry);
    const Pieces difference = subtract(a, b);
    ASSERT_STREQ(broken_invariant(difference), "");
    ASSERT_EQ(byte_map(difference), only);
  }
}

TEST(Subtract, of_long_lists) {
  Random random(8);
  for (int round = 0; round < 40; round += windrow_test::stride()) {
    const Pieces a = pieces_of(random_nests(random, 0, random(0, 1) == 0 ? 5 : 500));
    const Pieces b = pieces_of(random_nests(random, 0, random(0, 1) == 0 ? 5 : 500));
    const ByteMap map_b = byte_map(b);
    ByteMap only;
    for (const auto& entry : byte_map(a))
      if (!map_b.contains(entry.first))
        only.insert(entry);
    ASSERT_EQ(byte_map(subtract(a, b)), only);
  }
}

TEST(Subtract, from_10_to_the_12_pieces_is_arithmetic) {
  const Pieces list = pieces_of({windrow::Run{0, 0, 4, 1000, 4, 1'000'000'000'000}});
  EXPECT_EQ(total_bytes(subtract(list, pieces_of({windrow::Run{1000, 0, 4, 0, 0, 1}}))), 4 * (1'000'000'000'000 - 1));
  EXPECT_EQ(subtract(list, Pieces()).store(), list.store()) << "the very same list";
}

TEST(Coverage, agrees_with_the_model) {
  Random random(7);
  for (int round = 0; round < 5000; round += windrow_test::stride()) {
    std::vector<Pieces> lists;
    std::map<int64_t, bool> expected;
    for (int64_t i = random(0, 4); i > 0; --i)
      lists.push_back(pieces_of(random_nests(random, random(0, 90), random(0, round % 50 == 0 ? 200 : 6))));
    const std::vector<PieceView> views(lists.begin(), lists.end());
    for (const Pieces& list : lists)
      for (const auto& [file, memory] : byte_map(list))
        expected[file] = true;
    const Pieces all = coverage(views);
    ASSERT_STREQ(broken_invariant(all), "");
    std::map<int64_t, bool> covered;
    for (const auto& [file, memory] : byte_map(all))
      covered[file] = true;
    ASSERT_EQ(covered, expected);
    // Maximal: nothing to merge is left.
    ASSERT_EQ(static_cast<int64_t>(contiguous_extents(all).size()), extent_count(all));
  }
}

TEST(Coverage, of_lists_at_their_places_and_scales) {
  Random random(9);
  for (int round = 0; round < 2000; round += windrow_test::stride()) {
    std::vector<Pieces> lists;
    std::vector<PlacedView> placed;
    std::map<int64_t, bool> expected, covered;
    for (int64_t i = random(0, 5); i > 0; --i) {
      lists.push_back(random_list(random));
      const int64_t factor = random(1, 3), base = random(0, 3) * 100;
      placed.push_back({PieceView(lists.back(), factor), base});
      for (const auto& [file, memory] : byte_map(placed.back().pieces))
        expected[file + base] = true;
    }
    int64_t last = -1;
    for_each_covered_extent(placed, [&](Extent extent) {
      ASSERT_GT(extent.begin, last);
      ASSERT_GT(extent.end, extent.begin);
      for (int64_t at = extent.begin; at < extent.end; ++at)
        covered[at] = true;
      last = extent.end;
    });
    ASSERT_EQ(covered, expected);
  }
}

// Every range that two lists or more hold, with all of them.
TEST(Shared, ranges_agree_with_the_model) {
  Random random(10);
  for (int round = 0; round < 3000; round += windrow_test::stride()) {
    std::vector<Pieces> lists;
    for (int64_t i = random(0, 4); i > 0; --i)
      lists.push_back(pieces_of(random_nests(random, random(0, 90), random(0, round % 50 == 0 ? 200 : 6))));
    const std::vector<PieceView> views(lists.begin(), lists.end());
    std::map<int64_t, std::vector<size_t>> expected, found;
    for (size_t i = 0; i < lists.size(); ++i)
      for (const auto& [file, memory] : byte_map(lists[i]))
        expected[file].push_back(i);
    std::erase_if(expected, [](const auto& entry) { return entry.second.size() < 2; });
    for_each_shared(views, [&](Extent range, std::span<const size_t> sharing) {
      std::vector<size_t> sorted(sharing.begin(), sharing.end());
      std::sort(sorted.begin(), sorted.end());
      for (int64_t at = range.begin; at < range.end; ++at)
        found[at] = sorted;
    });
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace windrow
