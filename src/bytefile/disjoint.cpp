// SPDX-License-Identifier: BSD-3-Clause
#include "bytefile/disjoint.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "decomposition/ownership.hpp"
#include "extent/algebra.hpp"
#include "extent/encode.hpp"

namespace windrow {
namespace {

constexpr Extent k_everything{0, INT64_MAX};

// The parts of a hull, one for each rank.
class HullParts {
 public:
  HullParts(Extent hull, int ranks) noexcept : hull_(hull), ranks_(ranks) {}

  Extent part(int rank) const noexcept {
    const Extent even = even_part(hull_.size(), ranks_, rank);
    return {hull_.begin + even.begin, hull_.begin + even.end};
  }
  // The rank of the part with this byte of the hull.
  int rank_of(int64_t offset) const noexcept {
    int low = 0, high = ranks_ - 1;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (part(middle).end <= offset)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

 private:
  Extent hull_;
  int ranks_;
};

std::vector<SparseMessage> descriptions(const Pieces& held, const HullParts& parts) {
  std::vector<SparseMessage> messages;
  if (held.empty())
    return messages;
  const Extent own = hull(held);
  for (int64_t offset = own.begin; offset < own.end;) {
    const int rank = parts.rank_of(offset);
    const Extent part = parts.part(rank);
    messages.push_back({rank, {}});
    encode(held, part, messages.back().bytes);
    offset = part.end < own.end ? next_offset(held, part.end) : own.end;
  }
  return messages;
}

Result<Pieces> decoded(const SparseMessage& message) {
  size_t position = 0;
  return decode(message.bytes, position);
}

// Sets `replies` to what the senders lose.
Status find_losses(std::vector<SparseMessage>& messages, std::vector<SparseMessage>& replies) {
  std::vector<Holding> holdings;
  for (SparseMessage& message : messages) {
    auto held = decoded(message);
    if (!held.ok())
      return held.status();
    holdings.push_back({.rank = message.peer, .held = std::move(held).value(), .owned = {}});
    std::vector<std::byte>().swap(message.bytes);
  }
  const auto lost = lost_pieces(holdings, OwnerPolicy::highest);
  if (!lost.ok())
    return lost.status();
  for (size_t i = 0; i < holdings.size(); ++i)
    if (!lost.value()[i].empty()) {
      replies.push_back({holdings[i].rank, {}});
      encode(lost.value()[i], k_everything, replies.back().bytes);
    }
  return {};
}

}  // namespace

Result<Pieces> make_disjoint(Comm& comm, Status local, const Pieces& held, Extent hull) {
  if (comm.size() == 1)
    return local.ok() ? Result<Pieces>(held) : Result<Pieces>(agree(comm, std::move(local)));
  std::vector<SparseMessage> out, in, replies;
  if (local.ok())
    local = guard([&] { return out = descriptions(held, HullParts(hull, comm.size())), Status{}; });
  MessageCounters counters;
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&] { return find_losses(in, replies); });
  std::array<int64_t, 1> overlaps{replies.empty() ? 0 : 1};
  if (Status verdict = agree(comm, std::move(local), {.maximum = overlaps, .sum = {}, .bits = {}}); !verdict.ok())
    return verdict;
  if (overlaps[0] == 0)
    return held;
  local = sparse_exchange(comm, Status{}, replies, in, counters);
  Pieces written;
  if (local.ok())
    local = guard([&]() -> Status {
      std::vector<Pieces> lost;
      for (const SparseMessage& message : in) {
        auto pieces = decoded(message);
        if (!pieces.ok())
          return pieces.status();
        lost.push_back(std::move(pieces).value());
      }
      written = with_runs(subtract(held, join(lost)));
      return {};
    });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  return written;
}

}  // namespace windrow
