// SPDX-License-Identifier: BSD-3-Clause
// Ownership: of the ranks that hold an element, who writes it? Every rank may hold anything, so nobody sees all
// overlaps; but an element has one place in a directory that is cut evenly over all ranks, or some. Each rank sends
// what it holds to the directory ranks concerned; these answer with what it must not write. Pure: others send the
// messages. Counted in elements, as in decomposition.hpp.
//
//   parts = split_by_directory(element_pieces(d), directory)       each rank: what it holds and owns in their views is
//   sent lost  = lost_pieces(holdings received, policy)                    each directory rank
//   subtract(element_pieces(d), join(lost lists received))            each rank: what it writes
//
// Points go another way from the second line on: shared_points.hpp and losses.hpp. `same` needs no directory: all hold
// the same, and the lowest rank writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// highest, first: the highest or lowest rank that holds an element writes it. partitioner: the rank that flagged it as
// owned. Of points only (grouping.hpp, balance.hpp): idg, idg_figure, random, balanced.
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

// Part `index` of `total` things cut into `parts` as evenly as can be: the first `total` mod `parts` parts get one
// more. For 0 <= index < parts.
Extent even_part(int64_t total, int64_t parts, int64_t index) noexcept;

struct DirectoryPart;

// Who looks after which elements: blocks of whole grains, cut evenly over the directory ranks. Each is told what lies
// up to a margin beyond its block, too.
struct Directory {
  int64_t elements = 0;
  int ranks = 1;  // directory ranks, numbered from 0
  int64_t grain = 1;
  int64_t margin = 0;
  int spacing = 1;  // every so manyth rank of the program is one

  Extent block(int directory) const noexcept;
  Extent view(int directory) const noexcept;       // the block with its margins; empty where the block is
  int rank_of(int64_t element) const noexcept;     // 0 <= element < elements
  DirectoryPart part_of(int rank) const noexcept;  // of the program; empty where it is no directory rank
};

// Which directory ranks are told something of a list, in rank order. O(parts log n).
struct DirectoryPart {
  int directory = 0;  // its number; its rank is spacing times that
  Extent block, view;
};
std::vector<DirectoryPart> split_by_directory(PieceView held, const Directory& directory);

// What one rank holds of what a directory rank is told of.
struct Holding {
  int rank = 0;
  Pieces held;
  Pieces owned;            // part of `held`
  bool has_flags = false;  // the rank said which of its points it owns, be it none
};

// What each holder must not write: result[i] belongs to holders[i]; memory does not matter. Everything held is then
// written once. Ranks must differ; the policy is highest, first or partitioner. Near-linear in the extents that
// interleave. bad_argument, with partitioner: an element that is held has no owner or two, or a holder gave no flags;
// the message names the element and the ranks.
Result<std::vector<Pieces>> lost_pieces(std::span<const Holding> holders, OwnerPolicy policy);

// One list of several, each of which ends where the next begins or before.
Pieces join(std::span<const Pieces> lists);

}  // namespace windrow
