// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/ownership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "extent/algebra.hpp"
#include "extent/sweep.hpp"

namespace windrow {

namespace {

std::vector<PieceView> lists_of(std::span<const Holding> holders, Pieces Holding::*member) {
  std::vector<PieceView> lists;
  for (const Holding& holder : holders)
    lists.emplace_back(holder.*member);
  return lists;
}

// "rank 3", "ranks 1, 2 and 5", "ranks 0, 1, 2, 3 and 96 more".
std::string name_ranks(std::vector<int> ranks) {
  constexpr size_t k_named = 4;
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() == 1)
    return fmt::format("rank {}", ranks[0]);
  if (ranks.size() <= k_named)
    return fmt::format("ranks {} and {}", fmt::join(ranks.begin(), ranks.end() - 1, ", "), ranks.back());
  return fmt::format("ranks {} and {} more", fmt::join(ranks.begin(), ranks.begin() + k_named, ", "),
                     ranks.size() - k_named);
}

// The winner is the lowest or the highest rank; every other holder of a shared range loses it.
std::vector<Pieces> lost_by_rank(std::span<const Holding> holders, bool lowest_wins) {
  std::vector<PiecesBuilder> lost(holders.size());
  for_each_shared(lists_of(holders, &Holding::held), [&](Extent range, std::span<const size_t> sharing) {
    const auto by_rank = [&](size_t a, size_t b) { return holders[a].rank < holders[b].rank; };
    const size_t winner = lowest_wins ? *std::min_element(sharing.begin(), sharing.end(), by_rank)
                                      : *std::max_element(sharing.begin(), sharing.end(), by_rank);
    for (const size_t holder : sharing)
      if (holder != winner)
        lost[holder].add(Piece{range.begin, range.begin, range.size()});
  });
  std::vector<Pieces> lists;
  for (PiecesBuilder& builder : lost)
    lists.push_back(builder.take());
  return lists;
}

// Whether no two ranks hold an element, as far as a comparison of nests shows it; blocks are compared without walking
// their rows. False: unknown.
bool surely_disjoint(std::span<const Holding> holders) {
  constexpr int64_t k_most_nests = 4096, k_worth = 8;  // cost of a comparison, in pieces
  int64_t nests = 0, pieces = 0;
  for (const Holding& holder : holders) {
    if (holder.held.empty())
      continue;
    nests += holder.held.store()->records;
    pieces += holder.held.store()->pieces;
  }
  if (nests > k_most_nests || nests * k_worth > pieces)
    return false;
  struct Held {
    Extent hull;
    size_t holder = 0;
    Nest nest;
  };
  std::vector<Held> all;
  all.reserve(static_cast<size_t>(nests));
  for (size_t holder = 0; holder < holders.size(); ++holder)
    for (NestCursor cursor(holders[holder].held); !cursor.done(); cursor.next())
      all.push_back({{cursor.nest().run.file, cursor.file_end()}, holder, cursor.nest()});
  std::vector<const Held*> sorted;
  for (const Held& each : all)
    sorted.push_back(&each);
  std::sort(sorted.begin(), sorted.end(),
            [](const Held* one, const Held* other) { return one->hull.begin < other->hull.begin; });
  int64_t left = pieces / k_worth;
  for (size_t i = 0; i < sorted.size(); ++i)
    for (size_t j = i + 1; j < sorted.size() && sorted[j]->hull.begin < sorted[i]->hull.end; ++j) {
      if (--left < 0)
        return false;
      if (sorted[i]->holder != sorted[j]->holder && may_meet(sorted[i]->nest, sorted[j]->nest))
        return false;
    }
  return true;
}

Status bad_owners(std::vector<int> ranks, std::string message) {
  const int lowest = *std::min_element(ranks.begin(), ranks.end());
  return {Code::bad_argument, std::move(message), lowest};
}

// Each held element must have exactly one owner.
Status check_owners(std::span<const Holding> holders) {
  for (const Holding& holder : holders)
    if (!holder.has_flags && !holder.held.empty())
      return bad_owners(
          {holder.rank},
          fmt::format("owner=partitioner needs owner flags for all points, but rank {} gave none", holder.rank));

  const auto owned = lists_of(holders, &Holding::owned);
  Status status;
  for_each_shared(owned, [&](Extent range, std::span<const size_t> sharing) {
    if (!status.ok())
      return;
    std::vector<int> ranks;
    for (const size_t holder : sharing)
      ranks.push_back(holders[holder].rank);
    status = bad_owners(ranks, fmt::format("point {} is owned by {}; one rank must own it", shown_index(range.begin),
                                           name_ranks(ranks)));
  });
  if (!status.ok())
    return status;

  const Pieces orphans = subtract(coverage(lists_of(holders, &Holding::held)), coverage(owned));
  if (orphans.empty())
    return {};
  const int64_t point = hull(orphans).begin;
  std::vector<int> ranks;
  for (const Holding& holder : holders)
    if (bytes_within(holder.held, {point, point + 1}) > 0)
      ranks.push_back(holder.rank);
  return bad_owners(ranks,
                    fmt::format("point {} is held by {} but no rank owns it", shown_index(point), name_ranks(ranks)));
}

}  // namespace

Extent even_part(int64_t total, int64_t parts, int64_t index) noexcept {
  const int64_t each = total / parts;
  const int64_t more = total % parts;
  const int64_t begin = index * each + std::min(index, more);
  return {begin, begin + each + (index < more ? 1 : 0)};
}

Extent Directory::block(int directory) const noexcept {
  const int64_t grains = ceil_divide(elements, grain);
  const Extent part = even_part(grains, ranks, directory);
  const auto place = [&](int64_t at) { return at == grains ? elements : at * grain; };
  return {place(part.begin), place(part.end)};
}

Extent Directory::view(int directory) const noexcept {
  const Extent own = block(directory);
  if (own.empty())
    return own;
  return {std::max<int64_t>(0, own.begin - margin), own.end + std::min(margin, elements - own.end)};
}

int Directory::rank_of(int64_t element) const noexcept {
  const int64_t grains = ceil_divide(elements, grain), at = element / grain;
  const int64_t each = grains / ranks;
  const int64_t more = grains % ranks;
  const int64_t in_larger = more * (each + 1);  // grains in the parts that have one more
  return static_cast<int>(at < in_larger ? at / (each + 1) : more + (at - in_larger) / each);
}

DirectoryPart Directory::part_of(int rank) const noexcept {
  if (rank % spacing != 0 || rank / spacing >= ranks)
    return {};
  return {rank / spacing, block(rank / spacing), view(rank / spacing)};
}

std::vector<DirectoryPart> split_by_directory(PieceView held, const Directory& directory) {
  std::vector<DirectoryPart> parts;
  // From the first element that no directory rank has received, jumps to the next one that sees it. Blocks within holes
  // are thus skipped.
  const Extent all = hull(held);
  int next = 0;
  for (int64_t position = all.begin; position < all.end;) {
    const int64_t element = next_offset(held, position);
    next = std::max(next, directory.rank_of(std::max<int64_t>(0, element - directory.margin)));
    const DirectoryPart part{next, directory.block(next), directory.view(next)};
    if (element < part.view.end)
      parts.push_back(part);
    // The view of the next directory rank begins a margin before its block.
    position = std::max(position, part.block.end - std::min(directory.margin, part.block.end));
    if (part.block.end == directory.elements)
      break;
    ++next;
  }
  return parts;
}

Result<std::vector<Pieces>> lost_pieces(std::span<const Holding> holders, OwnerPolicy policy) {
  if (policy != OwnerPolicy::partitioner) {
    if (surely_disjoint(holders))
      return std::vector<Pieces>(holders.size());
    return lost_by_rank(holders, policy == OwnerPolicy::first);
  }
  if (Status status = check_owners(holders); !status.ok())
    return status;
  std::vector<Pieces> lost;
  for (const Holding& holder : holders)
    lost.push_back(subtract(holder.held, holder.owned));
  return lost;
}

Pieces join(std::span<const Pieces> lists) {
  if (lists.size() == 1)
    return lists.front();
  PiecesBuilder all;
  int64_t memory = 0;
  for (const Pieces& list : lists)
    for (NestCursor cursor(list); !cursor.done(); cursor.next()) {
      all.add(packed(cursor.nest(), memory));
      memory += cursor.nest().bytes();
    }
  return all.take();
}

}  // namespace windrow
