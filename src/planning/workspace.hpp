// SPDX-License-Identifier: BSD-3-Clause
// Workspace: the memory that moving takes beside a plan. One batch of a file moves at a time, so all plans share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exchange/engine.hpp"
#include "plan/plan.hpp"

namespace windrow {

struct Workspace {
  Arena arena;                    // of transfers
  std::vector<std::byte> bounce;  // for elements in the other byte order that go without a transfer
};

// The largest request that elements in the other byte order go in.
inline int64_t bounce_bytes(const PlanLimits& limits) noexcept {
  return std::clamp(limits.buffers * limits.buffer_bytes / 64, int64_t{4096}, int64_t{1} << 20);
}

}  // namespace windrow
