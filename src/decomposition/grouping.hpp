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

// The disk access scheduler of figure 4, L9 to L11, for one shared node. `list`: its partitions, its own (the partitioner's) first.
// `before`, `after`: the partitioner's of the nodes next to it in the file; negative where there is none. Line by line: the loop has no
// exit, so of two entries that match, the later one counts.
int idg_owner(std::span<const int> list, int before, int after) noexcept;

// As the paper's text and its table 2 have it, which figure 4 does not give (its node 1 would go to 1, node 5 too): `before` is who
// has been chosen for the node before; it comes first, then `after`, then the node's own.
int idg_owner_as_in_table(std::span<const int> list, int before, int after) noexcept;

// Of `count` holders, the same one for a point whenever it is asked.
int random_holder(int64_t point, int count) noexcept;

// What each holder does not write, and what comes of it.
struct Grouping {
  std::vector<Pieces> lost;    // [holders] of the block; memory does not matter
  std::vector<int64_t> loads;  // [holders] points of the block that each writes
  int64_t intervals = 0;       // that begin in the block
};

// By the flags, which are complete and sound (see lost_pieces). The order of a list beyond its first is that of ranks: the
// neighbours in the mesh, whose order the paper takes, are not known here.
Grouping group_by_idg(const SharedPoints& shared, std::span<const Holding> holdings, Extent view);
Grouping group_by_chance(const SharedPoints& shared);

}  // namespace windrow
