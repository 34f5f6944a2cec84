// SPDX-License-Identifier: BSD-3-Clause
// Node classification: which parts of a partitioned mesh hold a node. Pure.
// Source: "Optimization and evaluation of parallel I/O in BIPS3D", figure 4, L1 to L5.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "graph/adjacency.hpp"

namespace windrow {

// For each node: its own part, then the different parts of its neighbours, in the order of the neighbours. A node whose
// list has one entry is local, any other is shared. `offsets` and `neighbours` form a Lists; `partition` [nodes].
// O(neighbours x parts of a node). bad_argument: offsets that descend or leave the lists, or an invalid neighbour or
// part; the message names the node.
Result<Lists> classify_nodes(std::span<const int64_t> offsets, std::span<const int64_t> neighbours,
                             std::span<const int> partition);

}  // namespace windrow
