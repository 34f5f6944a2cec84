// SPDX-License-Identifier: BSD-3-Clause
// Where the file is cut among the writers, and who the writers are. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "extent/extent.hpp"
#include "layout/layout.hpp"
#include "plan/plan.hpp"

namespace windrow {

// Cuts the file so that each part holds the same number of the regions' bytes (within one). Parts may be empty.
std::vector<Extent> cut_even(const std::vector<Extent>& regions, int64_t parts);

// The same, each cut moved to the nearest multiple of `unit`, so that no unit has two writers.
std::vector<Extent> cut_aligned(const std::vector<Extent>& regions, int64_t parts, int64_t unit);

// The same, each cut where the nearest stripe begins or ends.
std::vector<Extent> cut_at_stripes(const std::vector<Extent>& regions, int64_t parts, const StorageLayout& layout);

// Stripes that have bytes of two such parts, which follow each other.
int64_t stripes_cut(const std::vector<Extent>& parts, const StorageLayout& layout);

// Bytes of a window. A small domain is moved in several rounds too, so that one fills while another is written; but in
// none too small to be worth a request. A power of two, or all that the buffer has.
int64_t window_of(int64_t largest, int64_t buffer) noexcept;

// Of stripes that are dealt: whole ones, if one fits; long ones of a small domain in several rounds too.
// Whether a domain, which has such windows, is so long that short ones are better. A request of it is one of many then,
// so it may be short, and what is filled, written and ready to be filled again passes on in smaller steps: ranks wait
// less for each other (8 ranks, 503 MB of short rows: 8 buffers of 1 MiB took 0.88 to 0.92 times as long as 2 of 4 MiB;
// 128 MB of long rows as long). For one host, without stripes, teams and chunks.
bool has_short_windows(int64_t largest, int64_t window, const PlanLimits& limits) noexcept;
int64_t window_of_stripes(int64_t largest, int64_t buffer, int64_t stripe) noexcept;

// `count` different ranks, ascending: on different hosts as far as there are hosts, else evenly spread.
std::vector<int> spread_writers(const Topology& topology, int64_t count);

// The same among the roots of teams of `team` ranks, who have the data already; where there are fewer roots, among all
// ranks.
std::vector<int> spread_among_roots(const Topology& topology, int64_t team, int64_t count);

}  // namespace windrow
