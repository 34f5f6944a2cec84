// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/grouping.hpp"

#include <algorithm>
#include <functional>

#include "extent/sweep.hpp"

namespace windrow {
namespace {

// Calls choose(point, holders) for each shared point of the block and notes who loses it.
template <class Choose>
void decide(const SharedPoints& shared, Grouping& grouping, Choose&& choose) {
  std::vector<PiecesBuilder> lost(shared.ranks.size());
  grouping.loads = shared.alone;
  for (size_t run = 0; run + 1 < shared.runs.size(); ++run) {
    const auto holders = shared.holders_of(run);
    const Extent points = intersect(shared.runs[run].points, shared.block);
    for (int64_t point = points.begin; point < points.end; ++point) {
      const int winner = choose(point, holders);
      ++grouping.loads[static_cast<size_t>(winner)];
      for (const int holder : holders)
        if (holder != winner) lost[static_cast<size_t>(holder)].add(Piece{point, point, 1});
    }
  }
  for (PiecesBuilder& list : lost) grouping.lost.push_back(list.take());
}

// Whom the partitioner gave the points of a view, asked in file order.
class Partition {
 public:
  Partition(std::span<const Holding> holdings) {
    std::vector<PieceView> lists;
    for (const Holding& holding : holdings) lists.emplace_back(holding.owned);
    for_each_held(lists, [&](Extent range, std::span<const size_t> owners) {
      const int owner = static_cast<int>(owners.front());
      if (!ranges_.empty() && ranges_.back().owner == owner && ranges_.back().points.end == range.begin)
        ranges_.back().points.end = range.end;
      else
        ranges_.push_back({range, owner});
    });
  }

  int owner_of(int64_t point) noexcept {
    while (at_ > 0 && ranges_[at_ - 1].points.end > point) --at_;
    while (at_ < ranges_.size() && ranges_[at_].points.end <= point) ++at_;
    return at_ < ranges_.size() && ranges_[at_].points.begin <= point ? ranges_[at_].owner : k_nobody;
  }

 private:
  struct Range {
    Extent points;
    int owner;
  };
  std::vector<Range> ranges_;
  size_t at_ = 0;
};

}  // namespace

int idg_owner(std::span<const int> list, int before, int after) noexcept {
  int owner = list.front();  // "not shown in the figure"
  for (const int partition : list) {  // L9
    if (partition == before)          // L10
      owner = before;
    else if (partition == after)      // L11
      owner = after;
  }
  return owner;
}

int idg_owner_as_in_table(std::span<const int> list, int before, int after) noexcept {
  const auto holds = [&](int partition) { return std::find(list.begin(), list.end(), partition) != list.end(); };
  return holds(before) ? before : holds(after) ? after : list.front();
}

int random_holder(int64_t point, int count) noexcept {
  // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one step from the point's number.
  uint64_t bits = static_cast<uint64_t>(point) + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31;
  return static_cast<int>(bits % static_cast<uint64_t>(count));
}

Grouping group_by_idg(const SharedPoints& shared, std::span<const Holding> holdings, Extent view) {
  Grouping grouping;
  Partition partition(holdings);
  std::vector<int> list;
  const auto owner_of = [&](int64_t point, std::span<const int> holders) {
    const int before = point > view.begin ? partition.owner_of(point - 1) : k_nobody;
    const int own = partition.owner_of(point);
    const int after = point + 1 < view.end ? partition.owner_of(point + 1) : k_nobody;
    list.assign(1, own);
    for (const int holder : holders)
      if (holder != own) list.push_back(holder);
    return idg_owner(list, before, after);
  };
  decide(shared, grouping, owner_of);

  // Intervals: where a point's writer is not that of the point before.
  int64_t end = view.begin;
  int last = k_nobody;
  const Extent from_before{shared.block.begin - 1, shared.block.end};
  const auto pass = [&](int64_t point, int owner) {
    if (point >= shared.block.begin && (point != end || owner != last)) ++grouping.intervals;
    end = point + 1;
    last = owner;
  };
  size_t run = 0;
  std::vector<PieceView> lists;
  for (const Holding& holding : holdings) lists.emplace_back(holding.held);
  for_each_held(lists, [&](Extent range, std::span<const size_t> holders) {
    range = intersect(range, from_before);
    if (range.empty()) return;
    if (holders.size() == 1) {
      pass(range.begin, static_cast<int>(holders.front()));
      end = range.end;
      return;
    }
    for (int64_t point = range.begin; point < range.end; ++point) {
      while (shared.runs[run].points.end <= point) ++run;
      pass(point, owner_of(point, shared.holders_of(run)));
    }
  });
  return grouping;
}

Grouping group_by_chance(const SharedPoints& shared) {
  Grouping grouping;
  decide(shared, grouping, [](int64_t point, std::span<const int> holders) {
    return holders[static_cast<size_t>(random_holder(point, static_cast<int>(holders.size())))];
  });
  return grouping;
}

}  // namespace windrow
