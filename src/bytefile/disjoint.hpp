// SPDX-License-Identifier: BSD-3-Clause
// Makes the byte lists of ranks disjoint: a byte that several ranks list is written by the highest of them.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "extent/pieces.hpp"

namespace windrow {

struct DisjointList {
  Pieces written;           // the part of a rank's list that this rank writes
  bool is_changed = false;  // whether lists overlapped: the same on all ranks
};

// Collective, agreed. `hull`: of the lists of all ranks, the same on all ranks. `local`: an error of this rank. `bits`:
// combined over the ranks by or, because that costs nothing here.
//
// The hull is cut evenly between the ranks. Each rank sends the extents of its list in each part to the rank of that
// part, which looks for bytes that several ranks hold. If there are none anywhere, that was all: one sparse exchange
// and one agreement.
Result<DisjointList> make_disjoint(Comm& comm, Status local, const Pieces& held, Extent hull, std::span<int64_t> bits);

}  // namespace windrow
