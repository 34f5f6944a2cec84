// SPDX-License-Identifier: BSD-3-Clause
// Workspace: memory that all plans of a file share, because only one batch of a file moves at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exchange/engine.hpp"
#include "plan/plan.hpp"

namespace windrow {

struct Workspace {
  Arena arena;                    // buffers of transfers
  std::vector<std::byte> bounce;  // for direct pieces whose elements are in the other byte order
};

// The size of the largest request for elements in the other byte order.
inline int64_t bounce_bytes(const PlanLimits& limits) noexcept {
  return std::clamp(limits.buffers * limits.buffer_bytes / 64, int64_t{4096}, int64_t{1} << 20);
}

}  // namespace windrow
