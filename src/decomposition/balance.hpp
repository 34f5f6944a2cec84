// SPDX-License-Identifier: BSD-3-Clause
// owner=balanced: chooses the writers of replicated points, so that there are few intervals and no rank has many more
// points to write than another. Pure; the caller exchanges the numbers between ranks.
//
// Each interval and each point that a rank writes has a price. For given prices, the cheapest owners of a segment are
// found exactly, by dynamic programming over its runs; segments are independent. Prices are the same on all ranks. The
// points of a rank with too many become more expensive from round to round (Lagrangian relaxation of the balance).
//
// A round has four trials, since a round waits for all directory ranks and a trial is cheap:
//   1. An interval costs more than all points. The result has the minimum number of intervals; prices only choose among
//      solutions with that number.
//   2. An interval costs as much as two points.
//   3. Moves ends of intervals from ranks with more points to ranks with fewer, without adding intervals. Starts from
//   the
//      best owners so far, or those of idg if there are no others.
//   4. Moves ends in the same way, but continues from its own result. Starts from the result of the first trial.
// The best trial has the fewest intervals within the requested balance; if no trial is within it, the best balance. The
// balance is that of the time of ranks: points, plus intervals at their cost in points (the model's seconds of both,
// model/weigh.hpp). Proved: without cuts (shared_points.hpp) the first trial has the minimum number of intervals, and
// the second the minimum among all choices that cost no more at its prices. Not proved: that no other choice within the
// balance has fewer intervals.
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

// The result of a choice: the paper's formula 1, (most - least) / mean of the points of all ranks that write any, and
// the same for their loads.
struct Balance {
  int64_t intervals = 0;
  double imbalance = 0;
  double imbalance_of_loads = 0;
  friend bool operator==(const Balance&, const Balance&) = default;
};

// The share of each rank.
struct RankShares {
  std::vector<int64_t> points, intervals;  // [ranks]
};

// The requested balance.
struct Balancing {
  double bound = 0;             // largest accepted imbalance of the loads
  int64_t interval_weight = 0;  // load of an interval, in units of 1 / k_weight_of_point of a point
};
inline constexpr int64_t k_weight_of_point = 1024;

// Ignores ranks that hold nothing, by `held` [ranks].
double imbalance_of(std::span<const int64_t> loads, std::span<const int64_t> held) noexcept;

// Prices are integers, so that they are the same on every computer.
inline constexpr int64_t k_price_of_point = int64_t{1} << 20;  // about the worth of one point
struct Prices {
  int64_t points = 0;  // total number
  int64_t of_interval = 0;
  std::span<const int64_t> of_rank;  // [ranks] price of a point that the rank writes
  // [ranks] preferred place in the file, in units of 1 / k_price_of_point of it: the distance decides between equal
  // costs
  std::span<const int64_t> place_of_rank;
};

inline constexpr size_t k_priced = 2, k_from_best = 2, k_from_fewest = 3, k_trials = 4;  // in a round

// The data for moving ends of intervals.
struct Moves {
  std::span<const int64_t> loads;  // [ranks] load with the current owners, in points
  int64_t mean = 0;
  int round = 0;
};

class BalanceSearch;

// The part of one directory rank.
class BalancedOwners {
 public:
  // The initial owners: `known`, [runs] holders; unspecified if it is empty.
  BalancedOwners(const SharedPoints& shared, std::vector<int> known);

  void try_all(const BalanceSearch& search);
  // Adds to totals: [ranks] points that each rank writes, then [ranks] its intervals.
  void add_totals(size_t trial, std::span<int64_t> totals) const noexcept;
  void keep(size_t trial) { kept_ = chosen_[trial]; }  // the best trial so far
  std::span<const int> kept() const noexcept {
    return kept_;
  }  // [runs] index of a holder; unspecified for runs in no segment

 private:
  bool is_moved(int64_t point, int64_t count, int from, int to, const Moves& moves) const noexcept;
  void move_ends(const Segment& segment, const Moves& moves, std::span<int> chosen) const;
  void price_run(const Segment& segment, size_t run, const Prices& prices);
  void choose_segment(const Segment& segment, const Prices& prices, std::span<int> chosen);

  const SharedPoints& shared_;
  std::array<std::vector<int>, k_trials> chosen_;  // [runs] index of a holder
  std::vector<int> kept_;
  std::vector<int64_t> cost_;  // of the entries of a segment's holders
  std::vector<int> from_;
};

// Sets prices and judges the trials. The same on every rank.
class BalanceSearch {
 public:
  // held: [ranks] points that each rank holds; places: [ranks] the mean of their positions, in units of 1 /
  // k_price_of_point of the file. `bound`: the requested imbalance of loads. `known`: the shares with known owners; a
  // result has neither more intervals nor more imbalance than these.
  BalanceSearch(int64_t points, std::vector<int64_t> held, std::span<const int64_t> places, Balancing asked,
                const std::optional<RankShares>& known);

  Prices prices(size_t trial) const noexcept {
    return {points_, trials_[trial].interval, trials_[trial].prices, places_};
  }
  // nullopt: the trial does not run in this round.
  std::optional<Moves> moves(size_t trial) const noexcept;

  // totals: [trials][2 x ranks], each in the format of BalancedOwners::add_totals(), summed over all ranks. Returns the
  // trial that is the best so far, if any.
  std::optional<size_t> judge(std::span<const int64_t> totals);
  bool goes_on() const noexcept { return goes_on_; }
  const Balance& found() const noexcept { return *found_; }  // after a round

 private:
  struct Trial {
    int64_t interval = 0;
    std::vector<int64_t> prices, steps;  // [ranks]
    std::vector<signed char> last_sign;
  };

  Balance weigh(std::span<const int64_t> points, std::span<const int64_t> intervals) noexcept;  // also sets weighed_
  bool is_better(const Balance& now) const noexcept;
  void next_prices(Trial& trial, std::span<const int64_t> loads) const;

  int64_t points_;
  std::vector<int64_t> held_, places_;
  // [ranks] of the best result, and of the last fourth trial; empty: none yet
  std::vector<int64_t> loads_, loads_of_fewest_;
  std::vector<int64_t> weighed_;  // [ranks] of the last weigh()
  std::array<Trial, k_priced> trials_;
  Balancing asked_;
  std::optional<Balance> reference_, found_;
  int64_t least_ = 0;  // intervals
  int round_ = 0;
  bool goes_on_ = true;
};

}  // namespace windrow
