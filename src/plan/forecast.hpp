// SPDX-License-Identifier: BSD-3-Clause
// PlanForecast: what moving by a plan will take.
#pragma once

#include <cstdint>

namespace windrow {

// Counted beforehand from the descriptions, over all ranks.
struct PlanForecast {
  int64_t messages = 0;
  int64_t write_requests = 0;
  int64_t read_requests = 0;
  int64_t bytes = 0;  // between ranks' memory and the file; bytes read by several ranks count for each
};

}  // namespace windrow
