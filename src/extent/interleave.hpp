// SPDX-License-Identifier: BSD-3-Clause
// Interleaved records: rows of an array that do not lie one after the other, since rows of other arrays lie between
// them.
#pragma once

#include "extent/pieces.hpp"

namespace windrow {

// Pieces of an array of rows of `row` bytes, one after the other, as pieces of a file in which row i begins at i *
// `stride`; each stays at its place of memory. stride >= row > 0, and the last row's end fits into int64_t. May throw
// std::bad_alloc. O(nests) where the loops of a nest go from row to row and repeat what lies in one, as those of blocks
// do; else O(rows that the pieces meet).
Pieces interleave(PieceView pieces, int64_t row, int64_t stride);

}  // namespace windrow
