// SPDX-License-Identifier: BSD-3-Clause
// Who writes the points that several ranks hold: the rules that look at a point and its neighbours in the file. Pure.
// Source: Interval Data Grouping, "Optimization and evaluation of parallel I/O in BIPS3D", section 5 (figure 4) and 6.2.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/ownership.hpp"
#include "decomposition/shared_points.hpp"

namespace windrow {

// Who writes a shared node as the text of section 5 and table 2 have it: `before`, who has been chosen for the node before, where it holds this one
// too; else `after`, the partitioner's of the next node; else the first of `list`, the node's partitions, the partitioner's own first. Negative: there is none.
int idg_owner(std::span<const int> list, int before, int after) noexcept;

// The same as figure 4 has it, L9 to L11, line by line: `before` is the partitioner's too, and the loop has no exit, so that of two entries that match the
// later one counts. For the mesh of figure 3 that is not table 2: nodes 1 and 5 go to part 1, and there are four intervals instead of two.
int idg_owner_of_figure(std::span<const int> list, int before, int after) noexcept;

// The same for a number on every computer, and as good as random.
uint64_t scramble(int64_t number) noexcept;

// Of `count` holders, the same one for a point whenever it is asked.
int random_holder(int64_t point, int count) noexcept;

// What each holder does not write; memory does not matter.
using Losses = std::vector<Pieces>;  // [holders]

// Interval data grouping, of the directory rank's segments: what they lose and what comes of it. By the flags, which are complete and sound (see
// lost_pieces). The order of a list beyond its first is that of ranks: the neighbours in the mesh, whose order the paper takes, are not known here.
// Across a cut (shared_points.hpp) nothing is known of the point before and after.
struct Grouping {
  Losses lost;
  std::vector<int> chosen;     // [runs] index of a holder; of runs in no segment the first
  std::vector<int64_t> loads;  // [holders] points that each writes, of the segments and alone in the block
  std::vector<int64_t> intervals;  // [holders] that each writes; one that goes on across a cut counts twice
};
Grouping group_by_idg(const SharedPoints& shared, std::span<const Holding> holdings);

// Of the block's points.
Losses lose_by_figure(const SharedPoints& shared, std::span<const Holding> holdings, Extent view);
Losses lose_by_chance(const SharedPoints& shared);

}  // namespace windrow
