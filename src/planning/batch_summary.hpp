// SPDX-License-Identifier: BSD-3-Clause
// What all ranks know of a batch after its reduction.
#pragma once

#include <cstdint>
#include <span>

#include "planning/pattern_numbers.hpp"

namespace windrow {

struct BatchSummary : PatternNumbers {
  int64_t kept_id = 0;                 // the plan that every rank has kept for this batch; 0: there is none
  std::span<const int64_t> variables;  // bits: those that any rank moves; valid until the next reduction
};

}  // namespace windrow
