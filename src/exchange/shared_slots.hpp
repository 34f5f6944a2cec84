// SPDX-License-Identifier: BSD-3-Clause
// SharedSlots: the slots of a writer or reader in memory that the ranks of its host share. Ranks copy straight into a
// window at its final place, or out of it; words in the same memory, not messages, say when a slot may be used.
//
// To write: the writer sets token = (generation, step) when the slot takes that window; a rank that sees it copies its
// pieces and adds their bytes to count; when count is what the descriptions predicted, the window is full. To read:
// token says that the window is there; ranks copy out and add; at the predicted count the slot is free again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/shared_segment.hpp"
#include "plan/plan.hpp"

namespace windrow {

struct SlotControl {
  alignas(64) std::atomic<int64_t> token;
  alignas(64) std::atomic<int64_t> count;
};
static_assert(std::atomic<int64_t>::is_always_lock_free, "these are shared between processes");

// Where the slots of one domain lie. Both sides reckon it from the plan.
class SharedSlots {
 public:
  SharedSlots() = default;
  SharedSlots(const SharedSegment& segment, int host_rank, const Plan& plan, size_t domain) noexcept;
  // Of a team's root: whatever of the file its team has.
  SharedSlots(const SharedSegment& segment, int host_rank, const Plan& plan) noexcept;

  static int64_t bytes_needed(const Plan& plan, size_t domain) noexcept;
  static int64_t bytes_needed(const Plan& plan) noexcept;

  explicit operator bool() const noexcept { return segment_ != nullptr; }
  int64_t count() const noexcept { return slots_; }
  int64_t index_of(int64_t step) const noexcept { return step % slots_; }
  SlotControl& control(int64_t index) const noexcept { return reinterpret_cast<SlotControl*>(base())[index]; }
  std::byte* memory(int64_t index) const noexcept { return base() + k_control_bytes + index * slot_bytes_; }

  // Generations count a communicator's transfers. Steps of one never have the same token, however far apart files lie
  // on their line (2^48 steps and more); those of two have it by a chance of 2^-64.
  static int64_t token_of(int64_t generation, int64_t step) noexcept {
    return static_cast<int64_t>(mixed(static_cast<uint64_t>(step) ^ mixed(static_cast<uint64_t>(generation) + 1)));
  }

 private:
  static constexpr int64_t k_control_bytes = 64 * sizeof(SlotControl);  // of as many buffers as there can be
  // One to one. Source: G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, the
  // variant of SplitMix64.
  static constexpr uint64_t mixed(uint64_t word) noexcept {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27) * 0x94d049bb133111ebU;
    return word ^ word >> 31;
  }
  std::byte* base() const noexcept {
    return segment_->base_of(host_rank_);
  }  // asked each time: the segment may have moved

  const SharedSegment* segment_ = nullptr;
  int host_rank_ = 0;
  int64_t slots_ = 0;
  int64_t slot_bytes_ = 0;
};

}  // namespace windrow
