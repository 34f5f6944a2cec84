// SPDX-License-Identifier: BSD-3-Clause
// Grid: the order in which windows are served. Ranks that exchange messages walk the same grid, so the n-th
// message between two ranks belongs to the same window on both sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "exchange/item.hpp"
#include "exchange/view.hpp"
#include "plan/plan.hpp"

namespace windrow {

// The windows of one or several domains, round by round: step = round * domains + domain.
struct Grid {
  std::vector<Windows> domains;

  int64_t steps() const noexcept;
  int64_t round_of(int64_t step) const noexcept { return step / static_cast<int64_t>(domains.size()); }
  size_t domain_of(int64_t step) const noexcept {
    return static_cast<size_t>(step % static_cast<int64_t>(domains.size()));
  }
  Window window(int64_t step) const noexcept;
};

// The whole file as one domain: windows are cells of a fixed grid, independent of the data.
Grid whole_file_grid(int64_t window_bytes, int64_t message_bytes = INT64_MAX);

// The lowest file offset >= `offset` within a hull of the parts; INT64_MAX: none. It may lie in a hole between runs.
template <class Part>
int64_t next_hull_offset(std::span<const Part> parts, int64_t offset) {
  int64_t next = INT64_MAX;
  for (const Part& part : parts)
    if (part.hull.end > offset && !part.runs.empty()) {
      int64_t at = std::max(part.hull.begin, offset);
      if (at > part.hull.begin)
        at = next_offset(part.runs, at - part.file_base) + part.file_base;
      next = std::min(next, at);
    }
  return next;
}

// The first step at or after `step` whose window contains an offset of `next_offset`, in any domain; grid.steps():
// none.
template <class NextOffset>
int64_t leap(const Grid& grid, int64_t step, NextOffset&& next_offset) {
  const auto domains = static_cast<int64_t>(grid.domains.size());
  int64_t nearest = grid.steps();
  for (int64_t domain = 0; domain < domains; ++domain) {
    const Windows& windows = grid.domains[static_cast<size_t>(domain)];
    const int64_t round = step / domains + (domain < step % domains ? 1 : 0);
    if (const int64_t found = windows.leap(round, next_offset); found < windows.count())
      nearest = std::min(nearest, found * domains + domain);
  }
  return nearest;
}

// The next step at or after `step` in which `bytes_of(window)` is not zero, or grid.steps(). `next_offset(offset)`
// returns the next offset that may have bytes, so that empty ranges are skipped.
template <class BytesOf, class NextOffset>
int64_t next_step(const Grid& grid, int64_t step, BytesOf&& bytes_of, NextOffset&& next_offset) {
  const auto holds = [&](int64_t at) {
    const Window window = grid.window(at);
    return !window.empty() && bytes_of(window) > 0;
  };
  const int64_t steps = grid.steps();
  for (; step < steps; ++step) {
    if (holds(step))
      return step;
    step = leap(grid, step + 1, next_offset);
    if (step >= steps || holds(step))
      return step;
  }
  return steps;
}

}  // namespace windrow
