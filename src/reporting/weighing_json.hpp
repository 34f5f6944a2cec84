// SPDX-License-Identifier: BSD-3-Clause
// The input of a plan and its alternatives as JSON, written and read: a trace has all that is needed to choose again.
#pragma once

#include <nlohmann/json.hpp>

#include "plan/candidates.hpp"

namespace windrow {

// The machine, and the alternatives with their predicted seconds.
nlohmann::ordered_json alternatives_json(const PlanInput& input, const Weighing& weighing);

// The pattern, and the limits of the plan.
nlohmann::ordered_json pattern_json(const PlanInput& input);

struct RecordedPattern {
  Pattern pattern;
  PlanLimits limits;  // without layout and machine
};
// bad_file: a number that is missing or impossible. Safe on any input.
Result<RecordedPattern> read_pattern(const nlohmann::ordered_json& json);

// A layout as trace_lines writes it. bad_file: as check_layout().
Result<StorageLayout> read_layout_json(const nlohmann::ordered_json& json);

}  // namespace windrow
