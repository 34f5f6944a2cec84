// SPDX-License-Identifier: BSD-3-Clause
// Points that several ranks hold, as one directory rank sees them: where they lie in the file, who holds them, and who
// alone holds the points on either side of them. What the grouping of intervals decides from (grouping.hpp,
// balance.hpp). Pure.
//
// Points are decided in segments: sequences of consecutive points all of which several ranks hold. Points that one rank
// holds alone lie on both sides of a segment and are nobody's choice, so segments can be decided one by one. A segment
// belongs to the directory rank in whose block it begins. So that it is whole there, and who follows it is known, each
// sees a grain and a point beyond its block on both sides. A segment that goes on for longer is cut: at each multiple
// of a grain before which a whole grain is shared. Where segments lie and where they are cut follows from who holds
// what, not from how many directory ranks there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/ownership.hpp"

namespace windrow {

inline constexpr int64_t k_grain = 1024;  // points; directory blocks begin at multiples
inline constexpr int64_t k_margin =
    k_grain +
    1;  // of a block: the last segment may be a grain long beyond it, and one point shows whether it ends there
inline constexpr int64_t k_block_least =
    8 * k_grain;  // points of a block: where there are fewer, what a directory rank sees beyond it is most of its work
inline constexpr int64_t k_run_most = 64;  // a run ends at each multiple: what is never parted

// With directory ranks at equal distances among all ranks, at least one, and no more than have so many points each to
// look after.
Directory directory_of_points(int64_t points, int ranks) noexcept;

// Consecutive points that the same ranks hold.
struct SharedRun {
  Extent points;
  size_t holders = 0;  // index of the first in SharedPoints::holders; the next run's is the end
};

inline constexpr int k_nobody = -1;    // not held, or outside the whole
inline constexpr int k_not_seen = -2;  // beyond a cut

struct Segment {
  size_t begin = 0, end = 0;              // indices of runs
  int left = k_nobody, right = k_nobody;  // which holder alone has the point before and the point after
};

struct SharedPoints {
  Extent block;            // of this directory rank
  std::vector<int> ranks;  // a holder is an index in here; ascending
  std::vector<SharedRun>
      runs;  // of all that this directory rank sees, in file order, and one more: where the last one's holders end
  std::vector<int> holders;           // ascending within a run
  std::vector<Segment> segments;      // those that begin in the block
  std::vector<int64_t> alone;         // [ranks] points of the block that each holds alone
  std::vector<int64_t> alone_starts;  // [ranks] of those: before how many the point is another's alone, or nobody's
  int64_t holes = 0;                  // points of the block that nobody holds
  int64_t held = 0;                   // points of all it sees that somebody holds

  std::span<const int> holders_of(size_t run) const noexcept {
    return std::span(holders).subspan(runs[run].holders, runs[run + 1].holders - runs[run].holders);
  }
};

// [runs] the lowest holder of each.
std::vector<int> first_holders(const SharedPoints& shared);

// `holdings`: by rank, what each holds of `part.view`; `points`: of the whole. May throw std::bad_alloc.
SharedPoints find_shared(std::span<const Holding> holdings, const DirectoryPart& part, int64_t points);

}  // namespace windrow
