// SPDX-License-Identifier: BSD-3-Clause
// What all ranks know about a batch after its reduction.
#pragma once

#include <cstdint>
#include <span>

#include "planning/pattern_numbers.hpp"

namespace windrow {

struct BatchSummary : PatternNumbers {
  int64_t plan_id = 0;               // the cached plan that every rank has for this batch; 0: none
  std::span<const int64_t> objects;  // bits: objects that any rank moves; valid until the next reduction
};

}  // namespace windrow
