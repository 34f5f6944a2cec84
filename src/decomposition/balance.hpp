// SPDX-License-Identifier: BSD-3-Clause
// owner=balanced: who writes the points that several ranks hold, so that there are few intervals and no rank has many
// more points to write than another. Pure; others send the numbers between the ranks.
//
// With a price on each interval and on each point that a rank writes, the cheapest owners of a segment are found
// exactly, by dynamic programming over its runs, and segments do not depend on each other. The prices are the same on
// all ranks; a rank with too many points becomes dearer from one round to the next (Lagrangian relaxation of the
// balance). There are four trials in a round, since a round waits for all directory ranks and a trial costs little. In
// the first an interval costs more than any points do: such owners have the fewest intervals that there can be, and
// prices only choose among those that have equally few. In the second it costs as much as two points. The others move
// the ends of intervals from ranks with more points to those with fewer, where no interval is added: the third begins
// with the best owners so far, idg's if there are no others, and the fourth goes on with its own, which are the first's
// to begin with. Of all trials the one with the fewest intervals within the balance asked for is kept; where none is
// within it, the one with the best balance. What is balanced is the ranks' time: points, and intervals at what one
// costs in points (the model's seconds of both, model/weigh.hpp). Proved: without cuts (shared_points.hpp) the first
// trial has the least number of intervals, and the second the least of all choices that cost no more at their prices.
// Not proved: that no other choice is within the balance with fewer.
//
//   search = BalanceSearch(...)                              the same on every rank, from sums over ranks
//   while (search.goes_on())
//     owners.try_all(search)                                 each directory rank
//     totals = sum over directory ranks of all trials' owners.add_totals()
//     if ((trial = search.judge(totals))) owners.keep(*trial)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decomposition/grouping.hpp"
#include "decomposition/shared_points.hpp"

namespace windrow {

// What a choice amounts to: the paper's formula 1, (most - least) / mean of the points that ranks with any write, and
// the same of their loads.
struct Balance {
  int64_t intervals = 0;
  double imbalance = 0;
  double imbalance_of_loads = 0;
  friend bool operator==(const Balance&, const Balance&) = default;
};

// What each rank writes.
struct RankShares {
  std::vector<int64_t> points, intervals;  // [ranks]
};

// What is asked for.
struct Balancing {
  double bound = 0;             // of the loads' imbalance
  int64_t interval_weight = 0;  // an interval's share of a load, in parts of k_weight_of_point
};
inline constexpr int64_t k_weight_of_point = 1024;

// Of ranks that hold nothing nobody asks: `held` [ranks] says who does.
double imbalance_of(std::span<const int64_t> loads, std::span<const int64_t> held) noexcept;

// In units that every computer agrees on: whole numbers.
inline constexpr int64_t k_price_of_point = int64_t{1} << 20;  // about one point's worth
struct Prices {
  int64_t points = 0;  // of the whole
  int64_t of_interval = 0;
  std::span<const int64_t> of_rank;        // [ranks] of a point that it writes
  std::span<const int64_t> place_of_rank;  // [ranks] where in the file, in parts of k_price_of_point, it writes best:
                                           // what else costs the same, its distance decides
};

inline constexpr size_t k_priced = 2, k_from_best = 2, k_from_fewest = 3, k_trials = 4;  // of a round

// What ends of intervals are moved by.
struct Moves {
  std::span<const int64_t> loads;  // [ranks] of each with the owners that are moved, in points
  int64_t mean = 0;
  int round = 0;
};

class BalanceSearch;

// One directory rank's part.
class BalancedOwners {
 public:
  // What is kept at first: `known`, [runs] holders, or anything where that is empty.
  BalancedOwners(const SharedPoints& shared, std::vector<int> known);

  void try_all(const BalanceSearch& search);
  // Adds to totals: [ranks] points that each rank writes, then [ranks] its intervals.
  void add_totals(size_t trial, std::span<int64_t> totals) const noexcept;
  void keep(size_t trial) { kept_ = chosen_[trial]; }  // it is the best so far
  std::span<const int> kept() const noexcept {
    return kept_;
  }  // [runs] index of a holder; of runs in no segment anything

 private:
  bool is_moved(int64_t point, int64_t count, int from, int to, const Moves& moves) const noexcept;
  void move_ends(const Segment& segment, const Moves& moves, std::span<int> chosen) const;
  void choose_segment(const Segment& segment, const Prices& prices, std::span<int> chosen);

  const SharedPoints& shared_;
  std::array<std::vector<int>, k_trials> chosen_;  // [runs] index of a holder
  std::vector<int> kept_;
  std::vector<int64_t> cost_;  // of a segment's holders' entries
  std::vector<int> from_;
};

// Sets prices and judges what comes of them. The same on every rank.
class BalanceSearch {
 public:
  // held: [ranks] points that each holds; places: [ranks] the mean of where they lie, in parts of k_price_of_point.
  // `bound`: the imbalance asked for, of loads. `known`: what ranks write with owners that are known: what is found has
  // neither more intervals nor more imbalance than they.
  BalanceSearch(int64_t points, std::vector<int64_t> held, std::span<const int64_t> places, Balancing asked,
                const std::optional<RankShares>& known);

  Prices prices(size_t trial) const noexcept {
    return {points_, trials_[trial].interval, trials_[trial].prices, places_};
  }
  // Nothing where it is too early to move.
  std::optional<Moves> moves(size_t trial) const noexcept;

  // totals: [trials][2 x ranks], each as BalancedOwners adds them, of all ranks together. The trial that is the best of
  // all so far, if any.
  std::optional<size_t> judge(std::span<const int64_t> totals);
  bool goes_on() const noexcept { return goes_on_; }
  const Balance& found() const noexcept { return *found_; }  // after a round

 private:
  struct Trial {
    int64_t interval = 0;
    std::vector<int64_t> prices, steps;  // [ranks]
    std::vector<signed char> last_sign;
  };

  Balance weigh(std::span<const int64_t> points, std::span<const int64_t> intervals) noexcept;  // and sets weighed_
  bool is_better(const Balance& now) const noexcept;
  void next_prices(Trial& trial, std::span<const int64_t> loads) const;

  int64_t points_;
  std::vector<int64_t> held_, places_;
  std::vector<int64_t> loads_, loads_of_fewest_;  // [ranks] of what was found, of the last trial; empty: nothing yet
  std::vector<int64_t> weighed_;                  // [ranks] of what was weighed last
  std::array<Trial, k_priced> trials_;
  Balancing asked_;
  std::optional<Balance> reference_, found_;
  int64_t least_ = 0;  // intervals
  int round_ = 0;
  bool goes_on_ = true;
};

}  // namespace windrow
