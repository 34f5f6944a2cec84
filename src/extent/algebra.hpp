// SPDX-License-Identifier: BSD-3-Clause
// Set operations on lists of pieces. Nests are cut by arithmetic; single pieces are walked on one side at most. What
// they make grows in packed form: nothing here holds a list as long as there are pieces in any other, but where pieces
// interleave.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "extent/pieces.hpp"

namespace windrow {

// Of `count` nests in any order, interleaving and overlapping each other at will: where pieces overlap the later in the
// input wins. Those that meet no other stay whole: O(n log n) in nests, plus the pieces of those that do meet others.
// `nest_of` is asked a few times for each.
Pieces pieces_from_nests(size_t count, const std::function<Nest(size_t)>& nest_of);

// Parts of `a` that do not lie in `b`; with the memory of `a`. O(nests of `a` + pieces of `b`).
Pieces subtract(const Pieces& a, PieceView b);

// File bytes of all lists together, as maximal contiguous extents; memory goes on packed. The lists may overlap each
// other. O(pieces log lists).
Pieces coverage(std::span<const PieceView> lists);

}  // namespace windrow
