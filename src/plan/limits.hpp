// SPDX-License-Identifier: BSD-3-Clause
// Converts options to planner limits. Pure.
#pragma once

#include "base/settings.hpp"
#include "plan/plan.hpp"

namespace windrow {

// bad_argument: an option that is valid alone but outside the limits of a plan. `buffers` is 0 if the executor decides.
Result<PlanLimits> limits_of(const Settings& settings);

StrategyRequest request_of(const Settings& settings);

}  // namespace windrow
