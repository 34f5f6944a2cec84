// SPDX-License-Identifier: BSD-3-Clause
// Interleaved records: rows of an array that are not contiguous in the file, because rows of other arrays are between
// them.
#pragma once

#include "extent/pieces.hpp"

namespace windrow {

// Converts pieces of an array of contiguous rows of `row` bytes to pieces of a file in which row i begins at i *
// `stride`; memory is unchanged. stride >= row > 0, and the end of the last row fits into int64_t. May throw
// std::bad_alloc. O(nests) if the loops of a nest step from row to row and repeat a pattern within a row, as those of
// blocks do; otherwise O(rows that the pieces overlap).
Pieces interleave(PieceView pieces, int64_t row, int64_t stride);

}  // namespace windrow
