// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/balance.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace windrow {
namespace {

// The cost of an interval in each trial, in points. The first exceeds the cost of all points of a segment: a segment
// has at most two grains, at prices of at most k_most_price and a distance of at most one.
constexpr std::array<int64_t, k_priced> k_interval_points{int64_t{1} << 20, 2};
// fractions of the price of a point, divided among the ranks
constexpr std::array<int64_t, k_priced> k_first_steps{2, 16};
constexpr int64_t k_most_price = 4 * k_price_of_point;
constexpr int k_rounds = 20, k_rounds_of_prices = 8;  // the fourth trial starts after these
constexpr int64_t k_move_rate = 2;                    // how much of a surplus is offered in a round

}  // namespace

double imbalance_of(std::span<const int64_t> loads, std::span<const int64_t> held) noexcept {
  int64_t most = 0, least = std::numeric_limits<int64_t>::max(), all = 0, ranks = 0;
  for (size_t rank = 0; rank < loads.size(); ++rank) {
    if (held[rank] == 0)
      continue;
    most = std::max(most, loads[rank]);
    least = std::min(least, loads[rank]);
    all += loads[rank];
    ++ranks;
  }
  return all == 0 ? 0 : static_cast<double>(most - least) * static_cast<double>(ranks) / static_cast<double>(all);
}

BalancedOwners::BalancedOwners(const SharedPoints& shared, std::vector<int> known)
    : shared_(shared), kept_(known.empty() ? first_holders(shared) : std::move(known)) {
  for (auto& chosen : chosen_)
    chosen.resize(shared.runs.size());
  size_t most = 0;
  for (const Segment& segment : shared.segments)
    most = std::max(most, shared.runs[segment.end].holders - shared.runs[segment.begin].holders);
  cost_.resize(most);
  from_.resize(most);
}

void BalancedOwners::try_all(const BalanceSearch& search) {
  for (size_t trial = 0; trial < k_priced; ++trial)
    for (const Segment& segment : shared_.segments)
      choose_segment(segment, search.prices(trial), chosen_[trial]);
  chosen_[k_from_best] = kept_;
  if (!search.moves(k_from_fewest))
    chosen_[k_from_fewest] = chosen_[0];
  for (const size_t trial : {k_from_best, k_from_fewest})
    if (const auto moves = search.moves(trial))
      for (const Segment& segment : shared_.segments)
        move_ends(segment, *moves, chosen_[trial]);
}

// Each run decides pseudo-randomly how much of a surplus moves; otherwise all runs would move at once what only one
// should. The decision does not depend on the number of directory ranks.
bool BalancedOwners::is_moved(int64_t point, int64_t count, int from, int to, const Moves& moves) const noexcept {
  const int64_t surplus = moves.loads[static_cast<size_t>(shared_.ranks[static_cast<size_t>(from)])] -
                          moves.loads[static_cast<size_t>(shared_.ranks[static_cast<size_t>(to)])];
  if (surplus <= count)
    return false;
  const auto chance = static_cast<int64_t>(scramble(point ^ (int64_t{moves.round} << 48)) % 1024);
  return chance * moves.mean < k_move_rate * surplus * 1024;
}

void BalancedOwners::move_ends(const Segment& segment, const Moves& moves, std::span<int> chosen) const {
  for (size_t run = segment.begin; run < segment.end; ++run) {
    const int before = run == segment.begin ? segment.left : chosen[run - 1], now = chosen[run];
    const int after = run + 1 == segment.end ? segment.right : chosen[run + 1];
    // Intervals that begin if `holder` has this run. One begins at the start of a segment unless the rank before
    // continues, and one begins after its end unless the rank after is the same.
    const auto breaks = [&](int holder) {
      return (holder != before ? 1 : 0) + (after >= 0 && holder != after ? 1 : 0);
    };
    const auto holders = shared_.holders_of(run);
    const Extent points = shared_.runs[run].points;
    for (const int other : {before, after}) {
      if (other < 0 || other == now || breaks(other) > breaks(now) ||
          !std::binary_search(holders.begin(), holders.end(), other))
        continue;
      if (!is_moved(points.begin, points.size(), now, other, moves))
        continue;
      chosen[run] = other;
      break;
    }
  }
}

namespace {

// The index of the least of some costs.
size_t cheapest_of(std::span<const int64_t> costs, size_t begin, size_t end) {
  const auto some = costs.subspan(begin, end - begin);
  return begin + static_cast<size_t>(std::min_element(some.begin(), some.end()) - some.begin());
}

int64_t price_of_side(int neighbour, int holder, const Prices& prices) noexcept {
  return neighbour >= 0 && neighbour != holder ? prices.of_interval : 0;
}

int64_t place_of(Extent points, const Prices& prices) noexcept {
  const double middle = static_cast<double>(points.begin) + static_cast<double>(points.size()) / 2;
  return static_cast<int64_t>(middle / static_cast<double>(prices.points) * static_cast<double>(k_price_of_point));
}

}  // namespace

// Sets cost_ and from_ of each holder of a run, after those of the run before.
void BalancedOwners::price_run(const Segment& segment, size_t run, const Prices& prices) {
  const size_t base = shared_.runs[segment.begin].holders;
  const size_t at = shared_.runs[run].holders - base;
  const auto holders = shared_.holders_of(run);
  const Extent points = shared_.runs[run].points;
  const int64_t place = place_of(points, prices);
  // The cheapest holder of the previous run: any change of holder comes from it.
  std::span<const int> before;
  size_t before_at = 0, cheapest = 0;
  if (run > segment.begin) {
    before = shared_.holders_of(run - 1);
    before_at = shared_.runs[run - 1].holders - base;
    cheapest = cheapest_of(cost_, before_at, at);
  }
  size_t other = 0;  // advances along `before`: both lists ascend
  for (size_t i = 0; i < holders.size(); ++i) {
    const int holder = holders[i];
    const auto rank = static_cast<size_t>(shared_.ranks[static_cast<size_t>(holder)]);
    int64_t cost = points.size() * (prices.of_rank[rank] + std::abs(place - prices.place_of_rank[rank]));
    int from = -1;
    if (before.empty()) {
      cost += price_of_side(segment.left, holder, prices);
    } else {
      int64_t way = cost_[cheapest] + prices.of_interval;
      from = static_cast<int>(cheapest);
      while (other < before.size() && before[other] < holder)
        ++other;
      if (other < before.size() && before[other] == holder && cost_[before_at + other] <= way) {
        way = cost_[before_at + other];
        from = static_cast<int>(before_at + other);
      }
      cost += way;
    }
    if (run + 1 == segment.end)
      cost += price_of_side(segment.right, holder, prices);
    cost_[at + i] = cost;
    from_[at + i] = from;
  }
}

void BalancedOwners::choose_segment(const Segment& segment, const Prices& prices, std::span<int> chosen) {
  for (size_t run = segment.begin; run < segment.end; ++run)
    price_run(segment, run, prices);
  const size_t base = shared_.runs[segment.begin].holders;
  const size_t last = shared_.runs[segment.end - 1].holders - base, end = shared_.runs[segment.end].holders - base;
  auto way = static_cast<std::ptrdiff_t>(cheapest_of(cost_, last, end));
  for (size_t run = segment.end; run-- > segment.begin;) {
    chosen[run] = shared_.holders[base + static_cast<size_t>(way)];
    way = from_[static_cast<size_t>(way)];
  }
}

void BalancedOwners::add_totals(size_t trial, std::span<int64_t> totals) const noexcept {
  const std::span<const int> chosen = chosen_[trial];
  const size_t ranks = totals.size() / 2;
  const auto points_of = [&](int holder) -> int64_t& {
    return totals[static_cast<size_t>(shared_.ranks[static_cast<size_t>(holder)])];
  };
  const auto intervals_of = [&](int holder) -> int64_t& {
    return totals[ranks + static_cast<size_t>(shared_.ranks[static_cast<size_t>(holder)])];
  };
  for (size_t holder = 0; holder < shared_.ranks.size(); ++holder) {
    points_of(static_cast<int>(holder)) += shared_.alone[holder];
    intervals_of(static_cast<int>(holder)) += shared_.alone_starts[holder];
  }
  for (const Segment& segment : shared_.segments) {
    int before = segment.left;
    for (size_t run = segment.begin; run < segment.end; ++run) {
      points_of(chosen[run]) += shared_.runs[run].points.size();
      if (chosen[run] != before)
        ++intervals_of(chosen[run]);
      before = chosen[run];
    }
    if (segment.right >= 0 && segment.right != before)
      ++intervals_of(segment.right);
  }
}

BalanceSearch::BalanceSearch(int64_t points, std::vector<int64_t> held, std::span<const int64_t> places,
                             Balancing asked, const std::optional<RankShares>& known)
    : points_(points), held_(std::move(held)), places_(held_.size()), weighed_(held_.size()), asked_(asked) {
  // judge() runs between collective steps, where no rank may run out of memory.
  loads_.reserve(held_.size());
  loads_of_fewest_.reserve(held_.size());
  if (known) {
    found_ = reference_ = weigh(known->points, known->intervals);
    loads_ = weighed_;
    asked_.bound = std::min(asked_.bound, reference_->imbalance_of_loads);
  }
  // Preferred places: ranks in the order of their points divide the file evenly.
  std::vector<size_t> order;
  for (size_t rank = 0; rank < held_.size(); ++rank)
    if (held_[rank] > 0)
      order.push_back(rank);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return places[a] < places[b]; });
  const auto ranks = static_cast<int64_t>(order.size());
  for (size_t turn = 0; turn < order.size(); ++turn)
    places_[order[turn]] = (2 * static_cast<int64_t>(turn) + 1) * k_price_of_point / (2 * ranks);
  for (size_t i = 0; i < k_priced; ++i) {
    const int64_t step = std::max<int64_t>(1, k_price_of_point / k_first_steps[i] / std::max<int64_t>(1, ranks));
    trials_[i] = {k_interval_points[i] * k_price_of_point, std::vector<int64_t>(held_.size()),
                  std::vector<int64_t>(held_.size(), step), std::vector<signed char>(held_.size())};
  }
}

Balance BalanceSearch::weigh(std::span<const int64_t> points, std::span<const int64_t> intervals) noexcept {
  for (size_t rank = 0; rank < weighed_.size(); ++rank)
    weighed_[rank] = points[rank] + intervals[rank] * asked_.interval_weight / k_weight_of_point;
  return {std::accumulate(intervals.begin(), intervals.end(), int64_t{0}), imbalance_of(points, held_),
          imbalance_of(weighed_, held_)};
}

bool BalanceSearch::is_better(const Balance& now) const noexcept {
  if (reference_ && (now.intervals > reference_->intervals || now.imbalance > reference_->imbalance))
    return false;
  if (!found_)
    return true;
  const bool within = now.imbalance_of_loads <= asked_.bound, was_within = found_->imbalance_of_loads <= asked_.bound;
  if (within != was_within)
    return within;
  if (!within)
    return now.imbalance_of_loads < found_->imbalance_of_loads;
  return now.intervals != found_->intervals ? now.intervals < found_->intervals
                                            : now.imbalance_of_loads < found_->imbalance_of_loads;
}

std::optional<size_t> BalanceSearch::judge(std::span<const int64_t> totals) {
  std::optional<size_t> best;
  for (size_t i = 0; i < k_trials; ++i) {
    const auto shares = totals.subspan(i * 2 * held_.size(), 2 * held_.size());
    const Balance now = weigh(shares.first(held_.size()), shares.last(held_.size()));
    if (is_better(now)) {
      found_ = now;
      best = i;
      loads_.assign(weighed_.begin(), weighed_.end());
    }
    // No choice has fewer intervals than the first trial.
    if (i == 0)
      least_ = now.intervals;
    if (i < k_priced)
      next_prices(trials_[i], weighed_);
    if (i == k_from_fewest)
      loads_of_fewest_.assign(weighed_.begin(), weighed_.end());
  }
  goes_on_ = ++round_ < k_rounds && (found_->imbalance_of_loads > asked_.bound || found_->intervals > least_);
  return best;
}

std::optional<Moves> BalanceSearch::moves(size_t trial) const noexcept {
  const auto& loads = trial == k_from_best ? loads_ : loads_of_fewest_;
  if (loads.empty() || (trial == k_from_fewest && round_ <= k_rounds_of_prices))
    return {};
  const auto ranks = std::count_if(held_.begin(), held_.end(), [](int64_t count) { return count > 0; });
  return Moves{loads, std::accumulate(loads.begin(), loads.end(), int64_t{0}) / std::max<std::ptrdiff_t>(1, ranks),
               round_};
}

// A rank's price rises while it has too much to write and falls while it has too little. Steps grow while the direction
// stays and shrink when it reverses.
void BalanceSearch::next_prices(Trial& trial, std::span<const int64_t> loads) const {
  int64_t all = 0, ranks = 0;
  for (size_t rank = 0; rank < held_.size(); ++rank) {
    all += loads[rank];
    ranks += held_[rank] > 0 ? 1 : 0;
  }
  for (size_t rank = 0; rank < held_.size(); ++rank) {
    if (held_[rank] == 0)
      continue;
    const int64_t surplus = loads[rank] - all / ranks;
    const auto sign = static_cast<signed char>(surplus > 0 ? 1 : surplus < 0 ? -1 : 0);
    int64_t& step = trial.steps[rank];
    if (sign * trial.last_sign[rank] > 0)
      step = std::min(step * 3 / 2 + 1, k_price_of_point);
    else if (sign * trial.last_sign[rank] < 0)
      step = std::max<int64_t>(1, step / 2);
    trial.last_sign[rank] = sign;
    trial.prices[rank] = std::clamp(trial.prices[rank] + sign * step, -k_most_price, k_most_price);
  }
}

}  // namespace windrow
