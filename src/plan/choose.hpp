// SPDX-License-Identifier: BSD-3-Clause
// The fixed rule that decides the axes left to automatic, with its reasons. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace windrow {

bool asks_for_link(const Strategy& strategy) noexcept;  // decides by Topology::link_seconds

// Whom a writer shares a target with, it shares locks with: domains that are stripes of targets are worth it.
bool wants_targets(const Pattern& pattern, const PlanLimits& limits);

// `direct_bytes`: set where long pieces go their own way beside domains.
Strategy choose(Strategy strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
                int64_t& direct_bytes, std::vector<std::string>& reasons);

// Ranks that gather to one root, and how many roots there are; without teams and hosts each rank is one.
int64_t ranks_of_root(const Strategy& strategy, bool reading, const Topology& topology);
int64_t count_roots(const Strategy& strategy, bool reading, const Topology& topology);

// How many ranks touch the file when the file is cut into the strategy's domains.
int64_t automatic_writers(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                          const PlanLimits& limits);

// Of so many that there may be, those that have a domain: each target has as many, and the rest of the division none.
int64_t dealt_writers(Domains domains, int64_t writers, const PlanLimits& limits);

// The file's targets, of the component that has most; 0: nobody knows.
int64_t count_targets(const PlanLimits& limits);

}  // namespace windrow
