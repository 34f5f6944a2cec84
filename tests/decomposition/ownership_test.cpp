// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/ownership.hpp"

#include <gmock/gmock.h>

#include <set>

#include "../stride.hpp"
#include "decomposition/decomposition.hpp"
#include "decomposition/shared_points.hpp"
#include "extent/algebra.hpp"
#include "extent/encode.hpp"
#include "model.hpp"

namespace windrow {
namespace {

using test::element_map;
using test::ElementMap;
using test::pieces_of;
using test::Random;
using test::runs_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Shape = std::vector<int64_t>;

// All ranks' decompositions through the directory, as messages would carry them: file sides only.
Result<std::vector<Pieces>> write_views(const std::vector<Decomposition>& ranks, OwnerPolicy policy, int directories) {
  const auto wire = [](PieceView list, Extent elements = {0, INT64_MAX}) {
    std::vector<std::byte> bytes;
    encode(list, elements, bytes);
    size_t position = 0;
    return decode(bytes, position).value();
  };
  std::vector<std::vector<Holding>> holdings(static_cast<size_t>(directories));
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const Decomposition& mine = ranks[rank];
    const Pieces held = element_pieces(mine);
    for (const DirectoryPart& part : split_by_directory(held, {mine.elements, directories}))
      holdings[static_cast<size_t>(part.directory)].push_back(
          {static_cast<int>(rank), wire(held, part.view), wire(mine.flagged, part.view), mine.has_flags});
  }
  std::vector<std::vector<Pieces>> lost(ranks.size());
  for (const auto& directory : holdings) {
    Result<std::vector<Pieces>> lists = lost_pieces(directory, policy);
    if (!lists.ok())
      return lists.status();
    for (size_t i = 0; i < directory.size(); ++i)
      lost[static_cast<size_t>(directory[i].rank)].push_back(wire(lists.value()[i]));
  }
  std::vector<Pieces> views;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    views.push_back(subtract(element_pieces(ranks[rank]), join(lost[rank])));
  return views;
}

Decomposition random_decomposition(Random& random, const Shape& shape, bool points) {
  if (!points) {
    const test::Blocks blocks = test::random_blocks(random, shape, random(0, 3));
    return make_blocks(shape, blocks.count, blocks.lists()).value();
  }
  Shape list(static_cast<size_t>(random(0, 30)));
  for (int64_t& point : list)
    point = random(0, shape[0] - 1);
  return make_points(shape[0], list, {}).value();
}

TEST(EvenPart, covers_everything_once_and_evenly) {
  Random random(31);
  for (int round = 0; round < 2000; round += windrow_test::stride()) {
    const int64_t total = random(0, 300);
    const int parts = static_cast<int>(random(1, 40));
    int64_t end = 0;
    for (int i = 0; i < parts; ++i) {
      const Extent part = Directory{total, parts}.block(i);
      ASSERT_EQ(part.begin, end);
      ASSERT_EQ(part.size(), total / parts + (i < total % parts ? 1 : 0));
      end = part.end;
      for (int64_t element = part.begin; element < part.end; ++element)
        ASSERT_EQ((Directory{total, parts}.rank_of(element)), i);
    }
    ASSERT_EQ(end, total);
  }
  EXPECT_EQ((Directory{5'000'000'000, 100'000}.rank_of(4'999'999'999)), 99'999);
}

TEST(SplitByDirectory, gives_each_its_part) {
  const Pieces held = pieces_of({{2, 0, 1, 10, 1, 5}});  // 2 12 22 32 42
  const auto parts = split_by_directory(held, {50, 7});  // blocks of 8 and then 7: [0, 8) [8, 15) [15, 22) [22, 29) ...
  std::vector<int> directories;
  int64_t bytes = 0;
  for (const DirectoryPart& part : parts) {
    directories.push_back(part.directory);
    EXPECT_EQ(part.block, (Directory{50, 7}.block(part.directory)));
    EXPECT_EQ(part.view, part.block);
    EXPECT_GT(bytes_within(held, part.block), 0);
    bytes += bytes_within(held, part.block);
  }
  EXPECT_THAT(directories, ElementsAre(0, 1, 3, 4, 5));
  EXPECT_EQ(bytes, 5);
  EXPECT_THAT(split_by_directory(Pieces(), {0, 4}), IsEmpty());
}

TEST(DirectoryOfPoints, has_ranks_at_equal_distances_with_enough_to_do) {
  for (const int ranks : {1, 2, 3, 5, 8, 16, 64, 1000})
    for (const int64_t points : {int64_t{0}, int64_t{1}, k_block_least - 1, 2 * k_block_least, 5 * k_block_least + 7,
                                 63 * k_block_least, int64_t{1} << 40}) {
      const Directory directory = directory_of_points(points, ranks);
      ASSERT_GE(directory.ranks, 1);
      ASSERT_LT((directory.ranks - 1) * directory.spacing, ranks);
      ASSERT_GE(directory.ranks * directory.spacing, ranks);  // the last ones are not left out
      int64_t end = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const DirectoryPart part = directory.part_of(rank);
        if (rank % directory.spacing != 0) {
          ASSERT_TRUE(part.block.empty());
          continue;
        }
        ASSERT_EQ(part.directory * directory.spacing, rank);
        if (part.block.empty())
          continue;
        ASSERT_EQ(part.block.begin, end);
        end = part.block.end;
        if (directory.ranks > 1) {
          ASSERT_GE(part.block.size(), k_block_least - k_grain);
        }
      }
      ASSERT_EQ(end, points);
    }
}

TEST(SplitByDirectory, tells_every_directory_rank_that_sees_a_part) {
  Random random(35);
  for (int round = 0; round < 2000; round += windrow_test::stride()) {
    const int64_t elements = random(1, 200);
    const Directory directory{elements, static_cast<int>(random(1, 12)), random(1, 20), random(0, 30)};
    std::set<int64_t> list;
    for (int64_t i = random(0, 10); i > 0; --i)
      list.insert(random(0, elements - 1));
    std::vector<windrow::Run> runs;
    for (const int64_t element : list)
      runs.push_back({element, 0, 1, 0, 0, 1});
    std::vector<int> expected, told;
    int64_t end = 0;
    for (int rank = 0; rank < directory.ranks; ++rank) {
      const Extent block = directory.block(rank), view = directory.view(rank);
      ASSERT_EQ(block.begin, end);
      ASSERT_TRUE(block.end == elements || block.end % directory.grain == 0);
      end = block.end;
      if (!block.empty()) {
        ASSERT_EQ(view, (Extent{std::max<int64_t>(0, block.begin - directory.margin),
                                std::min(elements, block.end + directory.margin)}));
        ASSERT_EQ(directory.rank_of(block.begin), rank);
        ASSERT_EQ(directory.rank_of(block.end - 1), rank);
      }
      if (list.lower_bound(view.begin) != list.lower_bound(view.end))
        expected.push_back(rank);
    }
    ASSERT_EQ(end, elements);
    const Pieces held = pieces_of(runs);
    for (const DirectoryPart& part : split_by_directory(held, directory)) {
      told.push_back(part.directory);
      ASSERT_EQ(part.block, directory.block(part.directory));
      ASSERT_EQ(part.view, directory.view(part.directory));
    }
    ASSERT_EQ(told, expected);
  }
}

// Blocks of many rows, which are compared by their nests where they can be: each element has the highest of its
// holders.
TEST(LostPieces, of_blocks_with_many_rows) {
  Random random(36);
  int shared = 0, alone = 0;
  for (int round = 0; round < 150; round += windrow_test::stride()) {
    const Shape shape{random(4, 24), random(4, 24), random(2, 8)};
    const Shape cuts[3] = {{0, random(1, shape[0] - 1), shape[0]},
                           {0, random(1, shape[1] - 1), shape[1]},
                           {0, random(1, shape[2] - 1), shape[2]}};
    std::vector<Decomposition> ranks;
    for (size_t box = 0; box < 8; ++box) {
      std::vector<int64_t> start, count;
      for (size_t d = 0; d < 3; ++d) {
        const size_t side = box >> d & 1;
        start.push_back(cuts[d][side]);
        count.push_back(cuts[d][side + 1] - cuts[d][side]);
      }
      if (round % 3 == 0 && box == 2)
        --start[1], ++count[1];  // one reaches into another
      ranks.push_back(make_block(shape, {start, count, {}, {}}).value());
    }
    std::map<int64_t, size_t> winner;
    size_t held = 0;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      for (const auto& [element, memory] : element_map(element_pieces(ranks[rank])))
        winner[element] = rank, ++held;
    held > winner.size() ? ++shared : ++alone;
    for (const int directories : {1, 3, 8}) {
      auto views = write_views(ranks, OwnerPolicy::highest, directories);
      ASSERT_TRUE(views.ok());
      size_t written = 0;
      for (size_t rank = 0; rank < ranks.size(); ++rank)
        for (const auto& [element, memory] : element_map(views.value()[rank])) {
          ASSERT_EQ(winner.at(element), rank);
          ++written;
        }
      ASSERT_EQ(written, winner.size());
    }
  }
  EXPECT_GT(shared * windrow_test::stride(), 20);
  EXPECT_GT(alone * windrow_test::stride(), 50);
}

TEST(LostPieces, one_rank_of_those_that_share_keeps_each_element) {
  Random random(32);
  for (int round = 0; round < 1500; round += windrow_test::stride()) {
    const bool points = random(0, 1) == 0;
    Shape shape{random(1, 30)};
    if (!points)
      for (int64_t d = random(0, 3); d > 0; --d)
        shape.push_back(random(1, 5));
    const bool lowest = random(0, 1) == 0;
    std::vector<Decomposition> ranks;
    for (int64_t i = random(1, 6); i > 0; --i)
      ranks.push_back(random_decomposition(random, shape, points));
    std::map<int64_t, size_t> winner;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      for (const auto& [element, memory] : element_map(element_pieces(ranks[rank])))
        if (!lowest || !winner.contains(element))
          winner[element] = rank;

    const auto views =
        write_views(ranks, lowest ? OwnerPolicy::first : OwnerPolicy::highest, static_cast<int>(random(1, 8)));
    ASSERT_TRUE(views.ok()) << views.status().message();
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      ElementMap expected;
      for (const auto& entry : element_map(element_pieces(ranks[rank])))
        if (winner[entry.first] == rank)
          expected.insert(entry);
      ASSERT_EQ(element_map(views.value()[rank]), expected);
    }
  }
}

// Each point that is held gets one random owner among its holders; then, half of the time, one flag is spoilt.
TEST(LostPieces, partitioner_follows_the_flags_and_finds_what_is_wrong_with_them) {
  Random random(33);
  int spoilt = 0;
  for (int round = 0; round < 2500; round += windrow_test::stride()) {
    const int64_t points = random(1, 30);
    std::vector<std::set<int64_t>> held(static_cast<size_t>(random(1, 6)));
    std::map<int64_t, std::vector<size_t>> holders;
    for (size_t rank = 0; rank < held.size(); ++rank)
      for (int64_t i = random(0, 20); i > 0; --i)
        if (const int64_t point = random(0, points - 1); held[rank].insert(point).second)
          holders[point].push_back(rank);
    std::map<int64_t, size_t> owner;
    for (const auto& [point, ranks] : holders)
      owner[point] = ranks[static_cast<size_t>(random(0, static_cast<int64_t>(ranks.size()) - 1))];

    const bool spoil = random(0, 1) == 0 && !holders.empty();
    const int64_t victim =
        spoil ? std::next(holders.begin(), random(0, static_cast<int64_t>(holders.size()) - 1))->first : -1;
    const bool twice = spoil && holders[victim].size() > 1 && random(0, 1) == 0;
    spoilt += spoil ? 1 : 0;
    std::vector<Decomposition> ranks;
    for (size_t rank = 0; rank < held.size(); ++rank) {
      const Shape list(held[rank].begin(), held[rank].end());
      std::vector<unsigned char> owned;
      for (const int64_t point : list)
        owned.push_back(point == victim ? twice : owner[point] == rank);
      ranks.push_back(make_points(points, list, owned).value());
    }
    const auto views = write_views(ranks, OwnerPolicy::partitioner, static_cast<int>(random(1, 8)));
    if (spoil) {
      ASSERT_EQ(views.status().code(), Code::bad_argument);
      ASSERT_THAT(views.status().message(),
                  HasSubstr("point " + std::to_string(victim) + (twice ? " is owned by ranks" : " is held by rank")));
      continue;
    }
    ASSERT_TRUE(views.ok()) << views.status().message();
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      ElementMap expected;
      for (const auto& entry : element_map(element_pieces(ranks[rank])))
        if (owner[entry.first] == rank)
          expected.insert(entry);
      ASSERT_EQ(element_map(views.value()[rank]), expected);
    }
  }
  EXPECT_GT(spoilt * windrow_test::stride(), 1000);
}

TEST(LostPieces, messages_name_the_point_and_the_ranks) {
  const windrow::Run point{17, 0, 1, 0, 0, 1};
  const auto holding = [&](int rank, bool owns) {
    return Holding{rank, pieces_of({point}), owns ? pieces_of({point}) : Pieces(), true};
  };
  const auto message = [](std::vector<Holding> holders) {
    return lost_pieces(holders, OwnerPolicy::partitioner).status().message();
  };
  EXPECT_EQ(message({holding(5, false), holding(2, false)}), "point 17 is held by ranks 2 and 5 but no rank owns it");
  EXPECT_EQ(message({holding(2, false)}), "point 17 is held by rank 2 but no rank owns it");
  EXPECT_EQ(message({holding(7, true), holding(5, true), holding(2, true)}),
            "point 17 is owned by ranks 2, 5 and 7; one rank must own it");
  EXPECT_EQ(message({holding(2, true), Holding{3, pieces_of({point}), {}, false}}),
            "owner=partitioner needs owner flags for all points, but rank 3 gave none");
  EXPECT_EQ(message({holding(2, true), Holding{3, {}, {}, false}}), "");
  std::vector<Holding> many;
  for (int rank = 0; rank < 100; ++rank)
    many.push_back(holding(rank, false));
  EXPECT_EQ(message(many), "point 17 is held by ranks 0, 1, 2, 3 and 96 more but no rank owns it");
  EXPECT_EQ(
      lost_pieces(std::vector<Holding>{holding(5, true), holding(2, true)}, OwnerPolicy::partitioner).status().rank(),
      2);
}

TEST(LostPieces, of_5_billion_elements_takes_no_time_where_nothing_is_shared) {
  const Shape shape{50'000, 100'000}, count{50'000, 25'000};
  std::vector<Decomposition> ranks;
  for (int64_t i = 0; i < 4; ++i) {
    const Shape start{0, i * 25'000};
    ranks.push_back(make_block(shape, {start, count, {}, {}}).value());
  }
  const auto views = write_views(ranks, OwnerPolicy::highest, 4);
  ASSERT_TRUE(views.ok());
  for (size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(runs_of(views.value()[rank]), runs_of(element_pieces(ranks[rank])));
}

TEST(LostPieces, of_blocks_that_overlap_by_a_halo_are_runs) {
  const Shape shape{2'000'000'000, 2};  // 4e9 elements; two ranks share the rows in the middle
  const Shape low_start{0, 0}, low_count{1'000'000'100, 2}, high_start{999'999'900, 0}, high_count{1'000'000'100, 2};
  const std::vector<Decomposition> ranks{make_block(shape, {low_start, low_count, {}, {}}).value(),
                                         make_block(shape, {high_start, high_count, {}, {}}).value()};
  const auto highest = write_views(ranks, OwnerPolicy::highest, 3);
  EXPECT_EQ(total_bytes(highest.value()[0]), 2 * 999'999'900);
  EXPECT_EQ(total_bytes(highest.value()[1]), 2 * 1'000'000'100);
  const auto first = write_views(ranks, OwnerPolicy::first, 3);
  EXPECT_EQ(total_bytes(first.value()[0]), 2 * 1'000'000'100);
  EXPECT_THAT(runs_of(first.value()[1]), ElementsAre(windrow::Run{2 * 1'000'000'100, 400, 2 * 999'999'900, 0, 0, 1}));
}

TEST(LostPieces, when_1000_ranks_hold_the_same) {
  const Pieces all = pieces_of({{0, 0, 1'000'000'000, 0, 0, 1}});
  std::vector<Holding> holders;
  for (int rank = 0; rank < 1000; ++rank)
    holders.push_back({rank, all, {}, false});
  const auto lost = lost_pieces(holders, OwnerPolicy::first);
  EXPECT_TRUE(lost.value()[0].empty());
  for (size_t rank = 1; rank < 1000; ++rank)
    ASSERT_EQ(runs_of(lost.value()[rank]), runs_of(all));
}

TEST(LostPieces, one_rank_alone_keeps_10_to_the_12_pieces_without_walking_them) {
  const Pieces held = pieces_of({{0, 0, 1, 3, 1, 1'000'000'000'000}});
  const std::vector<Holding> alone{{0, held, {}, false}};
  const auto lost = lost_pieces(alone, OwnerPolicy::highest);
  EXPECT_EQ(subtract(held, join(lost.value())).store(), held.store());
}

// A million single points a rank: what it holds, what it writes where others hold the same, and what a writer keeps of
// it.
TEST(LostPieces, lists_of_a_million_points_are_small_together) {
  constexpr int64_t k_points = 1'000'000;
  Random random(34);
  std::vector<Decomposition> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Shape list;
    for (int64_t i = 0; i < k_points; ++i)
      list.push_back(random(0, 4 * k_points - 1));
    ranks.push_back(make_points(4 * k_points, list, {}).value());
  }
  const auto views = write_views(ranks, OwnerPolicy::first, 2);
  ASSERT_TRUE(views.ok());
  for (size_t rank = 0; rank < 2; ++rank) {
    const Pieces& owned = views.value()[rank];
    std::vector<std::byte> bytes;
    encode(PieceView(owned, 8), {0, INT64_MAX}, bytes);
    size_t position = 0;
    const Pieces described = decode(bytes, position).value();
    EXPECT_EQ(total_bytes(described), 8 * total_bytes(owned));
    EXPECT_LT(static_cast<int64_t>(bytes.size()), 2 * k_points);
    EXPECT_LT(ranks[rank].listed.memory_bytes() + owned.memory_bytes() + described.memory_bytes(), 24'000'000);
    EXPECT_LT(ranks[rank].listed.memory_bytes(), 7 * k_points);
  }
  EXPECT_EQ(total_bytes(views.value()[0]), total_bytes(ranks[0].listed));
}

}  // namespace
}  // namespace windrow
