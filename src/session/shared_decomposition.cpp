// SPDX-License-Identifier: BSD-3-Clause
#include "session/shared_decomposition.hpp"

#include <algorithm>

#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "session/same.hpp"

namespace windrow {
namespace {

// What a rank tells a directory rank: what it holds, whether it knows what it owns, and what.
std::vector<std::byte> write_holding(const RunList& held, const RunList& owned, bool has_flags) {
  std::vector<std::byte> bytes{has_flags ? std::byte{1} : std::byte{0}};
  encode(held, bytes);
  encode(owned, bytes);
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

Result<std::shared_ptr<SharedDecomposition>> SharedDecomposition::make(Comm& comm, Result<Decomposition> local, Use use) {
  // Rank 0's count of all that it has made, on whichever communicator: the same on every rank, and no other decomposition of the
  // same ranks has it, even if it was made on another communicator of theirs.
  static int64_t identities = 0;
  const int64_t identity = comm.rank() == 0 ? ++identities : 0;
  std::shared_ptr<SharedDecomposition> made;
  // Kinds that are disjoint by construction, and what is only read, need no words between the ranks but this one. The kind
  // and the whole's size have to be the same everywhere.
  std::array<int64_t, 6> same{};
  Status status = local.status();
  if (local.ok()) {
    const auto& value = local.value();
    const auto whole = static_cast<int64_t>(hash_of_whole(value) >> 2);
    same = {static_cast<int64_t>(value.kind), -static_cast<int64_t>(value.kind), whole, -whole,
            value.kind == DecompositionKind::points && value.owned.empty() && !value.points.empty() ? 1 : 0, identity};
    status = guard([&] {
      made.reset(new SharedDecomposition(comm, std::move(local).value()));
      made->held_ = element_runs(made->local_);
      made->echoes_ = windrow::echoes(made->local_, made->held_);
      return Status{};
    });
  }
  if (Status verdict = agree(comm, std::move(status), Pulse{.maximum = same, .sum = {}, .bits = {}}); !verdict.ok()) return verdict;
  if (same[0] != -same[1] || same[2] != -same[3])
    return Status{Code::bad_argument, "the decomposition's kind or shape (of `same`: start and count too) differs between the ranks; all ranks "
                                      "must give the same"};
  made->identity_ = same[5];
  made->has_flags_ = made->local_.kind == DecompositionKind::points && same[4] == 0;
  if (use == Use::any)
    if (Status verdict = made->find_owners(comm); !verdict.ok()) return verdict;
  return made;
}

Status SharedDecomposition::find_owners(Comm& comm) {
  const auto slot = [](OwnerPolicy policy) { return static_cast<size_t>(policy); };
  if (local_.kind == DecompositionKind::same) {
    if (comm.rank() != 0) return agree(comm, Status{});
    return agree(comm, guard([&] {
                   for (RunList& owned : owned_) owned = held_;
                   return Status{};
                 }));
  }
  if (local_.kind == DecompositionKind::rows || comm.size() == 1) {
    return agree(comm, guard([&] {
                   for (RunList& owned : owned_) owned = held_;
                   return Status{};
                 }));
  }
  std::vector<Letter> out, in;
  Status local = guard([&] {
    const auto held = split_by_directory(held_, local_.elements, comm.size());
    const auto owned = split_by_directory(owned_runs(local_), local_.elements, comm.size());
    for (const DirectoryPart& part : held) {
      const auto mine = std::find_if(owned.begin(), owned.end(), [&](const DirectoryPart& p) { return p.directory == part.directory; });
      out.push_back({part.directory, write_holding(part.runs, mine == owned.end() ? RunList{} : mine->runs, !local_.owned.empty())});
    }
    return Status{};
  });
  LetterCounters counters;
  local = exchange_letters(comm, std::move(local), out, in, counters);
  std::vector<Holding> holdings;
  if (local.ok()) local = guard([&]() -> Status {
    for (const Letter& letter : in) {
      auto holding = read_holding(letter);
      if (!holding.ok()) return holding.status();
      holdings.push_back(std::move(holding).value());
    }
    return {};
  });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok()) return verdict;
  if (local_.kind != DecompositionKind::points) {
    if (Status verdict = apply_policy(comm, OwnerPolicy::highest, holdings); !verdict.ok()) return verdict;
    return agree(comm, guard([&] {
                   owned_[slot(OwnerPolicy::first)] = owned_[slot(OwnerPolicy::partitioner)] = owned_[slot(OwnerPolicy::highest)];
                   return Status{};
                 }));
  }
  for (OwnerPolicy policy : {OwnerPolicy::highest, OwnerPolicy::first, OwnerPolicy::partitioner}) {
    if (policy == OwnerPolicy::partitioner && !has_flags_) continue;
    Status verdict = apply_policy(comm, policy, holdings);
    // A point without an owner is no error before somebody asks for the partitioner's word.
    if (verdict.code() == Code::bad_argument)
      owner_status_[slot(policy)] = std::move(verdict);
    else if (!verdict.ok())
      return verdict;
  }
  return {};
}

Status SharedDecomposition::apply_policy(Comm& comm, OwnerPolicy policy, const std::vector<Holding>& holdings) {
  std::vector<Letter> out, in;
  Status local = guard([&]() -> Status {
    auto lost = lost_runs(holdings, policy);
    if (!lost.ok()) return lost.status();
    for (size_t i = 0; i < holdings.size(); ++i) {
      if (lost.value()[i].empty()) continue;
      out.push_back({holdings[i].rank, {}});
      encode(lost.value()[i], out.back().bytes);
    }
    return {};
  });
  LetterCounters counters;
  local = exchange_letters(comm, std::move(local), out, in, counters);
  if (local.ok()) local = guard([&]() -> Status {
    std::vector<RunList> lost;
    for (const Letter& letter : in) {
      size_t position = 0;
      auto runs = decode(letter.bytes, position);
      if (!runs.ok()) return runs.status();
      lost.push_back(std::move(runs).value());
    }
    owned_[static_cast<size_t>(policy)] = write_view(held_, lost);
    return {};
  });
  return agree(comm, std::move(local));
}

OwnerPolicy SharedDecomposition::owner_for(OwnerPolicy asked, bool automatic) const noexcept {
  if (local_.kind != DecompositionKind::points) return OwnerPolicy::highest;  // replicas that nobody declared: the higher rank wins
  if (automatic) return has_flags_ ? OwnerPolicy::partitioner : OwnerPolicy::first;
  return asked == OwnerPolicy::partitioner && !has_flags_ ? OwnerPolicy::first : asked;
}

namespace {

void part_long(ByteRuns& bytes, int64_t limit) {
  bytes.limit = limit;
  for (const Run& run : bytes.runs)
    if (run.length >= limit) {
      bytes.long_bytes += run.bytes();
      bytes.long_pieces += run.count;
    }
  if (bytes.long_pieces == 0 || bytes.long_pieces == bytes.pieces) return;
  for (const Run& run : bytes.runs) (run.length >= limit ? bytes.long_runs : bytes.short_runs).push_back(run);
}

}  // namespace

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::kept(int view, const RunList& elements, int64_t element_bytes, int64_t long_limit) {
  auto& slot = bytes_[{view, element_bytes}];
  if (slot == nullptr || slot->limit != long_limit) {
    auto runs = to_bytes(elements, element_bytes);
    if (!runs.ok()) return runs.status();
    auto bytes = std::make_shared<ByteRuns>();
    bytes->runs = std::move(runs).value();
    bytes->hull = hull(bytes->runs);
    bytes->total = total_bytes(bytes->runs);
    bytes->pieces = extent_count(bytes->runs);
    part_long(*bytes, long_limit);
    slot = std::move(bytes);
  }
  return slot;
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::read_runs(int64_t element_bytes, int64_t long_limit) {
  return kept(-1, held_, element_bytes, long_limit);
}

Result<std::shared_ptr<const ByteRuns>> SharedDecomposition::write_runs(OwnerPolicy owner, int64_t element_bytes, int64_t long_limit) {
  const auto index = static_cast<size_t>(owner);
  if (!owner_status_[index].ok()) return owner_status_[index];
  return kept(static_cast<int>(index), owned_[index], element_bytes, long_limit);
}

}  // namespace windrow
