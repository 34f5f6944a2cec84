// SPDX-License-Identifier: BSD-3-Clause
#include "extent/pieces.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>

#include "../stride.hpp"
#include "model.hpp"

namespace windrow {
namespace {

using test::broken_invariant;
using test::byte_map;
using test::ByteMap;
using test::pieces_of;
using test::put_into;
using test::Random;
using test::random_list;
using test::random_nests;
using test::runs_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t k_gib = int64_t{1} << 30;
constexpr Extent k_everything{0, std::numeric_limits<int64_t>::max()};

TEST(PiecesBuilder, merges_neighbours_and_compresses_regular_sequences) {
  PiecesBuilder builder;
  for (int64_t i = 0; i < 4; ++i)
    builder.add(Piece{i * 10, i * 3, 3});  // contiguous in memory, strided in the file
  builder.add(Piece{33, 12, 2});           // grows the last piece: it leaves the run
  for (int64_t i = 0; i < 3; ++i)
    builder.add(Piece{100 + i * 4, 40 + i * 4, 4});  // one piece
  EXPECT_THAT(runs_of(builder.take()), ElementsAre(windrow::Run{0, 0, 3, 10, 3, 3}, windrow::Run{30, 9, 5, 0, 0, 1},
                                                   windrow::Run{100, 40, 12, 0, 0, 1}));
  EXPECT_TRUE(builder.take().empty());
}

TEST(PiecesBuilder, pieces_that_grow_still_form_one_run) {
  PiecesBuilder builder;
  for (int64_t i = 0; i < 100; ++i) {
    builder.add(Piece{i * 10, i * 20, 2});
    builder.add(Piece{i * 10 + 2, i * 20 + 2, 3});
  }
  EXPECT_THAT(runs_of(builder.take()), ElementsAre(windrow::Run{0, 0, 5, 10, 20, 100}));
}

TEST(PiecesBuilder, takes_whole_runs_and_nests_as_if_by_pieces) {
  Random random(1);
  for (int round = 0; round < 5000; round += windrow_test::stride()) {
    const std::vector<Nest> nests = random_nests(random, random(0, 20), random(0, 6));
    PiecesBuilder by_run, by_piece;
    for (const Nest& nest : nests)
      for_each_run(nest, [&](const windrow::Run& run) {
        by_run.add(run);
        for_each_piece_of(run, [&](const Piece& piece) { by_piece.add(piece); });
      });
    const ByteMap expected = byte_map(nests);
    const Pieces runs = by_run.take(), pieces = by_piece.take(), whole = pieces_of(nests);
    for (const Pieces& list : {runs, pieces, whole}) {
      ASSERT_STREQ(broken_invariant(list), "");
      ASSERT_EQ(byte_map(list), expected);
    }
    ASSERT_EQ(extent_count(runs), extent_count(pieces));
  }
}

void expect_window(PieceView list, const ByteMap& whole, Extent window) {
  const ByteMap expected(whole.lower_bound(window.begin), whole.lower_bound(window.end));
  ByteMap visited, nested;
  int64_t last = -1;
  for_each_piece(list, window, [&](const Piece& piece) {
    ASSERT_GT(piece.length, 0);
    ASSERT_GT(piece.file, last);
    last = piece.file;
    for (int64_t k = 0; k < piece.length; ++k)
      visited[piece.file + k] = piece.memory + k;
  });
  ASSERT_EQ(visited, expected);
  for_each_nest(list, window, [&](const Nest& nest) { test::put_into(nested, nest); });
  ASSERT_EQ(nested, expected);
  ASSERT_EQ(bytes_within(list, window), static_cast<int64_t>(expected.size()));
  if (!list.empty() && window.begin < hull(list).end) {
    ASSERT_EQ(next_offset(list, window.begin), whole.lower_bound(window.begin)->first);
  }
}

// Nests that are reported as disjoint are disjoint; two disjoint blocks of one array are reported as such.
TEST(Nests, that_have_no_byte_in_common_are_told_apart) {
  std::mt19937 random(57);
  const auto within = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1));
  };
  const auto of_any_strides = [&] {
    Nest nest(windrow::Run{within(0, 60), 0, within(1, 6), 0, 0, 1});
    for (int64_t levels = within(0, 3), span = nest.run.length; levels > 0; --levels) {
      const int64_t count = within(1, 4), stride = span + within(0, 9);
      nest.repeat(count, stride, 1000 * stride);
      span += (count - 1) * stride;
    }
    return nest;
  };
  int apart = 0, met = 0;
  for (int round = 0; round < 20'000; round += windrow_test::stride()) {
    const bool blocks = round % 2 == 0;
    Nest nests[2];
    const int64_t shape[3] = {within(1, 6), within(1, 7), within(1, 9)};
    for (Nest& nest : nests) {
      if (!blocks) {
        nest = of_any_strides();
        continue;
      }
      int64_t stride = 1, memory = 1, file = 0;
      std::array<int64_t, 3> start{}, count{};
      for (size_t d = 0; d < 3; ++d) {
        start[d] = within(0, shape[d] - 1);
        count[d] = within(1, shape[d] - start[d]);
        file = file * shape[d] + start[d];
      }
      nest = Nest(windrow::Run{file, 0, 1, 0, 0, 1});
      for (size_t d = 3; d-- > 0; stride *= shape[d], memory *= count[d])
        nest.repeat(count[d], stride, memory);
    }
    ByteMap one, other;
    put_into(one, nests[0]);
    put_into(other, nests[1]);
    const bool meet = std::any_of(one.begin(), one.end(), [&](const auto& byte) { return other.contains(byte.first); });
    if (meet || blocks) {
      ASSERT_EQ(may_meet(nests[0], nests[1]), meet) << "round " << round;
    }
    ASSERT_EQ(may_meet(nests[0], nests[1]), may_meet(nests[1], nests[0])) << "round " << round;
    meet ? ++met : ++apart;
  }
  EXPECT_GT(apart * windrow_test::stride(), 4000);
  EXPECT_GT(met * windrow_test::stride(), 4000);
}

TEST(Window, every_function_agrees_with_the_model) {
  Random random(4);
  for (int round = 0; round < 20000; round += windrow_test::stride()) {
    const Pieces list = random(0, 1) == 0 ? random_list(random) : with_runs(random_list(random));
    const int64_t begin = random(-5, 120);
    expect_window(list, byte_map(list), {begin, begin + random(0, 120)});
    if (HasFatalFailure())
      return;
  }
}

TEST(Window, of_a_list_with_checkpoints_at_any_scale) {
  Random random(5);
  for (int round = 0; round < 60; round += windrow_test::stride()) {
    std::vector<Nest> nests = random_nests(random, random(0, 20), 600);
    if (random(0, 1) == 0)
      std::erase_if(nests, [](const Nest& nest) { return nest.depth > 0; });
    const Pieces list = pieces_of(nests);
    ASSERT_GT(list.store()->checkpoints.size(), 2u);
    const int64_t factor = random(0, 1) == 0 ? 1 : random(2, 5);
    std::vector<Nest> scaled = nests;
    for (Nest& nest : scaled)
      scale(nest, factor);
    const ByteMap whole = byte_map(scaled);
    const Pieces ready = with_runs(list);
    ASSERT_EQ(ready.store()->runs.empty(),
              std::any_of(nests.begin(), nests.end(), [](const Nest& nest) { return nest.depth > 0; }));
    const PieceView view(random(0, 1) == 0 ? ready : list, factor);
    ASSERT_EQ(total_bytes(view), static_cast<int64_t>(whole.size()));
    ASSERT_EQ(byte_map(view), whole);
    for (int i = 0; i < 20; ++i) {
      const int64_t begin = random(0, hull(view).end);
      expect_window(view, whole, {begin, begin + random(0, random(0, 1) == 0 ? 50 : 5000)});
      if (HasFatalFailure())
        return;
    }
  }
}

// Skips as sets of lists are walked: a cursor that leaps is where one is that steps.
TEST(NestCursor, skips_to_the_first_nest_that_ends_behind) {
  Random random(6);
  for (int round = 0; round < 60; round += windrow_test::stride()) {
    const Pieces list = pieces_of(random_nests(random, 0, 400));
    NestCursor leaps(list), steps(list);
    for (int64_t offset = 0; !steps.done(); offset += random(1, random(0, 3) == 0 ? 2000 : 60)) {
      leaps.skip(offset);
      while (!steps.done() && steps.file_end() <= offset)
        steps.next();
      ASSERT_EQ(leaps.done(), steps.done());
      if (!steps.done()) {
        ASSERT_EQ(leaps.nest().run, steps.nest().run);
      }
    }
  }
}

TEST(Measures, agree_with_the_model) {
  Random random(7);
  for (int round = 0; round < 3000; round += windrow_test::stride()) {
    const Pieces list = random_list(random);
    const ByteMap map = byte_map(list);
    ASSERT_EQ(total_bytes(list), static_cast<int64_t>(map.size()));
    const Extent all = map.empty() ? Extent{} : Extent{map.begin()->first, map.rbegin()->first + 1};
    ASSERT_EQ(hull(list), all);
    int64_t end = 0;
    for (const auto& [file, memory] : map)
      end = std::max(end, memory + 1);
    ASSERT_EQ(memory_end(list), end);
    int64_t pieces = 0, shortest = INT64_MAX, longest = 0;
    for_each_piece(list, [&](const Piece& piece) {
      ++pieces;
      shortest = std::min(shortest, piece.length);
      longest = std::max(longest, piece.length);
    });
    ASSERT_EQ(extent_count(list), pieces);
    if (!list.empty()) {
      ASSERT_EQ(std::pair(list.store()->shortest, list.store()->longest), std::pair(shortest, longest));
    }
  }
}

TEST(Large, offsets_beyond_2_and_4_gib) {
  const Pieces list = pieces_of({windrow::Run{3 * k_gib, 0, k_gib, 2 * k_gib, k_gib, 1'000'000}});
  EXPECT_EQ(total_bytes(list), 1'000'000 * k_gib);
  EXPECT_EQ(bytes_within(list, {0, 4 * k_gib}), k_gib);
  EXPECT_EQ(bytes_within(list, {4 * k_gib - 1, 5 * k_gib + 7}), 8);
  EXPECT_EQ(bytes_within(list, k_everything), 1'000'000 * k_gib);
  std::vector<Piece> pieces;
  for_each_piece(list, {4 * k_gib - 1, 7 * k_gib + 1}, [&](const Piece& piece) { pieces.push_back(piece); });
  EXPECT_THAT(pieces, ElementsAre(Piece{4 * k_gib - 1, k_gib - 1, 1}, Piece{5 * k_gib, k_gib, k_gib},
                                  Piece{7 * k_gib, 2 * k_gib, 1}));
}

// Every width of a field, up to the largest.
TEST(Large, fields_of_all_widths) {
  std::vector<Piece> pieces;
  int64_t file = 0;
  for (int bit = 0; bit < 58; ++bit) {
    const int64_t step = int64_t{1} << bit;
    pieces.push_back({file + step, bit % 2 == 0 ? step : 0, std::max<int64_t>(1, step / 3)});
    file += 2 * step;
  }
  PiecesBuilder builder;
  for (const Piece& piece : pieces)
    builder.add(piece);
  std::vector<Piece> read;
  const Pieces list = builder.take();
  for_each_piece(list, [&](const Piece& piece) { read.push_back(piece); });
  EXPECT_EQ(read, pieces);
}

// 10^12 pieces, in one run and in a block of four dimensions: cutting them must not depend on their number.
TEST(Large, cutting_is_arithmetic) {
  const Pieces list = pieces_of({windrow::Run{0, 0, 4, 1000, 4, 1'000'000'000'000}});
  EXPECT_EQ(bytes_within(list, {0, 500'000'000'000'000}), 2'000'000'000'000);
  Nest block(windrow::Run{0, 0, 4, 0, 0, 1});
  for (int64_t stride = 5, memory = 4, d = 0; d < 4; ++d, stride *= 1001, memory *= 1000)
    block.repeat(1000, stride, memory);
  ASSERT_EQ(block.depth, 3);
  const Pieces rows = pieces_of(std::vector<Nest>{block});
  EXPECT_LT(rows.memory_bytes(), 1000);
  EXPECT_EQ(total_bytes(rows), 4'000'000'000'000);
  const Extent all = hull(rows);
  int64_t parts = 0, bytes = 0;
  for_each_nest(rows, {all.begin + 3, all.end - 3'000'000'007}, [&](const Nest& nest) {
    ++parts;
    bytes += nest.bytes();
  });
  EXPECT_LE(parts, 12);
  EXPECT_EQ(bytes, bytes_within(rows, {all.begin + 3, all.end - 3'000'000'007}));
  EXPECT_EQ(next_offset(rows, 4), 5);
}

// A million irregular points, each alone: seven bytes a point at most, and every one still there.
TEST(Memory, of_a_million_irregular_points_is_small) {
  constexpr int64_t k_points = 1'000'000;
  Random random(8);
  std::vector<int64_t> places(k_points);
  std::iota(places.begin(), places.end(), int64_t{0});
  for (size_t i = places.size() - 1; i > 0; --i)
    std::swap(places[i], places[static_cast<size_t>(random(0, static_cast<int64_t>(i)))]);
  std::vector<Piece> pieces;
  PiecesBuilder builder;
  int64_t file = 0;
  for (const int64_t place : places) {
    file += random(1, 12);
    pieces.push_back({file++, place, 1});
    builder.add(pieces.back());
  }
  const Pieces list = builder.take();
  EXPECT_LE(list.memory_bytes(), 7 * k_points);
  size_t next = 0;
  for_each_piece(list, [&](const Piece& piece) {
    for (int64_t k = 0; k < piece.length; ++k, ++next)
      ASSERT_EQ((Piece{piece.file + k, piece.memory + k, 1}), pieces[next]);
  });
  EXPECT_EQ(next, pieces.size());
  for (int i = 0; i < 100; ++i) {
    const int64_t begin = random(0, file), end = begin + random(0, file / 8);
    const auto at = [&](int64_t offset) {
      return std::partition_point(pieces.begin(), pieces.end(),
                                  [&](const Piece& piece) { return piece.file < offset; });
    };
    ASSERT_EQ(bytes_within(list, {begin, end}), at(end) - at(begin));
  }
}

TEST(Memory, of_an_empty_list_is_nothing) {
  const Pieces none;
  EXPECT_EQ(none.memory_bytes(), 0);
  EXPECT_EQ(hull(none), Extent{});
  EXPECT_EQ(total_bytes(none) + extent_count(none) + memory_end(none) + bytes_within(none, k_everything), 0);
  EXPECT_THAT(runs_of(none), IsEmpty());
}

}  // namespace
}  // namespace windrow
