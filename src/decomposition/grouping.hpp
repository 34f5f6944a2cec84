// SPDX-License-Identifier: BSD-3-Clause
// Writers of replicated points: the rules that consider a point and its neighbours in the file. Pure. Source: Interval
// Data Grouping, "Optimization and evaluation of parallel I/O in BIPS3D", section 5 (figure 4) and 6.2.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/ownership.hpp"
#include "decomposition/shared_points.hpp"

namespace windrow {

// The writer of a shared node by the text of section 5 and table 2. `before`: the writer of the previous node, if it
// holds this node too; otherwise `after`, the partitioner's owner of the next node, if it holds this node; otherwise
// the first of `list`, the partitions of the node, which is the partitioner's own. Negative: none.
int idg_owner(std::span<const int> list, int before, int after) noexcept;

// The same by figure 4, L9 to L11, line by line: `before` is the partitioner's owner too, and the loop has no exit, so
// the later of two matching entries counts. For the mesh of figure 3 this differs from table 2: nodes 1 and 5 go to
// part 1, and there are four intervals instead of two.
int idg_owner_of_figure(std::span<const int> list, int before, int after) noexcept;

// A pseudo-random function of a number; the same on every computer.
uint64_t scramble(int64_t number) noexcept;

// One of `count` holders; always the same for a point.
int random_holder(int64_t point, int count) noexcept;

// The partitioner's owners of the points that a directory rank sees, from the owner flags.
class Partition {
 public:
  // May throw std::bad_alloc.
  explicit Partition(std::span<const Holding> holdings);

  struct Range {
    Extent points;
    int owner = 0;  // index of a holding
  };
  std::span<const Range> ranges() const noexcept { return ranges_; }  // in file order
  // Whether each held point has exactly one owner. `held`: the number of such points. If not, lost_pieces() explains
  // why.
  bool is_sound(int64_t held) const noexcept { return all_flagged_ && !owned_twice_ && owned_ == held; }

 private:
  std::vector<Range> ranges_;
  int64_t owned_ = 0;  // number of points
  bool owned_twice_ = false, all_flagged_ = true;
};

// Looks up a partition point by point; fast if points nearly ascend.
class PartitionReader {
 public:
  explicit PartitionReader(const Partition& partition) noexcept : ranges_(partition.ranges()) {}
  int owner_of(int64_t point) noexcept;  // k_no_holder: none

 private:
  std::span<const Partition::Range> ranges_;
  size_t at_ = 0;
};

// The partitions of a shared point: its own first.
void list_partitions(int own, std::span<const int> holders, std::vector<int>& list);

// Interval data grouping of the segments of a directory rank, by a valid partition. The entries of a list after the
// first are in rank order: the paper takes the order of neighbours in the mesh, which is unknown here. Across a cut
// (shared_points.hpp) the previous and the next point are unknown.
struct Grouping {
  // [runs] index of a holder. A run has one owner, since the owner of its first point holds all of it; for runs in no
  // segment, the first holder
  std::vector<int> chosen;
  std::vector<int64_t> loads;      // [holders] points that each writes, in segments and alone in the block
  std::vector<int64_t> intervals;  // [holders] intervals that each writes; one that crosses a cut counts twice
};
Grouping group_by_idg(const SharedPoints& shared, const Partition& partition);

}  // namespace windrow
