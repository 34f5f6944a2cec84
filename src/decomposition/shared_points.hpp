// SPDX-License-Identifier: BSD-3-Clause
// Replicated points as one directory rank sees them: their positions in the file, their holders, and the only holders
// of the points on either side. Interval grouping decides from these (grouping.hpp, balance.hpp). Pure.
//
// Points are decided in segments: sequences of consecutive replicated points. The points on both sides of a segment
// have one holder each or none, so segments are independent. A segment belongs to the directory rank in whose block it
// begins. Each directory rank sees a grain and a point beyond both ends of its block, so that it sees the whole segment
// and what follows. A longer segment is cut at each multiple of a grain before which a whole grain is shared. Segments
// and cuts depend on the holders only, not on the number of directory ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/ownership.hpp"

namespace windrow {

inline constexpr int64_t k_grain = 1024;  // points; directory blocks begin at multiples
inline constexpr int64_t k_margin = k_grain +
                                    // points seen beyond a block: the last segment may extend a grain beyond it, and
                                    // one more point shows whether it ends there
                                    1;
// minimum points of a block: in smaller blocks the margins would be most of the work
inline constexpr int64_t k_block_least = 8 * k_grain;
inline constexpr int64_t k_run_most = 64;  // a run ends at each multiple; a run is never divided

// Directory ranks are at equal distances among all ranks. There is at least one, and no more than have the minimum
// number of points each.
Directory directory_of_points(int64_t points, int ranks) noexcept;

// Consecutive points with the same holders.
struct SharedRun {
  Extent points;
  size_t holders = 0;  // index of the first in SharedPoints::holders; ends at that of the next run
};

inline constexpr int k_no_holder = -1;  // held by no rank, or outside the decomposition
inline constexpr int k_not_seen = -2;   // across a cut

struct Segment {
  size_t begin = 0, end = 0;                    // indices of runs
  int left = k_no_holder, right = k_no_holder;  // the only holder of the point before and of the point after
};

struct SharedPoints {
  Extent block;            // of this directory rank
  std::vector<int> ranks;  // the ranks of the holders, ascending; holders are indices of this list
  std::vector<SharedRun>
      runs;  // all that this directory rank sees, in file order, plus a last entry with the end of the holders
  std::vector<int> holders;           // ascending within a run
  std::vector<Segment> segments;      // those that begin in the block
  std::vector<int64_t> alone;         // [ranks] points of the block with this rank as the only holder
  std::vector<int64_t> alone_starts;  // [ranks] of those: points whose predecessor has another only holder, or none
  int64_t holes = 0;                  // points of the block without a holder
  int64_t held = 0;                   // points with a holder, in the whole view

  std::span<const int> holders_of(size_t run) const noexcept {
    return std::span(holders).subspan(runs[run].holders, runs[run + 1].holders - runs[run].holders);
  }
};

// [runs] the lowest holder of each.
std::vector<int> first_holders(const SharedPoints& shared);

// `holdings`: by rank, the elements of `part.view` that each holds; `points`: of the decomposition. May throw
// std::bad_alloc.
SharedPoints find_shared(std::span<const Holding> holdings, const DirectoryPart& part, int64_t points);

}  // namespace windrow
