// SPDX-License-Identifier: BSD-3-Clause
// What a plan was chosen from, and its alternatives, as JSON, and back: a trace has all that choosing anew needs.
#pragma once

#include <nlohmann/json.hpp>

#include "plan/candidates.hpp"

namespace windrow {

// The machine, and the alternatives with its seconds.
nlohmann::ordered_json alternatives_json(const PlanInput& input, const Weighing& weighing);

// The pattern, and the bounds that the plan kept to.
nlohmann::ordered_json pattern_json(const PlanInput& input);

struct RecordedPattern {
  Pattern pattern;
  PlanLimits limits;  // without layout and machine
};
// bad_file: a number that is missing or impossible. Safe on any input.
Result<RecordedPattern> read_pattern(const nlohmann::ordered_json& json);

// A list of extents as a trace has a layout; as trace_lines writes it. bad_file: as check_layout().
Result<StorageLayout> read_layout_json(const nlohmann::ordered_json& json);

}  // namespace windrow
