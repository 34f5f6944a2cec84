// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/grouping.hpp"

#include <algorithm>
#include <cstdint>

#include "extent/sweep.hpp"

namespace windrow {

int idg_owner(std::span<const int> list, int before, int after) noexcept {
  const auto holds = [&](int partition) { return std::find(list.begin(), list.end(), partition) != list.end(); };
  return holds(before) ? before : holds(after) ? after : list.front();
}

int idg_owner_of_figure(std::span<const int> list, int before, int after) noexcept {
  int owner = list.front();           // "not shown in the figure"
  for (const int partition : list) {  // L9
    if (partition == before)          // L10
      owner = before;
    else if (partition == after)  // L11
      owner = after;
  }
  return owner;
}

uint64_t scramble(int64_t number) noexcept {
  // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one step from the number of the point.
  uint64_t bits = static_cast<uint64_t>(number) + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

int random_holder(int64_t point, int count) noexcept {
  return static_cast<int>(scramble(point) % static_cast<uint64_t>(count));
}

Partition::Partition(std::span<const Holding> holdings) {
  std::vector<PieceView> lists;
  for (const Holding& holding : holdings) {
    lists.emplace_back(holding.owned);
    all_flagged_ = all_flagged_ && (holding.has_flags || holding.held.empty());
  }
  for_each_held(lists, [&](Extent points, std::span<const size_t> owners) {
    const int owner = static_cast<int>(owners.front());
    owned_twice_ = owned_twice_ || owners.size() > 1;
    owned_ += points.size();
    if (!ranges_.empty() && ranges_.back().owner == owner && ranges_.back().points.end == points.begin)
      ranges_.back().points.end = points.end;
    else
      ranges_.push_back({points, owner});
  });
}

int PartitionReader::owner_of(int64_t point) noexcept {
  while (at_ > 0 && ranges_[at_ - 1].points.end > point)
    --at_;
  while (at_ < ranges_.size() && ranges_[at_].points.end <= point)
    ++at_;
  return at_ < ranges_.size() && ranges_[at_].points.begin <= point ? ranges_[at_].owner : k_no_holder;
}

void list_partitions(int own, std::span<const int> holders, std::vector<int>& list) {
  list.assign(1, own);
  for (const int holder : holders)
    if (holder != own)
      list.push_back(holder);
}

Grouping group_by_idg(const SharedPoints& shared, const Partition& partition) {
  Grouping grouping{.chosen = first_holders(shared), .loads = shared.alone, .intervals = shared.alone_starts};
  PartitionReader reader(partition);
  std::vector<int> list;
  for (const Segment& segment : shared.segments) {
    int before = segment.left;
    const int64_t end = shared.runs[segment.end - 1].points.end;
    for (size_t run = segment.begin; run < segment.end; ++run) {
      const Extent points = shared.runs[run].points;
      list_partitions(reader.owner_of(points.begin), shared.holders_of(run), list);
      const int after = points.begin + 1 < end ? reader.owner_of(points.begin + 1) : segment.right;
      const int owner = idg_owner(list, before, after);
      grouping.chosen[run] = owner;
      grouping.loads[static_cast<size_t>(owner)] += points.size();
      grouping.intervals[static_cast<size_t>(owner)] += owner == before ? 0 : 1;
      before = owner;
    }
    if (segment.right >= 0 && segment.right != before)
      ++grouping.intervals[static_cast<size_t>(segment.right)];
  }
  return grouping;
}

}  // namespace windrow
