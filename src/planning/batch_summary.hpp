// SPDX-License-Identifier: BSD-3-Clause
// What all ranks know of a batch after its reduction.
#pragma once

#include <cstdint>
#include <span>

#include "planning/pattern_numbers.hpp"

namespace windrow {

struct BatchSummary : PatternNumbers {
  int64_t plan_id = 0;               // the plan that every rank has cached for this batch; 0: there is none
  std::span<const int64_t> objects;  // bits: those that any rank moves; valid until the next reduction
};

}  // namespace windrow
