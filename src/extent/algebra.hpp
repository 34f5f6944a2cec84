// SPDX-License-Identifier: BSD-3-Clause
// Set operations on lists of pieces. Nests are cut by arithmetic; single pieces are walked in at most one of the lists.
// Results are built in packed form. No intermediate list is as long as the number of pieces in an input, except where
// pieces interleave.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "extent/pieces.hpp"

namespace windrow {

// Builds a list of `count` nests in any order, which may interleave and overlap. Where pieces overlap, the later in the
// input wins. Nests that overlap no other stay whole: O(n log n) in nests, plus the pieces of overlapping nests.
// `nest_of` is called a few times for each nest.
Pieces pieces_from_nests(size_t count, const std::function<Nest(size_t)>& nest_of);

// The parts of `a` outside `b`, with the memory of `a`. O(nests of `a` + pieces of `b`).
Pieces subtract(const Pieces& a, PieceView b);

// The file bytes of all lists together, as maximal contiguous extents with packed memory. The lists may overlap.
// O(pieces log lists).
Pieces coverage(std::span<const PieceView> lists);

}  // namespace windrow
