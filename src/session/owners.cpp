// SPDX-License-Identifier: BSD-3-Clause
// Who writes points that several ranks hold: the words between the ranks while they find out. One half of class SharedDecomposition.
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "comm/agree.hpp"
#include "decomposition/balance.hpp"
#include "decomposition/grouping.hpp"
#include "decomposition/shared_points.hpp"
#include "extent/encode.hpp"
#include "session/shared_decomposition.hpp"

namespace windrow {
namespace {

constexpr std::array k_policies_of_points{OwnerPolicy::highest, OwnerPolicy::first, OwnerPolicy::partitioner,
                                          OwnerPolicy::idg, OwnerPolicy::idg_figure, OwnerPolicy::random, OwnerPolicy::balanced};

// What the ranks tell each other while they look for balanced owners: numbers by rank, and a few that are about all.
class OwnerSearch {
 public:
  OwnerSearch(Comm& comm, int64_t points, const SharedPoints& shared, const Grouping* reference)
      : comm_(comm), points_(points), shared_(shared), reference_(reference),
        owners_(shared, reference != nullptr ? reference->chosen : std::vector<int>()), sums_(k_trials * 2 * ranks()) {}

  // Collective. `held`: of this rank.
  Status run(PieceView held, const Balancing& asked) {
    clear_totals();
    const auto me = static_cast<size_t>(comm_.rank());
    const auto [held_by, places, written, intervals] = std::tuple(of_ranks(0), of_ranks(1), of_ranks(2), of_ranks(3));
    held_by[me] = total_bytes(held);
    places[me] = place_of(held);
    if (reference_ != nullptr) {
      for (size_t i = 0; i < shared_.ranks.size(); ++i) {
        written[static_cast<size_t>(shared_.ranks[i])] = reference_->loads[i];
        intervals[static_cast<size_t>(shared_.ranks[i])] = reference_->intervals[i];
      }
    }
    if (Status verdict = sum(); !verdict.ok()) return verdict;
    std::optional<BalanceSearch> search;
    Status local = guard([&] {
      std::optional<RankShares> known;
      if (reference_ != nullptr) known = RankShares{{written.begin(), written.end()}, {intervals.begin(), intervals.end()}};
      search.emplace(points_, std::vector(held_by.begin(), held_by.end()), places, asked, known);
      return Status{};
    });
    if (Status verdict = agree(comm_, std::move(local)); !verdict.ok()) return verdict;
    while (search->goes_on()) {
      clear_totals();
      owners_.try_all(*search);
      for (size_t trial = 0; trial < k_trials; ++trial) owners_.add_totals(trial, totals(trial));
      if (Status verdict = sum(); !verdict.ok()) return verdict;
      if (const auto best = search->judge(sums_)) owners_.keep(*best);
    }
    return {};
  }

  std::vector<Pieces> lost() const { return owners_.lost(); }

 private:
  size_t ranks() const noexcept { return static_cast<size_t>(comm_.size()); }
  std::span<int64_t> of_ranks(size_t i) noexcept { return std::span(sums_).subspan(i * ranks(), ranks()); }
  std::span<int64_t> totals(size_t trial) noexcept { return std::span(sums_).subspan(trial * 2 * ranks(), 2 * ranks()); }
  void clear_totals() noexcept { std::fill(sums_.begin(), sums_.end(), 0); }
  Status sum() { return agree(comm_, Status{}, Pulse{.maximum = {}, .sum = sums_, .bits = {}}); }

  // The mean of where this rank holds points.
  int64_t place_of(PieceView held) const {
    double sum = 0;
    for_each_piece(held, [&](const Piece& piece) {
      sum += static_cast<double>(piece.length) * (static_cast<double>(piece.file) + static_cast<double>(piece.length) / 2);
    });
    const auto count = static_cast<double>(std::max<int64_t>(1, total_bytes(held)));
    return static_cast<int64_t>(sum / count / static_cast<double>(points_) * static_cast<double>(k_price_of_point));
  }

  Comm& comm_;
  int64_t points_;
  const SharedPoints& shared_;
  const Grouping* reference_;  // owners that are known, or nullptr
  BalancedOwners owners_;
  std::vector<int64_t> sums_;
};

}  // namespace

Status SharedDecomposition::find_owners_of_points(Comm& comm, const DirectoryPart& part, std::span<const Holding> holdings) {
  SharedPoints shared;
  std::array<int64_t, 2> known{};  // are points held by several ranks; how many by none
  Status local = guard([&] {
    shared = find_shared(holdings, part, local_.elements);
    known = {shared.segments.empty() ? 0 : 1, shared.holes};
    return Status{};
  });
  if (Status verdict = agree(comm, std::move(local), Pulse{.maximum = {}, .sum = known, .bits = {}}); !verdict.ok()) return verdict;
  has_replicas_ = known[0] > 0;
  holes_ = known[1];

  // A point without an owner is no error before somebody asks for the partitioner's word.
  if (has_flags_) {
    local = guard([&] { return lost_pieces(holdings, OwnerPolicy::partitioner).status(); });
    Status verdict = agree(comm, std::move(local));
    if (!verdict.ok() && verdict.code() != Code::bad_argument) return verdict;
    for (const OwnerPolicy policy : {OwnerPolicy::partitioner, OwnerPolicy::idg, OwnerPolicy::idg_figure, OwnerPolicy::balanced})
      owner_status_[static_cast<size_t>(policy)] = verdict;
  }
  if (!has_replicas_) return agree(comm, Status{});

  const bool by_flags = has_flags_ && owner_status_[static_cast<size_t>(OwnerPolicy::partitioner)].ok();
  std::optional<Grouping> idg;
  std::optional<OwnerSearch> search;
  local = guard([&] {
    if (by_flags) idg = group_by_idg(shared, holdings);
    search.emplace(comm, local_.elements, shared, idg ? &*idg : nullptr);
    return Status{};
  });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok()) return verdict;
  const Balancing asked{.bound = static_cast<double>(owners_asked_.imbalance) / 100, .interval_weight = owners_asked_.interval_weight};
  if (Status verdict = search->run(held_, asked); !verdict.ok()) return verdict;

  std::vector<Letter> out;
  local = guard([&]() -> Status {
    const auto highest = lost_pieces(holdings, OwnerPolicy::highest), first = lost_pieces(holdings, OwnerPolicy::first);
    const std::vector<Pieces> none(holdings.size());
    const auto owned = by_flags ? lost_pieces(holdings, OwnerPolicy::partitioner) : Result<std::vector<Pieces>>(none);
    const Losses figure = by_flags ? lose_by_figure(shared, holdings, part.view) : none, random = lose_by_chance(shared);
    const Losses balanced = search->lost();
    for (size_t i = 0; i < holdings.size(); ++i) {
      if (highest.value()[i].empty() && first.value()[i].empty()) continue;  // holds nothing that others hold
      auto& letter = out.emplace_back(Letter{holdings[i].rank, {}}).bytes;
      for (const Pieces* lost : {&highest.value()[i], &first.value()[i], &owned.value()[i]}) encode(*lost, part.block, letter);
      encode(idg ? idg->lost[i] : none[i], k_all_elements, letter);
      for (const Pieces* lost : {&figure[i], &random[i]}) encode(*lost, part.block, letter);
      encode(balanced[i], k_all_elements, letter);  // segments go on beyond the block
    }
    return {};
  });
  return tell_losses(comm, std::move(local), out, k_policies_of_points);
}

Status SharedDecomposition::tell_losses(Comm& comm, Status local, std::span<const Letter> out, std::span<const OwnerPolicy> policies) {
  std::vector<Letter> in;
  LetterCounters counters;
  local = exchange_letters(comm, std::move(local), out, in, counters);
  if (local.ok()) local = guard([&]() -> Status {
    std::vector<size_t> positions(in.size());
    for (const OwnerPolicy policy : policies) {
      std::vector<Pieces> lost;
      for (size_t i = 0; i < in.size(); ++i) {
        auto pieces = decode(in[i].bytes, positions[i]);
        if (!pieces.ok()) return pieces.status();
        lost.push_back(std::move(pieces).value());
      }
      shares_[static_cast<size_t>(policy)].lost = join(lost);
    }
    return {};
  });
  const bool loses = std::any_of(policies.begin(), policies.end(), [&](OwnerPolicy policy) { return !shares_[static_cast<size_t>(policy)].lost.empty(); });
  return count_sharers(comm, std::move(local), !in.empty(), loses);  // who shares nothing is told nothing
}

Status SharedDecomposition::count_sharers(Comm& comm, Status local, bool shares, bool loses) {
  std::array<int64_t, 1> first{shares ? comm.size() - comm.rank() : 0};
  std::array<int64_t, 2> counts{shares ? 1 : 0, loses ? 1 : 0};
  Status verdict = agree(comm, std::move(local), Pulse{.maximum = first, .sum = counts, .bits = {}});
  if (!verdict.ok() || counts[1] == 0) return verdict;
  sharers_ = counts[0];
  shares_elements_ = shares;
  is_first_sharer_ = shares && first[0] == comm.size() - comm.rank();
  return verdict;
}

}  // namespace windrow
