// SPDX-License-Identifier: BSD-3-Clause
// FreeNest: nested regular runs as users describe them, with loops in any order and of any stride. They become nests.
#pragma once

#include <optional>
#include <vector>

#include "base/function_ref.hpp"
#include "extent/nest.hpp"

namespace windrow {

// A piece repeated by loops, the first of which is the innermost. Strides may be negative or zero, and smaller than
// what they repeat. There are no pieces if the length or a count is 0. No count is negative.
struct FreeNest {
  Piece first;
  std::vector<Loop> loops;
};

// From the lowest byte to the highest end of all pieces; empty if there are none. nullopt: an offset or the number of
// bytes in between does not fit into int64_t.
std::optional<Extent> file_hull(const FreeNest& nest) noexcept;
std::optional<Extent> memory_hull(const FreeNest& nest) noexcept;

// Calls add(const Nest&) with nests that together have the same pieces: loops are sorted by stride, and negative
// strides in the file are reversed. A loop whose stride is less than the span of what it repeats, and one beyond the
// depth of a nest, is expanded; the product of the counts of expanded loops is as small as a bounded search finds.
// Nests may interleave and overlap. They come in any order, also where several pieces have the same byte of the file.
// Both hulls fit into int64_t. May throw std::bad_alloc.
void for_each_sorted_nest(const FreeNest& nest, FunctionRef<void(const Nest&)> add);

}  // namespace windrow
