// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/shared_slots.hpp"

#include <algorithm>

#include "exchange/role.hpp"

namespace windrow {
namespace {

int64_t slots_of(const Plan& plan, size_t domain) noexcept {
  return std::clamp<int64_t>(windows_of(plan, domain).count(), 1, plan.slots);
}

int64_t slot_bytes_of(const Plan& plan, size_t domain) noexcept {
  return std::max(k_buffer_alignment, aligned(windows_of(plan, domain).slot_bytes()));
}

}  // namespace

SharedSlots::SharedSlots(const SharedSegment& segment, int host_rank, const Plan& plan, size_t domain) noexcept
    : segment_(&segment),
      host_rank_(host_rank),
      slots_(slots_of(plan, domain)),
      slot_bytes_(slot_bytes_of(plan, domain)) {}

SharedSlots::SharedSlots(const SharedSegment& segment, int host_rank, const Plan& plan) noexcept
    : segment_(&segment), host_rank_(host_rank), slots_(plan.slots), slot_bytes_(aligned(plan.window_bytes)) {}

int64_t SharedSlots::bytes_needed(const Plan& plan) noexcept {
  return k_control_bytes + plan.slots * aligned(plan.window_bytes);
}

int64_t SharedSlots::bytes_needed(const Plan& plan, size_t domain) noexcept {
  return k_control_bytes + slots_of(plan, domain) * slot_bytes_of(plan, domain);
}

}  // namespace windrow
