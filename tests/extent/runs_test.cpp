// SPDX-License-Identifier: BSD-3-Clause
#include "extent/runs.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "model.hpp"

namespace windrow {
namespace {

using test::broken_invariant;
using test::byte_map;
using test::ByteMap;
using test::Random;
using test::random_list;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t k_gib = int64_t{1} << 30;
constexpr Extent k_everything{0, std::numeric_limits<int64_t>::max()};

TEST(RunBuilder, merges_neighbours_and_compresses_regular_sequences) {
  RunBuilder builder;
  for (int64_t i = 0; i < 4; ++i) builder.add(Piece{i * 10, i * 3, 3});  // contiguous in memory, strided in the file
  builder.add(Piece{33, 12, 2});                                         // grows the last piece: it leaves the run
  for (int64_t i = 0; i < 3; ++i) builder.add(Piece{100 + i * 4, 40 + i * 4, 4});  // one piece
  EXPECT_THAT(builder.take(), ElementsAre(windrow::Run{0, 0, 3, 10, 3, 3}, windrow::Run{30, 9, 5, 0, 0, 1},
                                          windrow::Run{100, 40, 12, 0, 0, 1}));
  EXPECT_THAT(builder.take(), IsEmpty());
}

TEST(RunBuilder, pieces_that_grow_still_form_one_run) {
  RunBuilder builder;
  for (int64_t i = 0; i < 100; ++i) {
    builder.add(Piece{i * 10, i * 20, 2});
    builder.add(Piece{i * 10 + 2, i * 20 + 2, 3});
  }
  EXPECT_THAT(builder.take(), ElementsAre(windrow::Run{0, 0, 5, 10, 20, 100}));
}

TEST(RunBuilder, takes_whole_runs_as_if_by_pieces) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    const RunList list = random_list(random);
    RunBuilder by_run, by_piece;
    for (const windrow::Run& run : list) by_run.add(run);
    for_each_piece(list, [&](const Piece& piece) { by_piece.add(piece); });
    const RunList runs = by_run.take();
    ASSERT_STREQ(broken_invariant(runs), "");
    ASSERT_EQ(byte_map(runs), byte_map(list));
    ASSERT_EQ(extent_count(runs), extent_count(by_piece.take()));
  }
}

TEST(RunsFromPieces, later_pieces_win) {
  EXPECT_THAT(runs_from_pieces({{0, 100, 10}, {4, 200, 2}}),
              ElementsAre(windrow::Run{0, 100, 4, 0, 0, 1}, windrow::Run{4, 200, 2, 0, 0, 1},
                          windrow::Run{6, 106, 4, 0, 0, 1}));
  EXPECT_THAT(runs_from_pieces({{4, 200, 2}, {0, 100, 10}}), ElementsAre(windrow::Run{0, 100, 10, 0, 0, 1}));
  EXPECT_THAT(runs_from_pieces({}), IsEmpty());
}

// Overlaps at will: the model is a map that later pieces overwrite.
TEST(RunsFromPieces, agrees_with_the_model) {
  Random random(2);
  for (int round = 0; round < 5000; ++round) {
    std::vector<Piece> pieces;
    ByteMap expected;
    const int64_t width = random(1, 30);
    for (int64_t i = random(0, 12); i > 0; --i) {
      const Piece piece{random(0, 60), random(0, 1000), random(0, width)};
      pieces.push_back(piece);
      for (int64_t k = 0; k < piece.length; ++k) expected[piece.file + k] = piece.memory + k;
    }
    const RunList list = runs_from_pieces(pieces);
    ASSERT_STREQ(broken_invariant(list), "");
    ASSERT_EQ(byte_map(list), expected);
  }
}

TEST(RunsFromRuns, agrees_with_the_model) {
  Random random(3);
  for (int round = 0; round < 5000; ++round) {
    std::vector<windrow::Run> runs;
    ByteMap expected;
    for (int64_t i = random(0, 5); i > 0; --i) {
      for (const windrow::Run& run : shift(random_list(random), random(0, 300), random(0, 9))) {
        runs.push_back(run);
        for (const auto& [file, memory] : byte_map({run})) expected[file] = memory;
      }
    }
    const RunList list = runs_from_runs(runs);
    ASSERT_STREQ(broken_invariant(list), "");
    ASSERT_EQ(byte_map(list), expected);
  }
}

TEST(RunsFromRuns, keeps_runs_whole_that_meet_no_other) {
  // 4e9 pieces in two runs: walking them would not end in time.
  const windrow::Run first{0, 0, 1, 3, 1, 2'000'000'000};
  const windrow::Run second{10'000'000'000, 50, 2, 5, 2, 2'000'000'000};
  EXPECT_EQ(extent_count(runs_from_runs({second, first})), 4'000'000'000);
  EXPECT_LE(runs_from_runs({second, first}).size(), 6u);
}

TEST(Window, every_function_agrees_with_the_model) {
  Random random(4);
  for (int round = 0; round < 20000; ++round) {
    const RunList list = random_list(random);
    const ByteMap whole = byte_map(list);
    const int64_t begin = random(0, 120);
    const Extent window{begin, begin + random(0, 120)};
    const ByteMap expected(whole.lower_bound(window.begin), whole.lower_bound(window.end));
    ByteMap visited;
    int64_t last = -1;
    for_each_piece(list, window, [&](const Piece& piece) {
      ASSERT_GT(piece.length, 0);
      ASSERT_GT(piece.file, last);
      last = piece.file;
      for (int64_t k = 0; k < piece.length; ++k) visited[piece.file + k] = piece.memory + k;
    });
    ASSERT_EQ(visited, expected);
    ASSERT_EQ(bytes_within(list, window), static_cast<int64_t>(expected.size()));
    const RunList clipped = clip(list, window);
    ASSERT_STREQ(broken_invariant(clipped), "");
    ASSERT_EQ(byte_map(clipped), expected);
  }
}

TEST(Measures, agree_with_the_model) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const RunList list = random_list(random);
    const ByteMap map = byte_map(list);
    ASSERT_EQ(total_bytes(list), static_cast<int64_t>(map.size()));
    const Extent all = map.empty() ? Extent{} : Extent{map.begin()->first, map.rbegin()->first + 1};
    ASSERT_EQ(hull(list), all);
    int64_t end = 0;
    for (const auto& [file, memory] : map) end = std::max(end, memory + 1);
    ASSERT_EQ(memory_end(list), end);
    std::vector<Extent> extents;
    for (const auto& [file, memory] : map) {
      if (!extents.empty() && extents.back().end == file)
        ++extents.back().end;
      else
        extents.push_back({file, file + 1});
    }
    ASSERT_EQ(contiguous_extents(list), extents);
  }
}

TEST(Algebra, intersect_and_subtract_agree_with_the_model) {
  Random random(6);
  for (int round = 0; round < 20000; ++round) {
    const RunList a = random_list(random);
    const RunList b = random_list(random);
    const ByteMap map_b = byte_map(b);
    ByteMap both, only;
    for (const auto& entry : byte_map(a)) (map_b.contains(entry.first) ? both : only).insert(entry);
    const RunList intersection = intersect(a, b);
    const RunList difference = subtract(a, b);
    ASSERT_STREQ(broken_invariant(intersection), "");
    ASSERT_STREQ(broken_invariant(difference), "");
    ASSERT_EQ(byte_map(intersection), both);
    ASSERT_EQ(byte_map(difference), only);
  }
}

TEST(Algebra, coverage_agrees_with_the_model) {
  Random random(7);
  for (int round = 0; round < 5000; ++round) {
    std::vector<RunList> lists;
    for (int64_t i = random(0, 4); i > 0; --i) lists.push_back(random_list(random));
    std::vector<const RunList*> pointers;
    std::map<int64_t, bool> expected;
    for (const RunList& list : lists) {
      pointers.push_back(&list);
      for (const auto& [file, memory] : byte_map(list)) expected[file] = true;
    }
    const RunList all = coverage(pointers);
    ASSERT_STREQ(broken_invariant(all), "");
    std::map<int64_t, bool> covered;
    for (const auto& [file, memory] : byte_map(all)) covered[file] = true;
    ASSERT_EQ(covered, expected);
    // Maximal: nothing to merge is left.
    ASSERT_EQ(static_cast<int64_t>(contiguous_extents(all).size()), extent_count(all));
  }
}

TEST(Large, offsets_beyond_2_and_4_gib) {
  const RunList list{{3 * k_gib, 0, k_gib, 2 * k_gib, k_gib, 1'000'000}};
  EXPECT_EQ(total_bytes(list), 1'000'000 * k_gib);
  EXPECT_EQ(bytes_within(list, {0, 4 * k_gib}), k_gib);
  EXPECT_EQ(bytes_within(list, {4 * k_gib - 1, 5 * k_gib + 7}), 8);
  EXPECT_EQ(bytes_within(list, k_everything), 1'000'000 * k_gib);
  std::vector<Piece> pieces;
  for_each_piece(list, {4 * k_gib - 1, 7 * k_gib + 1}, [&](const Piece& piece) { pieces.push_back(piece); });
  EXPECT_THAT(pieces, ElementsAre(Piece{4 * k_gib - 1, k_gib - 1, 1}, Piece{5 * k_gib, k_gib, k_gib},
                                  Piece{7 * k_gib, 2 * k_gib, 1}));
  EXPECT_EQ(clip(list, k_everything), list);
  const Extent odd{3 * k_gib + 5, 1'000'000 * k_gib + 9};
  EXPECT_EQ(total_bytes(clip(list, odd)), bytes_within(list, odd));
}

// 10^12 pieces: cutting them must not depend on their number.
TEST(Large, cutting_a_run_is_arithmetic) {
  const RunList list{{0, 0, 4, 1000, 4, 1'000'000'000'000}};
  EXPECT_EQ(bytes_within(list, {0, 500'000'000'000'000}), 2'000'000'000'000);
  EXPECT_EQ(extent_count(clip(list, {2, 999'000'000'000'000})), 999'000'000'000);
  EXPECT_EQ(total_bytes(intersect(list, {{1000, 0, 1'000'000'000'000, 0, 0, 1}})), 4'000'000'000);
  EXPECT_EQ(total_bytes(subtract(list, {{1000, 0, 4, 0, 0, 1}})), 4 * (1'000'000'000'000 - 1));
}

}  // namespace
}  // namespace windrow
