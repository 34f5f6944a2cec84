// SPDX-License-Identifier: BSD-3-Clause
// Ownership: chooses the rank that writes an element that several ranks hold. Ranks may hold any elements, so no rank
// sees all overlaps. Elements are therefore assigned to a directory, cut evenly over all ranks or some of them. Each
// rank sends its elements to the directory ranks concerned, which return the elements that it must not write. Pure: the
// caller sends the messages. Counts elements, as decomposition.hpp does.
//
//   parts = split_by_directory(element_pieces(d), directory)    each rank; it sends what it holds and owns in their
//   views lost  = lost_pieces(holdings received, policy)              each directory rank subtract(element_pieces(d),
//   join(lost lists received))      each rank: what it writes
//
// For points, shared_points.hpp and losses.hpp replace the second and third line. `same` needs no directory: all ranks
// hold the same elements, and the lowest rank writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// highest, first: the highest or lowest rank that holds an element writes it. partitioner: the rank that flagged it as
// owned. For points only (grouping.hpp, balance.hpp): idg, idg_figure, random, balanced.
enum class OwnerPolicy {
  highest,
  first,
  partitioner,
  idg,
  idg_figure,
  random,
  balanced
};
inline constexpr size_t k_owner_policies = 7;

// Part `index` of `total` items cut into `parts` parts as evenly as possible: the first `total` mod `parts` parts get
// one more. For 0 <= index < parts.
Extent even_part(int64_t total, int64_t parts, int64_t index) noexcept;

struct DirectoryPart;

// The assignment of elements to directory ranks: blocks of whole grains, cut evenly. Each directory rank also sees a
// margin on both sides of its block.
struct Directory {
  int64_t elements = 0;
  int ranks = 1;  // directory ranks, numbered from 0
  int64_t grain = 1;
  int64_t margin = 0;
  int spacing = 1;  // every spacing-th rank of the program is a directory rank

  Extent block(int directory) const noexcept;
  Extent view(int directory) const noexcept;       // the block with its margins; empty if the block is
  int rank_of(int64_t element) const noexcept;     // 0 <= element < elements
  DirectoryPart part_of(int rank) const noexcept;  // of a rank of the program; empty if it is no directory rank
};

// The directory ranks that see a part of a list, in rank order. O(parts log n).
struct DirectoryPart {
  int directory = 0;  // its number; its rank is spacing times that
  Extent block, view;
};
std::vector<DirectoryPart> split_by_directory(PieceView held, const Directory& directory);

// The elements of one rank within the view of a directory rank.
struct Holding {
  int rank = 0;
  Pieces held;
  Pieces owned;            // part of `held`
  bool has_flags = false;  // the rank said which of its points it owns, possibly none
};

// What each holder must not write: result[i] belongs to holders[i]; memory offsets are unused. Every held element is
// then written exactly once. Ranks must differ; the policy is highest, first or partitioner. Near-linear in the extents
// that interleave. bad_argument, with partitioner: a held element has no owner or two, or a holder gave no flags; the
// message names the element and the ranks.
Result<std::vector<Pieces>> lost_pieces(std::span<const Holding> holders, OwnerPolicy policy);

// Concatenates lists; each ends at or before the start of the next.
Pieces join(std::span<const Pieces> lists);

}  // namespace windrow
