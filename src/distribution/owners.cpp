// SPDX-License-Identifier: BSD-3-Clause
// Finds the writers of replicated points: the messages between ranks during the search. One half of class
// SharedDecomposition.
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "decomposition/balance.hpp"
#include "decomposition/grouping.hpp"
#include "decomposition/losses.hpp"
#include "decomposition/shared_points.hpp"
#include "distribution/shared_decomposition.hpp"
#include "extent/encode.hpp"

namespace windrow {
namespace {

// The reductions between ranks while they search for balanced owners: numbers by rank.
class OwnerSearch {
 public:
  static size_t numbers_for(int ranks) noexcept { return k_trials * 2 * static_cast<size_t>(ranks); }

  // `sums`: numbers for all ranks. `reference`: known owners, or nullptr.
  OwnerSearch(Comm& comm, int64_t points, const SharedPoints& shared, const Grouping* reference,
              std::span<int64_t> sums)
      : comm_(comm), points_(points), shared_(shared), reference_(reference), sums_(sums) {}

  // Collective. `local`: the status of this rank before the call; `held`: the elements of this rank. The status
  // returned is this rank's own; the caller agrees on it.
  Status run(Status local, const Directory& directory, PieceView held, const Balancing& asked) {
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
    if (Status verdict = agree(comm_, std::move(local), Reduction{.maximum = {}, .sum = sums_, .bits = {}});
        !verdict.ok())
      return verdict;
    std::optional<BalanceSearch> search;
    SomeRanks directories(comm_, directory.spacing, directory.ranks, sums_.size());
    local = guard([&] {
      if (!directories.contain_me())
        return Status{};
      owners_.emplace(shared_, reference_ != nullptr ? reference_->chosen : std::vector<int>());
      std::optional<RankShares> known;
      if (reference_ != nullptr)
        known = RankShares{{written.begin(), written.end()}, {intervals.begin(), intervals.end()}};
      search.emplace(points_, std::vector(held_by.begin(), held_by.end()), places, asked, known);
      return Status{};
    });
    if (Status verdict = agree(comm_, std::move(local)); !verdict.ok())
      return verdict;
    while (search && search->goes_on()) {
      clear_totals();
      owners_->try_all(*search);
      for (size_t trial = 0; trial < k_trials; ++trial)
        owners_->add_totals(trial, totals(trial));
      if (Status verdict = directories.sum(sums_); !verdict.ok())
        return verdict;
      if (const auto best = search->judge(sums_))
        owners_->keep(*best);
    }
    return {};
  }

  // [runs] index of a holder; empty if this is not a directory rank.
  std::span<const int> owners() const { return owners_ ? owners_->kept() : std::span<const int>(); }

 private:
  size_t ranks() const noexcept { return static_cast<size_t>(comm_.size()); }
  std::span<int64_t> of_ranks(size_t i) const noexcept { return sums_.subspan(i * ranks(), ranks()); }
  std::span<int64_t> totals(size_t trial) const noexcept { return sums_.subspan(trial * 2 * ranks(), 2 * ranks()); }
  void clear_totals() noexcept { std::fill(sums_.begin(), sums_.end(), 0); }

  // The mean position of this rank's points.
  int64_t place_of(PieceView held) const {
    double sum = 0;
    for_each_piece(held, [&](const Piece& piece) {
      sum +=
          static_cast<double>(piece.length) * (static_cast<double>(piece.file) + static_cast<double>(piece.length) / 2);
    });
    const auto count = static_cast<double>(std::max<int64_t>(1, total_bytes(held)));
    return static_cast<int64_t>(sum / count / static_cast<double>(points_) * static_cast<double>(k_price_of_point));
  }

  Comm& comm_;
  int64_t points_;
  const SharedPoints& shared_;
  const Grouping* reference_;
  std::optional<BalancedOwners> owners_;
  std::span<int64_t> sums_;
};

}  // namespace

// Collective, if the flags of any rank are wrong. A point without an owner is an error only once the owner policy
// partitioner is used.
Status SharedDecomposition::refuse_flags(Comm& comm, std::span<const Holding> holdings) {
  Status local = guard([&] { return lost_pieces(holdings, OwnerPolicy::partitioner).status(); });
  Status verdict = agree(comm, std::move(local));
  if (verdict.ok())
    return guard([] {
      return Status{Code::internal,
                    "internal error: contradicting owner flags, but no point with a contradiction was found"};
    });
  if (verdict.code() != Code::bad_argument)
    return verdict;
  for (const OwnerPolicy policy :
       {OwnerPolicy::partitioner, OwnerPolicy::idg, OwnerPolicy::idg_figure, OwnerPolicy::balanced})
    owner_status_[static_cast<size_t>(policy)] = verdict;
  return {};
}

// Collective: tells the holders of points which they do not own, by each policy.
Status SharedDecomposition::share_losses(Comm& comm, Status local, std::span<const SparseMessage> out) {
  std::vector<SparseMessage> in;
  MessageCounters counters;
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&] {
      LossBuilders lost;
      for (const SparseMessage& message : in)
        if (Status status = read_losses(message.bytes, lost); !status.ok())
          return status;
      for (size_t policy = 0; policy < lost.size(); ++policy)
        shares_[policy].lost = lost[policy].take();
      return Status{};
    });
  // a rank without replicas receives no message
  return count_sharers(comm, std::move(local), !in.empty(), loses_any());
}

Status SharedDecomposition::find_owners_of_points(Comm& comm, const Directory& directory,
                                                  std::span<const Holding> holdings) {
  const DirectoryPart part = directory.part_of(comm.rank());
  SharedPoints shared;
  std::optional<Partition> partition;
  std::vector<int64_t> sums;
  std::array<int64_t, 3> known{};  // whether points are replicated; the number held by no rank; whether flags are wrong
  Status local = guard([&] {
    shared = find_shared(holdings, part, local_.elements);
    if (has_flags_)
      partition.emplace(holdings);
    sums.resize(OwnerSearch::numbers_for(comm.size()));
    known = {shared.segments.empty() ? 0 : 1, shared.holes, partition && !partition->is_sound(shared.held) ? 1 : 0};
    return Status{};
  });
  if (Status verdict = agree(comm, std::move(local), Reduction{.maximum = {}, .sum = known, .bits = {}}); !verdict.ok())
    return verdict;
  has_replicas_ = known[0] > 0;
  holes_ = known[1];
  if (known[2] > 0)
    if (Status verdict = refuse_flags(comm, holdings); !verdict.ok())
      return verdict;
  if (!has_replicas_)
    return agree(comm, Status{});

  const bool by_flags = has_flags_ && owner_status_[static_cast<size_t>(OwnerPolicy::partitioner)].ok();
  std::optional<Grouping> idg;
  local = guard([&] {
    if (by_flags)
      idg = group_by_idg(shared, *partition);
    return Status{};
  });
  OwnerSearch search(comm, local_.elements, shared, idg ? &*idg : nullptr, sums);
  const Balancing asked{.bound = static_cast<double>(owners_asked_.imbalance) / 100,
                        .interval_weight = owners_asked_.interval_weight};
  local = search.run(std::move(local), directory, held_, asked);
  std::vector<SparseMessage> out;
  if (local.ok() && !part.block.empty())
    local = guard([&] {
      const std::span<const int> by_idg = idg ? std::span<const int>(idg->chosen) : std::span<const int>();
      auto words = write_losses(shared, part.view, {by_flags ? &*partition : nullptr, by_idg, search.owners()});
      for (size_t i = 0; i < holdings.size(); ++i)
        if (words[i])
          out.push_back({holdings[i].rank, std::move(*words[i])});
      return Status{};
    });
  return share_losses(comm, std::move(local), out);
}

// For kinds other than points the highest rank writes, whatever the policy: see owner_for().
Status SharedDecomposition::find_owners_of_elements(Comm& comm, std::span<const Holding> holdings) {
  std::vector<SparseMessage> out, in;
  Status local = guard([&]() -> Status {
    const auto lost = lost_pieces(holdings, OwnerPolicy::highest);
    if (!lost.ok())
      return lost.status();
    if (std::all_of(lost.value().begin(), lost.value().end(), [](const Pieces& each) { return each.empty(); }))
      return {};
    const auto first = lost_pieces(holdings, OwnerPolicy::first);
    if (!first.ok())
      return first.status();
    for (size_t i = 0; i < holdings.size(); ++i) {
      if (lost.value()[i].empty() && first.value()[i].empty())
        continue;  // no replicas
      out.push_back({holdings[i].rank, {}});
      encode(lost.value()[i], k_all_elements, out.back().bytes);
    }
    return {};
  });
  MessageCounters counters;
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      std::vector<Pieces> lost;
      for (const SparseMessage& message : in) {
        size_t position = 0;
        auto pieces = decode(message.bytes, position);
        if (!pieces.ok())
          return pieces.status();
        lost.push_back(std::move(pieces).value());
      }
      shares_[static_cast<size_t>(OwnerPolicy::highest)].lost = join(lost);
      return {};
    });
  return count_sharers(comm, std::move(local), !in.empty(), loses_any());
}

bool SharedDecomposition::loses_any() const noexcept {
  return std::any_of(shares_.begin(), shares_.end(), [](const Share& share) { return !share.lost.empty(); });
}

Status SharedDecomposition::count_sharers(Comm& comm, Status local, bool shares, bool loses) {
  std::array<int64_t, 1> first{shares ? comm.size() - comm.rank() : 0};
  std::array<int64_t, 2> counts{shares ? 1 : 0, loses ? 1 : 0};
  Status verdict = agree(comm, std::move(local), Reduction{.maximum = first, .sum = counts, .bits = {}});
  if (!verdict.ok() || counts[1] == 0)
    return verdict;
  sharers_ = counts[0];
  shares_elements_ = shares;
  is_first_sharer_ = shares && first[0] == comm.size() - comm.rank();
  return verdict;
}

}  // namespace windrow
