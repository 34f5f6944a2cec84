// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/grouping.hpp"

#include <algorithm>

#include "extent/sweep.hpp"

namespace windrow {
namespace {

class Losers {
 public:
  explicit Losers(size_t holders) : lost_(holders) {}
  void add(int64_t point, std::span<const int> holders, int winner) {
    for (const int holder : holders)
      if (holder != winner) lost_[static_cast<size_t>(holder)].add(Piece{point, point, 1});
  }
  Losses take() {
    Losses lists;
    for (PiecesBuilder& list : lost_) lists.push_back(list.take());
    return lists;
  }

 private:
  std::vector<PiecesBuilder> lost_;
};

// Calls choose(point, holders) for each shared point of the block and notes who loses it.
template <class Choose>
Losses decide(const SharedPoints& shared, Choose&& choose) {
  Losers losers(shared.ranks.size());
  for (size_t run = 0; run + 1 < shared.runs.size(); ++run) {
    const auto holders = shared.holders_of(run);
    const Extent points = intersect(shared.runs[run].points, shared.block);
    for (int64_t point = points.begin; point < points.end; ++point) losers.add(point, holders, choose(point, holders));
  }
  return losers.take();
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

// A shared point's partitions: its own first.
void list_partitions(int own, std::span<const int> holders, std::vector<int>& list) {
  list.assign(1, own);
  for (const int holder : holders)
    if (holder != own) list.push_back(holder);
}

}  // namespace

int idg_owner(std::span<const int> list, int before, int after) noexcept {
  const auto holds = [&](int partition) { return std::find(list.begin(), list.end(), partition) != list.end(); };
  return holds(before) ? before : holds(after) ? after : list.front();
}

int idg_owner_of_figure(std::span<const int> list, int before, int after) noexcept {
  int owner = list.front();           // "not shown in the figure"
  for (const int partition : list) {  // L9
    if (partition == before)          // L10
      owner = before;
    else if (partition == after)      // L11
      owner = after;
  }
  return owner;
}

uint64_t scramble(int64_t number) noexcept {
  // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one step from the point's number.
  uint64_t bits = static_cast<uint64_t>(number) + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

int random_holder(int64_t point, int count) noexcept { return static_cast<int>(scramble(point) % static_cast<uint64_t>(count)); }

Grouping group_by_idg(const SharedPoints& shared, std::span<const Holding> holdings) {
  Grouping grouping{.lost = {}, .chosen = first_holders(shared), .loads = shared.alone, .intervals = shared.alone_starts};
  Losers losers(shared.ranks.size());
  Partition partition(holdings);
  std::vector<int> list;
  for (const Segment& segment : shared.segments) {
    int before = segment.left;
    const int64_t end = shared.runs[segment.end - 1].points.end;
    for (size_t run = segment.begin; run < segment.end; ++run) {
      const auto holders = shared.holders_of(run);
      for (int64_t point = shared.runs[run].points.begin; point < shared.runs[run].points.end; ++point) {
        list_partitions(partition.owner_of(point), holders, list);
        const int after = point + 1 < end ? partition.owner_of(point + 1) : segment.right;
        const int owner = idg_owner(list, before, after);
        losers.add(point, holders, owner);
        grouping.chosen[run] = owner;  // of a run's later points too: its owner is the one before
        ++grouping.loads[static_cast<size_t>(owner)];
        grouping.intervals[static_cast<size_t>(owner)] += owner == before ? 0 : 1;
        before = owner;
      }
    }
    if (segment.right >= 0 && segment.right != before) ++grouping.intervals[static_cast<size_t>(segment.right)];
  }
  grouping.lost = losers.take();
  return grouping;
}

Losses lose_by_figure(const SharedPoints& shared, std::span<const Holding> holdings, Extent view) {
  Partition partition(holdings);
  std::vector<int> list;
  return decide(shared, [&](int64_t point, std::span<const int> holders) {
    const int before = point > view.begin ? partition.owner_of(point - 1) : k_nobody;
    list_partitions(partition.owner_of(point), holders, list);
    const int after = point + 1 < view.end ? partition.owner_of(point + 1) : k_nobody;
    return idg_owner_of_figure(list, before, after);
  });
}

Losses lose_by_chance(const SharedPoints& shared) {
  return decide(shared, [](int64_t point, std::span<const int> holders) {
    return holders[static_cast<size_t>(random_holder(point, static_cast<int>(holders.size())))];
  });
}

}  // namespace windrow
