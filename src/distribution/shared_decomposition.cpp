// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/shared_decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/numbering.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "comm/sparse.hpp"
#include "decomposition/shared_points.hpp"
#include "extent/algebra.hpp"
#include "extent/encode.hpp"

namespace windrow {
namespace {

// The message of a rank to a directory rank: the elements it holds, whether it has owner flags, and those it owns.
std::vector<std::byte> write_holding(const Decomposition& local, PieceView held, Extent elements) {
  std::vector<std::byte> bytes{local.has_flags ? std::byte{1} : std::byte{0}};
  encode(held, elements, bytes);
  encode(local.flagged, elements, bytes);
  return bytes;
}

Result<Holding> read_holding(const SparseMessage& message) {
  Holding holding{.rank = message.peer, .held = {}, .owned = {}, .has_flags = false};
  if (message.bytes.empty())
    return Status{Code::internal, "internal error: an empty description from another rank"};
  holding.has_flags = message.bytes.front() != std::byte{0};
  size_t position = 1;
  auto held = decode(message.bytes, position);
  if (!held.ok())
    return held.status();
  auto owned = decode(message.bytes, position);
  if (!owned.ok())
    return owned.status();
  holding.held = std::move(held).value();
  holding.owned = std::move(owned).value();
  return holding;
}

// A hash of what all ranks must pass alike: the shape, and with `same` the part of it.
uint64_t hash_of_whole(const Decomposition& value) {
  const auto text = [](const std::vector<int64_t>& list) {
    return std::string_view(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(int64_t));
  };
  const bool same = value.kind == DecompositionKind::same;
  return hash_of({text(value.shape), same ? text(value.starts) : "", same ? text(value.counts) : ""});
}

// The same values as text for messages.
std::vector<std::string> description_of(const Decomposition& value, int64_t imbalance) {
  constexpr std::array k_kinds{"a block", "blocks", "rows", "points", "the same"};
  std::vector<std::string> texts{k_kinds[static_cast<size_t>(value.kind)], "shape " + shown_sizes(value.shape),
                                 fmt::format("imbalance {} %", imbalance)};
  if (value.kind == DecompositionKind::same)
    texts.push_back(fmt::format("start {}, count {}", shown_indices(value.starts), shown_sizes(value.counts)));
  return texts;
}

}  // namespace

namespace {

// The numbers that all ranks agree on when they make a decomposition, each reduced to its maximum. A number is the same
// on all ranks if its maximum and that of its negative cancel.
enum AgreedNumber : size_t {
  k_kind,
  k_minus_kind,
  k_whole,  // hash_of_whole()
  k_minus_whole,
  k_without_flags,  // the size less the first rank that gave points without owner flags; 0: none
  k_identity,
  k_imbalance,
  k_minus_imbalance,
  k_with_flags,  // the size less the first rank that gave points with owner flags; 0: none
  k_interval_weight,
  k_agreed_numbers
};
using AgreedNumbers = std::array<int64_t, k_agreed_numbers>;

AgreedNumbers numbers_of(const Comm& comm, const Decomposition& value, int64_t identity, const OwnersAsked& asked) {
  const bool is_points = value.kind == DecompositionKind::points;
  const int64_t from_end = comm.size() - comm.rank();
  AgreedNumbers numbers{};
  numbers[k_kind] = static_cast<int64_t>(value.kind);
  numbers[k_minus_kind] = -numbers[k_kind];
  numbers[k_whole] = static_cast<int64_t>(hash_of_whole(value) >> 2);
  numbers[k_minus_whole] = -numbers[k_whole];
  numbers[k_without_flags] = is_points && !value.has_flags ? from_end : 0;
  numbers[k_identity] = identity;
  numbers[k_imbalance] = asked.imbalance;
  numbers[k_minus_imbalance] = -asked.imbalance;
  numbers[k_with_flags] = is_points && value.has_flags && value.memory_elements > 0 ? from_end : 0;
  numbers[k_interval_weight] = comm.rank() == 0 ? asked.interval_weight : 0;
  return numbers;
}

bool are_alike(const AgreedNumbers& agreed) noexcept {
  return agreed[k_kind] == -agreed[k_minus_kind] && agreed[k_whole] == -agreed[k_minus_whole] &&
         agreed[k_imbalance] == -agreed[k_minus_imbalance];
}

// Collective: names what differs.
Status name_differences(Comm& comm, const Decomposition& own, int64_t imbalance) {
  const std::array<uint64_t, 3> given{hash_of_whole(own), static_cast<uint64_t>(own.kind),
                                      static_cast<uint64_t>(imbalance)};
  const uint64_t arguments = hash_of({{reinterpret_cast<const char*>(given.data()), sizeof given}});
  return name_difference(comm, arguments,
                         "kind, shape or options of the decomposition (of `same`: start and count too)",
                         [&] { return description_of(own, imbalance); });
}

// The same on all ranks.
Status check_flags(const Comm& comm, const AgreedNumbers& agreed) {
  if (agreed[k_without_flags] == 0 || agreed[k_with_flags] == 0)
    return {};
  const auto without = static_cast<int>(comm.size() - agreed[k_without_flags]);
  return {Code::bad_argument,
          fmt::format("rank {} gave no owner flags with its points, but rank {} did; all ranks with points "
                      "must give them, or none",
                      without, comm.size() - agreed[k_with_flags]),
          without};
}

}  // namespace

Result<std::shared_ptr<SharedDecomposition>> SharedDecomposition::make(Comm& comm, Result<Decomposition> local, Use use,
                                                                       OwnersAsked asked) {
  const CallScope call(comm, Call::make_decomposition);
  // Rank 0 counts all decompositions that it has made, on any communicator. The number is the same on every rank and
  // unique among the decompositions of these ranks, even across communicators.
  static std::atomic<int64_t> identities{0};
  const int64_t identity = comm.rank() == 0 ? ++identities : 0;
  std::shared_ptr<SharedDecomposition> made;
  // Kinds that are disjoint by construction, and decompositions for reading only, need no other message than this one.
  // The kind and the global size must be the same on every rank.
  AgreedNumbers agreed{};
  Status status = local.status();
  if (local.ok()) {
    agreed = numbers_of(comm, local.value(), identity, asked);
    status = guard([&] {
      made.reset(new SharedDecomposition(comm, std::move(local).value()));
      made->held_ = with_runs(element_pieces(made->local_));
      made->duplicates_ = windrow::duplicates(made->local_, made->held_);
      return Status{};
    });
  }
  const Reduction reduction{.maximum = agreed, .sum = {}, .bits = {}};
  if (Status verdict = agree(comm, std::move(status), reduction); !verdict.ok())
    return verdict;
  if (!are_alike(agreed))
    return name_differences(comm, made->local_, asked.imbalance);
  if (Status verdict = check_flags(comm, agreed); !verdict.ok())
    return verdict;
  made->identity_ = agreed[k_identity];
  made->owners_asked_ = {.imbalance = asked.imbalance, .interval_weight = agreed[k_interval_weight]};
  made->has_flags_ = made->local_.kind == DecompositionKind::points && agreed[k_without_flags] == 0;
  if (use == Use::any) {
    if (Status verdict = made->find_owners(comm); !verdict.ok())
      return verdict;
    // Found here rather than at the first put, at which all ranks would wait for it. Only that put reports a lack of
    // memory.
    (void)guard([&] {
      made->find_share(made->owner_for(Owner::automatic));
      return Status{};
    });
  }
  made->forget_lists();
  return made;
}

void SharedDecomposition::forget_lists() noexcept {
  local_.listed = local_.flagged = Pieces();
  std::vector<LocalDuplicate>().swap(local_.listed_twice);
  if (local_.kind != DecompositionKind::blocks)
    return;
  for (auto* list : {&local_.starts, &local_.counts, &local_.memory_shapes, &local_.memory_starts,
                     &local_.memory_offsets, &local_.memory_strides})
    std::vector<int64_t>().swap(*list);
}

namespace {

// Frees the messages.
Status read_holdings(std::vector<SparseMessage>& messages, std::vector<Holding>& holdings) {
  for (SparseMessage& message : messages) {
    auto holding = read_holding(message);
    if (!holding.ok())
      return holding.status();
    holdings.push_back(std::move(holding).value());
    std::vector<std::byte>().swap(message.bytes);
  }
  return {};
}

}  // namespace

Status SharedDecomposition::find_owners(Comm& comm) {
  if (local_.kind == DecompositionKind::same) {
    for (Share& share : shares_)
      share.is_found = comm.rank() != 0;  // rank 0 writes everything
    return count_sharers(comm, Status{}, !held_.empty(), comm.rank() != 0 && !held_.empty());
  }
  const bool points = local_.kind == DecompositionKind::points;
  const bool sound_alone = comm.size() == 1 && (!has_flags_ || total_bytes(local_.flagged) == total_bytes(held_));
  if (points && sound_alone)
    holes_ = local_.elements - total_bytes(held_);
  if (local_.kind == DecompositionKind::rows || sound_alone)
    return agree(comm, Status{});
  const Directory directory =
      points ? directory_of_points(local_.elements, comm.size()) : Directory{local_.elements, comm.size()};
  std::vector<SparseMessage> out, in;
  Status local = guard([&] {
    for (const DirectoryPart& part : split_by_directory(held_, directory))
      out.push_back({part.directory * directory.spacing, write_holding(local_, held_, part.view)});
    return Status{};
  });
  MessageCounters counters;
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  out.clear();
  std::vector<Holding> holdings;
  if (local.ok())
    local = guard([&] { return read_holdings(in, holdings); });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  return points ? find_owners_of_points(comm, directory, holdings) : find_owners_of_elements(comm, holdings);
}

OwnerPolicy SharedDecomposition::owner_for(Owner asked) const noexcept {
  if (local_.kind != DecompositionKind::points)
    return OwnerPolicy::highest;  // undeclared replicas: the highest rank wins
  switch (asked) {
    // Flags may mean that only the owner's values are up to date.
    case Owner::automatic:
      return has_flags_ ? OwnerPolicy::partitioner : has_replicas_ ? OwnerPolicy::balanced : OwnerPolicy::first;
    case Owner::partitioner:
      return has_flags_ ? OwnerPolicy::partitioner : OwnerPolicy::first;
    case Owner::idg:
      return has_flags_ ? OwnerPolicy::idg : OwnerPolicy::first;
    case Owner::idg_figure:
      return has_flags_ ? OwnerPolicy::idg_figure : OwnerPolicy::first;
    case Owner::highest:
      return OwnerPolicy::highest;
    case Owner::random:
      return OwnerPolicy::random;
    case Owner::balanced:
      return OwnerPolicy::balanced;
    case Owner::first:
      break;
  }
  return OwnerPolicy::first;
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::kept(const Pieces& elements, int64_t element_bytes,
                                                                  int64_t long_limit) {
  auto& slot = bytes_[{elements.store(), element_bytes}];
  if (slot == nullptr || slot->limit != long_limit) {
    auto runs = to_bytes(elements, element_bytes);
    if (!runs.ok())
      return runs.status();
    auto bytes = std::make_shared<ByteRuns>();
    bytes->elements = elements;
    bytes->see(runs.value());
    bytes->part_long(element_bytes, long_limit);
    slot = std::move(bytes);
  }
  return slot;
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::read_runs(int64_t element_bytes, int64_t long_limit) {
  return kept(held_, element_bytes, long_limit);
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::write_runs(OwnerPolicy owner, int64_t element_bytes,
                                                                        int64_t long_limit) {
  const auto index = static_cast<size_t>(owner);
  if (!owner_status_[index].ok())
    return owner_status_[index];
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

bool SharedDecomposition::loses(Owner asked) {
  return total_bytes(find_share(owner_for(asked))) < total_bytes(held_);
}

Result<Pieces> SharedDecomposition::written_by(Owner asked) {
  if (needs_flags(asked) && !has_flags_)
    return Status{Code::bad_argument, fmt::format("owner={} needs owner flags for all points", name_of(asked))};
  const auto owner = owner_for(asked);
  if (const Status& status = owner_status_[static_cast<size_t>(owner)]; !status.ok())
    return status;
  return find_share(owner);
}

// A rank that holds a replicated point is not both the lowest and the highest holder, so it loses the point under at
// least one of these rules.
Result<Pieces> SharedDecomposition::replicas() {
  const Pieces lowest = subtract(held_, find_share(OwnerPolicy::first)),
               highest = subtract(held_, find_share(OwnerPolicy::highest));
  std::vector<PieceView> lists{lowest, highest};
  return subtract(held_, subtract(held_, coverage(lists)));
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::read_line(const Line& line) {
  return line_of(held_, line);
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::write_line(OwnerPolicy owner, const Line& line) {
  const auto index = static_cast<size_t>(owner);
  if (!owner_status_[index].ok())
    return owner_status_[index];
  return line_of(find_share(owner), line);
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::line_of(const Pieces& elements, const Line& line) {
  const auto shape = line.grid.shape(), chunk = line.grid.chunk();
  std::vector<int64_t> key{reinterpret_cast<intptr_t>(elements.store()), line.trailing, line.type_bytes, line.row};
  // The position of a row within its layer does not depend on the number of rows.
  key.insert(key.end(), line.row < 0 ? shape.begin() : shape.begin() + 1, shape.end());
  key.insert(key.end(), chunk.begin(), chunk.end());
  auto& slot = lines_[std::move(key)];
  if (slot == nullptr) {
    if (auto fits = to_bytes(elements, line.trailing * line.type_bytes); !fits.ok())
      return fits.status();
    auto bytes = std::make_shared<ByteRuns>();
    bytes->elements = with_runs(
        line.grid.place(PieceView(elements, line.trailing), std::max<int64_t>(0, line.row) * line.grid.row()));
    bytes->see(PieceView(bytes->elements, line.type_bytes));
    slot = std::move(bytes);
  }
  return slot;
}

Result<std::vector<SharedDecomposition::PartRuns>> SharedDecomposition::write_parts(OwnerPolicy owner, const Cut& cut) {
  const auto index = static_cast<size_t>(owner);
  if (!owner_status_[index].ok())
    return owner_status_[index];
  return parts_of(find_share(owner), cut);
}

Result<std::vector<SharedDecomposition::PartRuns>> SharedDecomposition::parts_of(const Pieces& elements,
                                                                                 const Cut& cut) {
  std::vector<int64_t> key{reinterpret_cast<intptr_t>(elements.store()), cut.trailing, cut.type_bytes, cut.long_limit};
  for (const auto& ranges : cut.split.bounds())
    key.insert(key.end(), ranges.begin(), ranges.end());
  // Other starts are those of records, whose number is unlimited.
  if (const auto found = parts_.find(key); found != parts_.end() && cut.first == 0)
    return found->second;
  if (auto fits = to_bytes(elements, cut.trailing * cut.type_bytes); !fits.ok())
    return fits.status();
  std::vector<PartRuns> parts;
  for (auto& [part, pieces] : cut.split.place(PieceView(elements, cut.trailing), cut.first)) {
    auto bytes = std::make_shared<ByteRuns>();
    bytes->elements = with_runs(pieces);
    bytes->see(PieceView(bytes->elements, cut.type_bytes));
    bytes->part_long(cut.type_bytes, cut.long_limit);
    parts.push_back({part, std::move(bytes)});
  }
  if (cut.first == 0)
    parts_.emplace(std::move(key), parts);
  return parts;
}

}  // namespace windrow
