// SPDX-License-Identifier: BSD-3-Clause
// What the options say to the planner. Pure.
#pragma once

#include "base/settings.hpp"
#include "plan/plan.hpp"

namespace windrow {

// bad_argument: an option that is valid alone and beyond what a plan can have. `buffers` is 0 where it is left to who
// runs the plan.
Result<PlanLimits> limits_of(const Settings& settings);

StrategyRequest request_of(const Settings& settings);

}  // namespace windrow
