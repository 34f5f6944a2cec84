// SPDX-License-Identifier: BSD-3-Clause
// The fixed rule for axes that are left to automatic, with its reasons. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace windrow {

bool asks_for_link(const Strategy& strategy) noexcept;  // the choice depends on Topology::link_seconds

// Aggregators that share a target contend for its locks. Domains that consist of the stripes of a target avoid this.
bool wants_targets(const Pattern& pattern, const PlanLimits& limits);

// `direct_bytes`: set if long pieces are moved by their holders in addition to domains.
Strategy choose(Strategy strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
                int64_t& direct_bytes, std::vector<std::string>& reasons);

// Ranks that gather to one root, and the number of roots. Without teams and hosts each rank is a root.
int64_t ranks_of_root(const Strategy& strategy, bool reading, const Topology& topology);
int64_t count_roots(const Strategy& strategy, bool reading, const Topology& topology);

// The number of aggregators for the strategy's domains.
int64_t automatic_writers(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                          const PlanLimits& limits);

// The number of aggregators with a domain, of `writers` available ones: each target has the same number, and the
// remainder of the division none.
int64_t dealt_writers(Domains domains, int64_t writers, const PlanLimits& limits);

// Targets of the file, of the component with the most; 0: unknown.
int64_t count_targets(const PlanLimits& limits);

}  // namespace windrow
