// SPDX-License-Identifier: BSD-3-Clause
#include "session/shared_decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "comm/agree.hpp"
#include "decomposition/balance.hpp"
#include "decomposition/grouping.hpp"
#include "decomposition/shared_points.hpp"
#include "extent/algebra.hpp"
#include "extent/encode.hpp"
#include "session/same.hpp"

namespace windrow {
namespace {

constexpr Extent k_all_elements{0, INT64_MAX};

// What a rank tells a directory rank: what it holds, whether it knows what it owns, and what.
std::vector<std::byte> write_holding(const Decomposition& local, PieceView held, Extent elements) {
  std::vector<std::byte> bytes{local.has_flags ? std::byte{1} : std::byte{0}};
  encode(held, elements, bytes);
  encode(local.flagged, elements, bytes);
  return bytes;
}

Result<Holding> read_holding(const Letter& letter) {
  Holding holding{.rank = letter.peer, .held = {}, .owned = {}, .has_flags = false};
  if (letter.bytes.empty()) return Status{Code::internal, "an empty holding from another rank"};
  holding.has_flags = letter.bytes.front() != std::byte{0};
  size_t position = 1;
  auto held = decode(letter.bytes, position);
  if (!held.ok()) return held.status();
  auto owned = decode(letter.bytes, position);
  if (!owned.ok()) return owned.status();
  holding.held = std::move(held).value();
  holding.owned = std::move(owned).value();
  return holding;
}

// Of what all ranks have to give alike: the shape, and with `same` the part of it.
uint64_t hash_of_whole(const Decomposition& value) {
  const auto text = [](const std::vector<int64_t>& list) {
    return std::string_view(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(int64_t));
  };
  const bool same = value.kind == DecompositionKind::same;
  return hash_of({text(value.shape), same ? text(value.starts) : "", same ? text(value.counts) : ""});
}

}  // namespace

Result<std::shared_ptr<SharedDecomposition>> SharedDecomposition::make(Comm& comm, Result<Decomposition> local, Use use,
                                                                       int64_t imbalance) {
  // Rank 0's count of all that it has made, on whichever communicator: the same on every rank, and no other decomposition of the
  // same ranks has it, even if it was made on another communicator of theirs.
  static std::atomic<int64_t> identities{0};
  const int64_t identity = comm.rank() == 0 ? ++identities : 0;
  std::shared_ptr<SharedDecomposition> made;
  // Kinds that are disjoint by construction, and what is only read, need no words between the ranks but this one. The kind
  // and the whole's size have to be the same everywhere.
  std::array<int64_t, 8> same{};
  Status status = local.status();
  if (local.ok()) {
    const auto& value = local.value();
    const auto whole = static_cast<int64_t>(hash_of_whole(value) >> 2);
    same = {static_cast<int64_t>(value.kind), -static_cast<int64_t>(value.kind), whole, -whole,
            value.kind == DecompositionKind::points && !value.has_flags ? 1 : 0, identity, imbalance, -imbalance};
    status = guard([&] {
      made.reset(new SharedDecomposition(comm, std::move(local).value()));
      made->held_ = with_runs(element_pieces(made->local_));
      made->echoes_ = windrow::echoes(made->local_, made->held_);
      return Status{};
    });
  }
  if (Status verdict = agree(comm, std::move(status), Pulse{.maximum = same, .sum = {}, .bits = {}}); !verdict.ok()) return verdict;
  if (same[0] != -same[1] || same[2] != -same[3])
    return Status{Code::bad_argument, "the decomposition's kind or shape (of `same`: start and count too) differs between the ranks; all ranks "
                                      "must give the same"};
  if (same[6] != -same[7]) return Status{Code::bad_argument, "the option \"imbalance\" differs between the ranks; all ranks must give the same"};
  made->identity_ = same[5];
  made->imbalance_ = imbalance;
  made->has_flags_ = made->local_.kind == DecompositionKind::points && same[4] == 0;
  if (use == Use::any)
    if (Status verdict = made->find_owners(comm); !verdict.ok()) return verdict;
  // Found here and not at the first put, where all ranks would wait for it. Of no memory only that put needs to tell.
  if (use == Use::any)
    (void)guard([&] {
      made->find_share(made->owner_for(Owner::automatic));
      return Status{};
    });
  made->forget_lists();
  return made;
}

void SharedDecomposition::forget_lists() noexcept {
  local_.listed = local_.flagged = Pieces();
  std::vector<Echo>().swap(local_.listed_twice);
  if (local_.kind != DecompositionKind::blocks) return;
  for (auto* list : {&local_.starts, &local_.counts, &local_.memory_shapes, &local_.memory_starts}) std::vector<int64_t>().swap(*list);
}

Status SharedDecomposition::find_owners(Comm& comm) {
  if (local_.kind == DecompositionKind::same) {
    for (Share& share : shares_) share.is_found = comm.rank() != 0;  // rank 0 writes, the others nothing
    return agree(comm, Status{});
  }
  const bool points = local_.kind == DecompositionKind::points;
  const bool sound_alone = comm.size() == 1 && (!has_flags_ || total_bytes(local_.flagged) == total_bytes(held_));
  if (points && sound_alone) holes_ = local_.elements - total_bytes(held_);
  if (local_.kind == DecompositionKind::rows || sound_alone) return agree(comm, Status{});
  const Directory directory{local_.elements, comm.size(), points ? k_grain : 1, points ? k_grain : 0};
  std::vector<Letter> out, in;
  Status local = guard([&] {
    for (const DirectoryPart& part : split_by_directory(held_, directory))
      out.push_back({part.directory, write_holding(local_, held_, part.view)});
    return Status{};
  });
  LetterCounters counters;
  local = exchange_letters(comm, std::move(local), out, in, counters);
  out.clear();
  std::vector<Holding> holdings;
  if (local.ok()) local = guard([&]() -> Status {
    for (Letter& letter : in) {
      auto holding = read_holding(letter);
      if (!holding.ok()) return holding.status();
      holdings.push_back(std::move(holding).value());
      std::vector<std::byte>().swap(letter.bytes);
    }
    return {};
  });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok()) return verdict;
  if (points) return find_owners_of_points(comm, {comm.rank(), directory.block(comm.rank()), directory.view(comm.rank())}, holdings);
  // Of what is not points the higher rank writes, whatever is asked: see owner_for().
  constexpr std::array k_highest{OwnerPolicy::highest};
  std::vector<Letter> losses;
  local = guard([&] {
    auto lost = lost_pieces(holdings, OwnerPolicy::highest);
    for (size_t i = 0; lost.ok() && i < holdings.size(); ++i) {
      if (lost.value()[i].empty()) continue;
      losses.push_back({holdings[i].rank, {}});
      encode(lost.value()[i], k_all_elements, losses.back().bytes);
    }
    return lost.status();
  });
  return tell_losses(comm, std::move(local), losses, k_highest);
}

namespace {

constexpr std::array k_policies_of_points{OwnerPolicy::highest, OwnerPolicy::first, OwnerPolicy::partitioner,
                                          OwnerPolicy::idg, OwnerPolicy::random, OwnerPolicy::balanced};

// What the ranks tell each other while they look for balanced owners: numbers by rank, and a few that are about all.
class OwnerSearch {
 public:
  OwnerSearch(Comm& comm, int64_t points, const SharedPoints& shared) : comm_(comm), points_(points), owners_(shared), sums_(2 * ranks() + 1) {}

  // Collective. `held`: of this rank. Without a reference nothing is known of the groupings so far.
  Status run(PieceView held, double bound, const Grouping* reference, const SharedPoints& shared) {
    std::fill(sums_.begin(), sums_.end(), 0);
    const auto me = static_cast<size_t>(comm_.rank());
    sums_[me] = total_bytes(held);
    sums_[ranks() + me] = place_of(held);
    if (Status verdict = sum(); !verdict.ok()) return verdict;
    std::vector<int64_t> held_by, places;
    Status local = guard([&] {
      held_by.assign(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(ranks()));
      places.assign(sums_.begin() + static_cast<std::ptrdiff_t>(ranks()), sums_.end() - 1);
      return Status{};
    });
    if (Status verdict = agree(comm_, std::move(local)); !verdict.ok()) return verdict;
    std::optional<Balance> known;
    if (reference != nullptr) {
      clear_totals();
      for (size_t i = 0; i < shared.ranks.size(); ++i) totals()[static_cast<size_t>(shared.ranks[i])] = reference->loads[i];
      totals().back() = reference->intervals;
      if (Status verdict = sum(); !verdict.ok()) return verdict;
      known = Balance{totals().back(), imbalance_of(totals().first(ranks()), held_by)};
    }
    std::optional<BalanceSearch> search;
    local = guard([&] {
      search.emplace(points_, std::move(held_by), places, bound, known);
      return Status{};
    });
    if (Status verdict = agree(comm_, std::move(local)); !verdict.ok()) return verdict;
    while (search->goes_on()) {
      owners_.choose(search->prices());
      clear_totals();
      owners_.add_totals(totals());
      if (Status verdict = sum(); !verdict.ok()) return verdict;
      if (search->judge(totals()) == BalanceSearch::Verdict::best) owners_.keep();
    }
    found_ = search->found().has_value();
    return {};
  }

  bool found() const noexcept { return found_; }
  std::vector<Pieces> lost() const { return owners_.lost(); }

 private:
  size_t ranks() const noexcept { return static_cast<size_t>(comm_.size()); }
  std::span<int64_t> totals() noexcept { return std::span(sums_).first(ranks() + 1); }
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
  BalancedOwners owners_;
  std::vector<int64_t> sums_;
  bool found_ = false;
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
    for (const OwnerPolicy policy : {OwnerPolicy::partitioner, OwnerPolicy::idg, OwnerPolicy::balanced})
      owner_status_[static_cast<size_t>(policy)] = verdict;
  }
  if (!has_replicas_) return agree(comm, Status{});

  const bool by_flags = has_flags_ && owner_status_[static_cast<size_t>(OwnerPolicy::partitioner)].ok();
  std::optional<Grouping> idg;
  std::optional<OwnerSearch> search;
  local = guard([&] {
    if (by_flags) idg = group_by_idg(shared, holdings, part.view);
    search.emplace(comm, local_.elements, shared);
    return Status{};
  });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok()) return verdict;
  if (Status verdict = search->run(held_, static_cast<double>(imbalance_) / 100, idg ? &*idg : nullptr, shared); !verdict.ok()) return verdict;

  std::vector<Letter> out;
  local = guard([&]() -> Status {
    const auto highest = lost_pieces(holdings, OwnerPolicy::highest), first = lost_pieces(holdings, OwnerPolicy::first);
    const std::vector<Pieces> none(holdings.size());
    const auto owned = by_flags ? lost_pieces(holdings, OwnerPolicy::partitioner) : Result<std::vector<Pieces>>(none);
    const auto random = group_by_chance(shared);
    // Without any that are better than those of idg, these.
    const auto balanced = search->found() ? search->lost() : idg ? idg->lost : first.value();
    for (size_t i = 0; i < holdings.size(); ++i) {
      if (highest.value()[i].empty() && first.value()[i].empty()) continue;  // holds nothing that others hold
      out.push_back({holdings[i].rank, {}});
      for (const Pieces* lost : {&highest.value()[i], &first.value()[i], &owned.value()[i], idg ? &idg->lost[i] : &none[i], &random.lost[i]})
        encode(*lost, part.block, out.back().bytes);
      encode(balanced[i], search->found() ? k_all_elements : part.block, out.back().bytes);
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
  return agree(comm, std::move(local));
}

OwnerPolicy SharedDecomposition::owner_for(Owner asked) const noexcept {
  if (local_.kind != DecompositionKind::points) return OwnerPolicy::highest;  // replicas that nobody declared: the higher rank wins
  switch (asked) {
    // Flags may mean that only the owner's values are up to date.
    case Owner::automatic: return has_flags_ ? OwnerPolicy::partitioner : has_replicas_ ? OwnerPolicy::balanced : OwnerPolicy::first;
    case Owner::partitioner: return has_flags_ ? OwnerPolicy::partitioner : OwnerPolicy::first;
    case Owner::idg: return has_flags_ ? OwnerPolicy::idg : OwnerPolicy::first;
    case Owner::highest: return OwnerPolicy::highest;
    case Owner::random: return OwnerPolicy::random;
    case Owner::balanced: return OwnerPolicy::balanced;
    case Owner::first: break;
  }
  return OwnerPolicy::first;
}

namespace {

// The lengths of all pieces are known to lie between two: mostly that is enough to tell.
void part_long(ByteRuns& bytes, int64_t element_bytes, int64_t limit) {
  bytes.limit = limit;
  if (bytes.runs.empty() || bytes.runs.store().longest * element_bytes < limit) return;
  if (bytes.runs.store().shortest * element_bytes >= limit) {
    bytes.long_bytes = bytes.total;
    bytes.long_pieces = bytes.pieces;
    return;
  }
  PiecesBuilder longs, shorts;
  for (NestCursor cursor(bytes.elements); !cursor.done(); cursor.next())
    (cursor.nest().run.length * element_bytes >= limit ? longs : shorts).add(cursor.nest());
  bytes.long_elements = with_runs(longs.take());
  bytes.short_elements = with_runs(shorts.take());
  bytes.long_runs = PieceView(bytes.long_elements, element_bytes);
  bytes.short_runs = PieceView(bytes.short_elements, element_bytes);
  bytes.long_bytes = total_bytes(bytes.long_runs);
  bytes.long_pieces = extent_count(bytes.long_runs);
}

}  // namespace

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::kept(const Pieces& elements, int64_t element_bytes, int64_t long_limit) {
  auto& slot = bytes_[{elements.store(), element_bytes}];
  if (slot == nullptr || slot->limit != long_limit) {
    auto runs = to_bytes(elements, element_bytes);
    if (!runs.ok()) return runs.status();
    auto bytes = std::make_shared<ByteRuns>();
    bytes->elements = elements;
    bytes->runs = runs.value();
    bytes->hull = hull(bytes->runs);
    bytes->total = total_bytes(bytes->runs);
    bytes->pieces = extent_count(bytes->runs);
    part_long(*bytes, element_bytes, long_limit);
    slot = std::move(bytes);
  }
  return slot;
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::read_runs(int64_t element_bytes, int64_t long_limit) {
  return kept(held_, element_bytes, long_limit);
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::write_runs(OwnerPolicy owner, int64_t element_bytes, int64_t long_limit) {
  const auto index = static_cast<size_t>(owner);
  if (!owner_status_[index].ok()) return owner_status_[index];
  return kept(find_share(owner), element_bytes, long_limit);
}

const Pieces& SharedDecomposition::find_share(OwnerPolicy owner) {
  Share& share = shares_[static_cast<size_t>(owner)];
  if (!share.is_found) {
    share.owned = with_runs(subtract(held_, share.lost));
    share.lost = Pieces();
    share.is_found = true;
  }
  return share.owned;
}

Result<Pieces> SharedDecomposition::written_by(Owner asked) {
  const bool needs_flags = asked == Owner::partitioner || asked == Owner::idg;
  if (needs_flags && !has_flags_) return Status{Code::bad_argument, fmt::format("owner={} needs owner flags for all points", name_of(asked))};
  const auto owner = owner_for(asked);
  if (const Status& status = owner_status_[static_cast<size_t>(owner)]; !status.ok()) return status;
  return find_share(owner);
}

// A rank that holds a point with others is not the lowest of them, or not the highest, and then loses it under one of these rules.
Result<Pieces> SharedDecomposition::replicas() {
  const Pieces lowest = subtract(held_, find_share(OwnerPolicy::first)), highest = subtract(held_, find_share(OwnerPolicy::highest));
  std::vector<PieceView> lists{lowest, highest};
  return subtract(held_, subtract(held_, coverage(lists)));
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::read_line(const Line& line) { return line_of(held_, line); }

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::write_line(OwnerPolicy owner, const Line& line) {
  const auto index = static_cast<size_t>(owner);
  if (!owner_status_[index].ok()) return owner_status_[index];
  return line_of(find_share(owner), line);
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::line_of(const Pieces& elements, const Line& line) {
  const auto shape = line.grid.shape(), chunk = line.grid.chunk();
  std::vector<int64_t> key{reinterpret_cast<intptr_t>(elements.store()), line.trailing, line.type_bytes, line.row};
  // Where a row lies in its layer does not depend on how many rows there are.
  key.insert(key.end(), line.row < 0 ? shape.begin() : shape.begin() + 1, shape.end());
  key.insert(key.end(), chunk.begin(), chunk.end());
  auto& slot = lines_[std::move(key)];
  if (slot == nullptr) {
    if (auto fits = to_bytes(elements, line.trailing * line.type_bytes); !fits.ok()) return fits.status();
    auto bytes = std::make_shared<ByteRuns>();
    bytes->elements = with_runs(line.grid.place(PieceView(elements, line.trailing), std::max<int64_t>(0, line.row) * line.grid.row()));
    bytes->runs = PieceView(bytes->elements, line.type_bytes);
    bytes->hull = hull(bytes->runs);
    bytes->total = total_bytes(bytes->runs);
    bytes->pieces = extent_count(bytes->runs);
    slot = std::move(bytes);
  }
  return slot;
}

}  // namespace windrow
