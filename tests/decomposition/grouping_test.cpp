// SPDX-License-Identifier: BSD-3-Clause
// Writers of points that several ranks hold: the paper's example, and random lists against plain models.
#include "decomposition/grouping.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "../stride.hpp"
#include "base/varint.hpp"
#include "decomposition/balance.hpp"
#include "decomposition/decomposition.hpp"
#include "decomposition/losses.hpp"
#include "extent/algebra.hpp"
#include "extent/encode.hpp"
#include "model.hpp"

namespace windrow {
namespace {

using test::element_map;
using test::Random;
using testing::ElementsAre;

// The points that ranks hold, and the partitioner's owner of each.
struct Mesh {
  int64_t points = 0;
  std::vector<std::set<int64_t>> held;  // [ranks]
  std::map<int64_t, int> partition;
};

using Owners = std::map<int64_t, int>;

struct Found {
  Owners owners;
  Balance balance;  // as the search counted it
};

// As the ranks of a program find owners, with any number of directory ranks.
class Program {
 public:
  Program(const Mesh& mesh, int directories, bool flags)
      : mesh_(mesh), flags_(flags), directory_{mesh.points, directories, k_grain, k_margin} {
    holdings_.resize(static_cast<size_t>(directories));
    std::map<int64_t, int> holders;
    for (const auto& list : mesh.held)
      for (const int64_t point : list)
        ++holders[point];
    for (const auto& list : mesh.held)
      shares_.push_back(std::any_of(list.begin(), list.end(), [&](int64_t point) { return holders[point] > 1; }));
    for (size_t rank = 0; rank < mesh.held.size(); ++rank) {
      const std::vector<int64_t> list(mesh.held[rank].begin(), mesh.held[rank].end());
      std::vector<unsigned char> owned;
      if (flags)
        for (const int64_t point : list)
          owned.push_back(mesh.partition.at(point) == static_cast<int>(rank));
      const Decomposition mine = make_points(mesh.points, list, owned).value();
      const Pieces held = element_pieces(mine);
      for (const DirectoryPart& part : split_by_directory(held, directory_))
        holdings_[static_cast<size_t>(part.directory)].push_back(
            {static_cast<int>(rank), wire(held, part.view), wire(mine.flagged, part.view), mine.has_flags});
    }
    for (int rank = 0; rank < directories; ++rank)
      shared_.push_back(find_shared(holdings_[static_cast<size_t>(rank)],
                                    {rank, directory_.block(rank), directory_.view(rank)}, mesh.points));
  }

  Found idg() const {
    Found found;
    std::vector<int64_t> loads(mesh_.held.size());
    for (size_t i = 0; i < shared_.size(); ++i) {
      const Grouping grouping = group_by_idg(shared_[i], Partition(holdings_[i]));
      for (size_t holder = 0; holder < shared_[i].ranks.size(); ++holder)
        loads[static_cast<size_t>(shared_[i].ranks[holder])] += grouping.loads[holder];
      found.balance.intervals += std::accumulate(grouping.intervals.begin(), grouping.intervals.end(), int64_t{0});
    }
    found.balance.imbalance = found.balance.imbalance_of_loads = imbalance_of(loads, held());
    found.owners = by(OwnerPolicy::idg);
    return found;
  }

  // By a rule that does not search.
  Owners by(OwnerPolicy policy) const {
    std::vector<std::vector<int>> balanced;
    for (const SharedPoints& shared : shared_)
      balanced.push_back(first_holders(shared));
    return owners(policy, balanced);
  }

  Found balanced(double bound, std::optional<Balance> reference, int rounds = 1000, int64_t interval_weight = 0) {
    std::vector<BalancedOwners> parts;
    const size_t ranks = mesh_.held.size(), length = 2 * ranks;
    std::optional<RankShares> known;
    if (reference)
      known = RankShares{std::vector<int64_t>(ranks), std::vector<int64_t>(ranks)};
    for (size_t i = 0; i < shared_.size(); ++i) {
      if (!reference) {
        parts.emplace_back(shared_[i], std::vector<int>());
        continue;
      }
      const Grouping idg = group_by_idg(shared_[i], Partition(holdings_[i]));
      for (size_t holder = 0; holder < shared_[i].ranks.size(); ++holder) {
        known->points[static_cast<size_t>(shared_[i].ranks[holder])] += idg.loads[holder];
        known->intervals[static_cast<size_t>(shared_[i].ranks[holder])] += idg.intervals[holder];
      }
      parts.emplace_back(shared_[i], idg.chosen);
    }
    BalanceSearch search(mesh_.points, held(), places(), {.bound = bound, .interval_weight = interval_weight}, known);
    std::vector<int64_t> totals(k_trials * length);
    for (; search.goes_on() && rounds > 0; --rounds) {
      std::fill(totals.begin(), totals.end(), 0);
      for (BalancedOwners& part : parts) {
        part.try_all(search);
        for (size_t trial = 0; trial < k_trials; ++trial)
          part.add_totals(trial, std::span(totals).subspan(trial * length, length));
      }
      if (const auto best = search.judge(totals))
        for (BalancedOwners& part : parts)
          part.keep(*best);
    }
    std::vector<std::vector<int>> chosen;
    for (const BalancedOwners& part : parts)
      chosen.emplace_back(part.kept().begin(), part.kept().end());
    return {owners(OwnerPolicy::balanced, chosen), search.found()};
  }

  int64_t holes() const {
    int64_t holes = 0;
    for (const SharedPoints& shared : shared_)
      holes += shared.holes;
    return holes;
  }

 private:
  static Pieces wire(PieceView list, Extent points) {
    std::vector<std::byte> bytes;
    encode(list, points, bytes);
    size_t position = 0;
    return decode(bytes, position).value();
  }

  std::vector<int64_t> held() const {
    std::vector<int64_t> counts;
    for (const auto& list : mesh_.held)
      counts.push_back(static_cast<int64_t>(list.size()));
    return counts;
  }

  std::vector<int64_t> places() const {
    std::vector<int64_t> places;
    for (const auto& list : mesh_.held) {
      double sum = 0;
      for (const int64_t point : list)
        sum += static_cast<double>(point);
      places.push_back(list.empty() ? 0
                                    : static_cast<int64_t>(sum / static_cast<double>(list.size()) /
                                                           static_cast<double>(mesh_.points) * (1 << 20)));
    }
    return places;
  }

  // The points that remain with each rank after its losses: every point that a rank holds must have one owner.
  Owners owners(OwnerPolicy policy, const std::vector<std::vector<int>>& balanced) const {
    std::vector<LossBuilders> lost(mesh_.held.size());
    std::vector<bool> told(mesh_.held.size());
    for (size_t i = 0; i < shared_.size(); ++i) {
      const SharedPoints& shared = shared_[i];
      std::optional<Partition> partition;
      Grouping idg;
      if (flags_)
        idg = group_by_idg(shared, partition.emplace(holdings_[i]));
      const auto words = write_losses(shared, directory_.view(static_cast<int>(i)),
                                      {flags_ ? &*partition : nullptr, idg.chosen, balanced[i]});
      for (size_t holder = 0; holder < shared.ranks.size(); ++holder) {
        if (!words[holder])
          continue;
        const auto rank = static_cast<size_t>(shared.ranks[holder]);
        told[rank] = true;
        EXPECT_TRUE(read_losses(*words[holder], lost[rank]).ok());
      }
    }
    Owners owners;
    for (size_t rank = 0; rank < mesh_.held.size(); ++rank) {
      EXPECT_EQ(told[rank], shares_[rank]) << rank;
      std::set<int64_t> left = mesh_.held[rank];
      for (const auto& [point, memory] : element_map(lost[rank][static_cast<size_t>(policy)].take()))
        EXPECT_EQ(left.erase(point), 1U);
      for (const int64_t point : left)
        EXPECT_TRUE(owners.emplace(point, static_cast<int>(rank)).second) << point;
    }
    EXPECT_EQ(owners.size(), mesh_.partition.size());
    return owners;
  }

  const Mesh& mesh_;
  bool flags_;
  Directory directory_;
  std::vector<std::vector<Holding>> holdings_;  // [directories]
  std::vector<SharedPoints> shared_;
  std::vector<bool> shares_;  // [ranks] whether it holds points that others hold
};

int64_t intervals_of(const Owners& owners) {
  int64_t intervals = 0, before = -2;
  int last = -1;
  for (const auto& [point, owner] : owners) {
    if (point != before + 1 || owner != last)
      ++intervals;
    before = point;
    last = owner;
  }
  return intervals;
}

// A run continues as long as some rank holds all of it: the minimum number of intervals.
int64_t least_intervals(const Mesh& mesh) {
  int64_t intervals = 0, before = -2;
  std::set<int> going;
  for (const auto& [point, owner] : mesh.partition) {
    std::set<int> holders, both;
    for (size_t rank = 0; rank < mesh.held.size(); ++rank)
      if (mesh.held[rank].contains(point))
        holders.insert(static_cast<int>(rank));
    if (point == before + 1)
      std::set_intersection(going.begin(), going.end(), holders.begin(), holders.end(),
                            std::inserter(both, both.begin()));
    if (both.empty())
      ++intervals;
    going = both.empty() ? holders : both;
    before = point;
  }
  return intervals;
}

// Ranges of a partition, with shared points around each end, and some holes.
Mesh random_mesh(Random& random, int64_t most_points, int64_t shared_percent) {
  Mesh mesh{random(1, most_points), {}, {}};
  mesh.held.resize(static_cast<size_t>(random(1, 7)));
  const auto any_rank = [&] { return static_cast<int>(random(0, static_cast<int64_t>(mesh.held.size()) - 1)); };
  int rank = any_rank();
  for (int64_t point = 0; point < mesh.points; ++point) {
    if (random(0, 15) == 0)
      rank = any_rank();
    if (random(0, 40) == 0)
      continue;
    mesh.partition[point] = rank;
    mesh.held[static_cast<size_t>(rank)].insert(point);
    while (random(0, 99) < shared_percent)
      mesh.held[static_cast<size_t>(any_rank())].insert(point);
  }
  return mesh;
}

// Figure 3 of the paper: parts 0 0 1 0 1 0 1 0, and the partition lists of table 1.
const std::vector<std::vector<int>> k_paper_lists{{0}, {0, 1}, {1, 0}, {0}, {1, 0}, {0, 1}, {1}, {0, 1}};
const std::vector<int> k_paper_parts{0, 0, 1, 0, 1, 0, 1, 0};

TEST(Idg, is_table_2_of_the_paper_which_figure_4_is_not) {
  std::vector<int> figure, table;
  for (int node = 0; node < 8; ++node) {
    const auto& list = k_paper_lists[static_cast<size_t>(node)];
    const int before = node > 0 ? k_paper_parts[static_cast<size_t>(node - 1)] : k_no_holder;
    const int after = node < 7 ? k_paper_parts[static_cast<size_t>(node + 1)] : k_no_holder;
    figure.push_back(list.size() == 1 ? list[0] : idg_owner_of_figure(list, before, after));
    table.push_back(list.size() == 1 ? list[0] : idg_owner(list, node > 0 ? table.back() : k_no_holder, after));
  }
  EXPECT_THAT(table, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_THAT(figure, ElementsAre(0, 1, 0, 0, 0, 1, 1, 1));
}

TEST(Idg, of_the_papers_mesh_by_ranks) {
  Mesh mesh{8, std::vector<std::set<int64_t>>(2), {}};
  for (int node = 0; node < 8; ++node) {
    mesh.partition[node] = k_paper_parts[static_cast<size_t>(node)];
    for (const int part : k_paper_lists[static_cast<size_t>(node)])
      mesh.held[static_cast<size_t>(part)].insert(node);
  }
  Program program(mesh, 2, true);
  const Found idg = program.idg();
  EXPECT_EQ(idg.owners, (Owners{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 1}, {7, 1}}));
  EXPECT_EQ(idg.balance, (Balance{2, 1, 1}));  // six points and two, of four on average
  EXPECT_EQ(program.by(OwnerPolicy::idg_figure),
            (Owners{{0, 0}, {1, 1}, {2, 0}, {3, 0}, {4, 0}, {5, 1}, {6, 1}, {7, 1}}));
  // As few intervals as in table 2, and no imbalance.
  const Found balanced = program.balanced(0.05, idg.balance);
  EXPECT_EQ(balanced.owners, (Owners{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}, {6, 1}, {7, 1}}));
  EXPECT_EQ(balanced.balance, (Balance{2, 0}));
}

// A plain model: the whole mesh in the order of the file.
TEST(Idg, follows_the_paper_whatever_the_number_of_directory_ranks) {
  Random random(41);
  for (int round = 0; round < 300; round += windrow_test::stride()) {
    const Mesh mesh = random_mesh(random, round % 10 == 0 ? 6000 : 200, 30);
    Owners expected, figure;
    for (const auto& [point, part] : mesh.partition) {
      const auto in = [](const auto& owners, int64_t at) { return owners.contains(at) ? owners.at(at) : k_no_holder; };
      std::vector<int> list{part};
      for (size_t rank = 0; rank < mesh.held.size(); ++rank)
        if (static_cast<int>(rank) != part && mesh.held[rank].contains(point))
          list.push_back(static_cast<int>(rank));
      const int after = in(mesh.partition, point + 1);
      expected[point] = list.size() == 1 ? part : idg_owner(list, in(expected, point - 1), after);
      figure[point] = list.size() == 1 ? part : idg_owner_of_figure(list, in(mesh.partition, point - 1), after);
    }
    const Program program(mesh, static_cast<int>(random(1, 9)), true);
    const Found found = program.idg();
    ASSERT_EQ(found.owners, expected);
    ASSERT_EQ(found.balance.intervals, intervals_of(expected));
    ASSERT_EQ(program.by(OwnerPolicy::idg_figure), figure);
    ASSERT_EQ(program.by(OwnerPolicy::partitioner), Owners(mesh.partition));
    for (const bool lowest : {true, false}) {
      Owners by_rank;
      for (size_t rank = 0; rank < mesh.held.size(); ++rank)
        for (const int64_t point : mesh.held[rank])
          if (lowest)
            by_rank.emplace(point, static_cast<int>(rank));
          else
            by_rank[point] = static_cast<int>(rank);
      ASSERT_EQ(program.by(lowest ? OwnerPolicy::first : OwnerPolicy::highest), by_rank);
    }
  }
}

TEST(RandomOwner, is_a_holder_and_the_same_for_any_number_of_directory_ranks) {
  Random random(42);
  for (int round = 0; round < 100; round += windrow_test::stride()) {
    const Mesh mesh = random_mesh(random, 5000, 30);
    const Owners owners = Program(mesh, 1, false).by(OwnerPolicy::random);
    ASSERT_EQ(Program(mesh, static_cast<int>(random(2, 9)), false).by(OwnerPolicy::random), owners);
    for (const auto& [point, owner] : owners)
      ASSERT_TRUE(mesh.held[static_cast<size_t>(owner)].contains(point));
  }
  int64_t first = 0;
  for (int64_t point = 0; point < 10'000; ++point)
    first += random_holder(point, 2) == 0 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(first), 5000, 200);
}

TEST(Balanced, has_the_least_intervals_where_balance_does_not_matter) {
  Random random(43);
  for (int round = 0; round < 300; round += windrow_test::stride()) {
    const Mesh mesh = random_mesh(random, round % 10 == 0 ? 6000 : 300, round % 2 == 0 ? 30 : 60);
    Program program(mesh, static_cast<int>(random(1, 9)), true);
    const Found found = program.balanced(1000, {}, 1);
    ASSERT_EQ(intervals_of(found.owners), least_intervals(mesh));
    ASSERT_EQ(found.balance.intervals, least_intervals(mesh));
  }
}

TEST(Balanced, is_the_same_for_any_number_of_directory_ranks_and_never_behind_idg) {
  Random random(44);
  for (int round = 0; round < 50; round += windrow_test::stride()) {
    const Mesh mesh = random_mesh(random, 8000, round % 2 == 0 ? 30 : 70);
    Program alone(mesh, 1, true), several(mesh, static_cast<int>(random(2, 9)), true);
    const Balance idg = alone.idg().balance;
    const Found found = alone.balanced(0.05, idg);
    ASSERT_EQ(several.balanced(0.05, idg).owners, found.owners);
    ASSERT_EQ(several.idg().balance, idg);
    ASSERT_LE(found.balance.intervals, idg.intervals);
    ASSERT_LE(found.balance.imbalance, idg.imbalance);
    ASSERT_EQ(intervals_of(found.owners), found.balance.intervals);
  }
}

// Sequences of shared points that end at the end of a grain: the directory rank of the block before must detect it.
TEST(SharedPoints, of_sequences_that_end_with_a_grain_are_the_same_for_any_number_of_directory_ranks) {
  Random random(46);
  for (int round = 0; round < 12; round += windrow_test::stride()) {
    Mesh mesh{random(4, 7) * k_grain, std::vector<std::set<int64_t>>(3), {}};
    const auto any_rank = [&] { return static_cast<int>(random(0, 2)); };
    // Alone, then shared up to the end of a grain, or a point before or after; it may begin in the grain before.
    for (int64_t grains = random(1, 2); static_cast<int64_t>(mesh.partition.size()) < mesh.points; grains += 2) {
      const int alone = any_rank(), owner = any_rank(), other = (owner + 1) % 3;
      const int64_t end = std::min(mesh.points, grains * k_grain + random(-1, 1)),
                    middle = end - random(k_grain, 2 * k_grain);
      for (int64_t point = static_cast<int64_t>(mesh.partition.size()); point < end; ++point) {
        mesh.partition[point] = point < middle ? alone : owner;
        for (const int rank : point < middle ? std::set{alone} : std::set{owner, other})
          mesh.held[static_cast<size_t>(rank)].insert(point);
      }
    }
    Program one(mesh, 1, true);
    const Found idg = one.idg(), balanced = one.balanced(0.05, {});
    for (int directories = 2; directories <= static_cast<int>(mesh.points / k_grain); ++directories) {
      Program several(mesh, directories, true);
      const Found found = several.idg();
      ASSERT_EQ(found.owners, idg.owners);
      ASSERT_EQ(found.balance, idg.balance);
      ASSERT_EQ(several.balanced(0.05, {}).owners, balanced.owners);
    }
  }
}

// All points are held by all: no rank has to write anything, and each could write all.
TEST(Balanced, shares_out_what_everybody_holds) {
  Mesh mesh{100'000, std::vector<std::set<int64_t>>(8), {}};
  for (int64_t point = 0; point < mesh.points; ++point) {
    mesh.partition[point] = 0;
    for (auto& list : mesh.held)
      list.insert(point);
  }
  for (const int directories : {1, 5}) {
    const Found found = Program(mesh, directories, false).balanced(0.05, {});
    EXPECT_LE(found.balance.imbalance, 0.05);
    EXPECT_LE(intervals_of(found.owners), 16);
    EXPECT_LE(intervals_of(found.owners), found.balance.intervals);  // a cut counts as the end of an interval
  }
}

// A rank's load is its points and its intervals, at what they weigh.
TEST(Balanced, weighs_intervals_and_points) {
  Random random(46);
  int64_t better = 0, worse = 0;
  for (int round = 0; round < 30; round += windrow_test::stride()) {
    const Mesh mesh = random_mesh(random, 6000, 60);
    const int64_t weight = random(0, 40) * k_weight_of_point / 2;
    Program program(mesh, 1, true), several(mesh, 5, true);
    const Found plain = program.balanced(0, {}), weighed = program.balanced(0, {}, 1000, weight);
    ASSERT_EQ(several.balanced(0, {}, 1000, weight).owners, weighed.owners);
    const auto imbalance_of_loads = [&](const Owners& owners) {
      std::vector<int64_t> points(mesh.held.size()), intervals(mesh.held.size()), held;
      int64_t before = -2;
      int last = -1;
      for (const auto& [point, rank] : owners) {
        ++points[static_cast<size_t>(rank)];
        if (point != before + 1 || rank != last)
          ++intervals[static_cast<size_t>(rank)];
        before = point;
        last = rank;
      }
      for (size_t rank = 0; rank < points.size(); ++rank)
        points[rank] += intervals[rank] * weight / k_weight_of_point;
      for (const auto& list : mesh.held)
        held.push_back(static_cast<int64_t>(list.size()));
      return imbalance_of(points, held);
    };
    ASSERT_DOUBLE_EQ(weighed.balance.imbalance_of_loads, imbalance_of_loads(weighed.owners)) << round;
    const double difference = imbalance_of_loads(plain.owners) - weighed.balance.imbalance_of_loads;
    better += difference > 0 ? 1 : 0;
    worse += difference < 0 ? 1 : 0;
  }
  EXPECT_GT(better, 4 * worse);
}

// Sequences of shared points longer than a grain are cut at the same points for any directory ranks.
TEST(Balanced, of_long_shared_sequences_is_nearly_the_least) {
  Random random(45);
  for (int round = 0; round < 10; round += windrow_test::stride()) {
    Mesh mesh{20'000, std::vector<std::set<int64_t>>(5), {}};
    for (int64_t begin = 0; begin < mesh.points;) {
      const int64_t end = std::min(mesh.points, begin + random(1, 300));
      const int a = static_cast<int>(random(0, 4)), b = (a + static_cast<int>(random(1, 4))) % 5;
      for (; begin < end; ++begin) {
        mesh.partition[begin] = a;
        for (const int rank : {a, b})
          mesh.held[static_cast<size_t>(rank)].insert(begin);
      }
    }
    Program program(mesh, 1, true), several(mesh, 7, true);
    const Found found = program.balanced(1000, {}, 1);
    EXPECT_EQ(several.balanced(1000, {}, 1).owners, found.owners);
    EXPECT_GE(intervals_of(found.owners), least_intervals(mesh));
    EXPECT_LE(intervals_of(found.owners), least_intervals(mesh) + mesh.points / k_grain);
  }
}

// Flags that no point, or two, or not all ranks have: lost_pieces() says which.
TEST(Partition, is_sound_where_each_point_has_one_owner) {
  const auto pieces = [](std::vector<int64_t> list) { return element_pieces(make_points(100, list, {}).value()); };
  const auto holding = [&](int rank, const std::vector<int64_t>& held, const std::vector<int64_t>& owned) {
    return Holding{rank, pieces(held), pieces(owned), true};
  };
  const auto is_sound = [](const std::vector<Holding>& holdings, int64_t held) {
    const bool sound = Partition(holdings).is_sound(held);
    EXPECT_EQ(lost_pieces(holdings, OwnerPolicy::partitioner).ok(), sound);
    return sound;
  };
  EXPECT_TRUE(is_sound({holding(0, {1, 2}, {1, 2}), holding(1, {2, 3}, {3})}, 3));
  EXPECT_FALSE(is_sound({holding(0, {1, 2}, {1}), holding(1, {2, 3}, {3})}, 3));
  EXPECT_FALSE(is_sound({holding(0, {1, 2}, {1, 2}), holding(1, {2, 3}, {2, 3})}, 3));
  EXPECT_FALSE(is_sound({holding(0, {1, 2}, {2}), holding(1, {2, 3}, {2, 3})}, 3));  // one has two, one has none
  EXPECT_FALSE(is_sound({holding(0, {1, 2}, {1, 2}), {1, pieces({2, 3}), pieces({3}), false}}, 3));
  EXPECT_TRUE(is_sound({holding(0, {1, 2}, {1, 2}), {1, Pieces(), Pieces(), false}}, 2));
}

TEST(Losses, that_are_malformed_are_refused) {
  LossBuilders lost;
  std::vector<std::byte> words;
  append_varint(words, 5);
  append_varint(words, 3);
  words.push_back(std::byte{1});
  EXPECT_TRUE(read_losses(words, lost).ok());
  for (size_t length = 1; length < words.size(); ++length)
    EXPECT_EQ(read_losses(std::span(words).first(length), lost).code(), Code::internal) << length;
  for (const auto& [gap, length] : {std::pair<uint64_t, uint64_t>{UINT64_MAX, 1}, {1, UINT64_MAX}, {INT64_MAX, 1}}) {
    std::vector<std::byte> far;
    append_varint(far, gap);
    append_varint(far, length);
    far.push_back(std::byte{1});
    EXPECT_EQ(read_losses(far, lost).code(), Code::internal);
  }
  words.back() = std::byte{0x80};  // no rule
  EXPECT_EQ(read_losses(words, lost).code(), Code::internal);
}

TEST(SharedPoints, count_what_nobody_holds) {
  Random random(46);
  for (int round = 0; round < 200; round += windrow_test::stride()) {
    const Mesh mesh = random_mesh(random, 5000, 30);
    ASSERT_EQ(Program(mesh, static_cast<int>(random(1, 9)), false).holes(),
              mesh.points - static_cast<int64_t>(mesh.partition.size()));
  }
}

}  // namespace
}  // namespace windrow
