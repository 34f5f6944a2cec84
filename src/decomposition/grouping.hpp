// SPDX-License-Identifier: BSD-3-Clause
// Who writes the points that several ranks hold: the rules that look at a point and its neighbours in the file. Pure.
// Source: Interval Data Grouping, "Optimization and evaluation of parallel I/O in BIPS3D", section 5 (figure 4)
// and 6.2.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/ownership.hpp"
#include "decomposition/shared_points.hpp"

namespace windrow {

// Who writes a shared node as the text of section 5 and table 2 have it: `before`, who has been chosen for the node
// before, where it holds this one too; else `after`, the partitioner's of the next node; else the first of `list`, the
// node's partitions, the partitioner's own first. Negative: there is none.
int idg_owner(std::span<const int> list, int before, int after) noexcept;

// The same as figure 4 has it, L9 to L11, line by line: `before` is the partitioner's too, and the loop has no exit, so
// that of two entries that match the later one counts. For the mesh of figure 3 that is not table 2: nodes 1 and 5 go
// to part 1, and there are four intervals instead of two.
int idg_owner_of_figure(std::span<const int> list, int before, int after) noexcept;

// The same for a number on every computer, and as good as random.
uint64_t scramble(int64_t number) noexcept;

// Of `count` holders, the same one for a point whenever it is asked.
int random_holder(int64_t point, int count) noexcept;

// Whom the partitioner gave the points that a directory rank sees, from the owner flags.
class Partition {
 public:
  // May throw std::bad_alloc.
  explicit Partition(std::span<const Holding> holdings);

  struct Range {
    Extent points;
    int owner = 0;  // index of a holding
  };
  std::span<const Range> ranges() const noexcept { return ranges_; }  // in file order
  // Whether each point that is held has one owner. `held`: how many are. Where not, lost_pieces() says what is wrong.
  bool is_sound(int64_t held) const noexcept { return all_flagged_ && !owned_twice_ && owned_ == held; }

 private:
  std::vector<Range> ranges_;
  int64_t owned_ = 0;  // points
  bool owned_twice_ = false, all_flagged_ = true;
};

// A partition asked from point to point, nearly in file order.
class PartitionReader {
 public:
  explicit PartitionReader(const Partition& partition) noexcept : ranges_(partition.ranges()) {}
  int owner_of(int64_t point) noexcept;  // k_nobody: it has none

 private:
  std::span<const Partition::Range> ranges_;
  size_t at_ = 0;
};

// A shared point's partitions: its own first.
void list_partitions(int own, std::span<const int> holders, std::vector<int>& list);

// Interval data grouping, of the directory rank's segments. By a partition that is sound.
// The order of a list beyond its first is that of ranks: the neighbours in the mesh, whose order the paper takes, are
// not known here. Across a cut (shared_points.hpp) nothing is known of the point before and after.
struct Grouping {
  std::vector<int> chosen;  // [runs] index of a holder: a run has one owner, since who owns its first point holds all
                            // of it; of runs in no segment the first
  std::vector<int64_t> loads;      // [holders] points that each writes, of the segments and alone in the block
  std::vector<int64_t> intervals;  // [holders] that each writes; one that goes on across a cut counts twice
};
Grouping group_by_idg(const SharedPoints& shared, const Partition& partition);

}  // namespace windrow
