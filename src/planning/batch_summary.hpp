// SPDX-License-Identifier: BSD-3-Clause
// BatchSummary: what all ranks know about a batch after its reduction. It is the same on all ranks.
#pragma once

#include <cstdint>
#include <span>

#include "planning/pattern_numbers.hpp"

namespace windrow {

struct BatchSummary : PatternNumbers {
  int64_t plan_id = 0;               // number of the cached plan for this batch; 0 if there is none
  std::span<const int64_t> objects;  // a bit for each object that any rank moves; valid until the next reduction
};

}  // namespace windrow
