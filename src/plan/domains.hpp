// SPDX-License-Identifier: BSD-3-Clause
// Divides the file among aggregators and selects the aggregators. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "extent/extent.hpp"
#include "layout/layout.hpp"
#include "plan/plan.hpp"

namespace windrow {

// Cuts the file so that each part has the same number of bytes of the regions (within one). Parts may be empty.
std::vector<Extent> cut_even(const std::vector<Extent>& regions, int64_t parts);

// The same, with each cut moved to the nearest multiple of `unit`, so that no unit has two writers.
std::vector<Extent> cut_aligned(const std::vector<Extent>& regions, int64_t parts, int64_t unit);

// The same, with each cut moved to the nearest stripe boundary.
std::vector<Extent> cut_at_stripes(const std::vector<Extent>& regions, int64_t parts, const StorageLayout& layout);

// Number of stripes with bytes of two parts; parts are in file order.
int64_t stripes_cut(const std::vector<Extent>& parts, const StorageLayout& layout);

// Bytes of a window. A small domain takes several rounds too, so that one window fills while another is written, but no
// window is too small to be worth a request. A power of two, or the whole buffer.
int64_t window_of(int64_t largest, int64_t buffer) noexcept;

// Whether a domain with such windows is long enough for shorter ones. Each request is then one of many and may be
// short, and ranks wait less for each other because windows pass in smaller steps. Only for one host, without stripes,
// teams and chunks. (docs/internals/notes/2026-11-30-numbers-from-comments.md has measurements.)
bool has_short_windows(int64_t largest, int64_t window, const PlanLimits& limits) noexcept;
int64_t window_of_stripes(int64_t largest, int64_t buffer, int64_t stripe) noexcept;

// `count` different ranks, ascending: on different hosts if there are enough, evenly spread on each.
std::vector<int> spread_writers(const Topology& topology, int64_t count);

// The same among the roots of teams of `team` ranks, which have the data already; among all ranks if there are fewer
// roots.
std::vector<int> spread_among_roots(const Topology& topology, int64_t team, int64_t count);

}  // namespace windrow
