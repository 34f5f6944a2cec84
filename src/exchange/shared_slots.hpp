// SPDX-License-Identifier: BSD-3-Clause
// SharedSlots: the slots of an aggregator in memory shared by the ranks of its host. Ranks copy directly to or from the
// final place in a window. Two words in the same memory replace messages: `token` and `count`.
//
//   write:  aggregator (Collector)                        ranks of the host (Copier)
//           open: count = 0, token = (generation, step)   wait for the token
//           filling: waits for count == predicted   <---  copy into the slot, add their bytes to count
//           full: passed to the sink, then open again
//
//   read:   aggregator (Distributor)                      ranks of the host (Copier)
//           fetched: count = 0, token = (...)             wait for the token
//           serving: waits for count == predicted   <---  copy from the slot, add their bytes to count
//           free: fetches the next window
// Memory order: the token is stored with release and loaded with acquire, so copies see count == 0 and, for reads, the
// window. The count is added with release and loaded with acquire, so the aggregator sees the copies.
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

// The slots of one domain. Aggregator and copiers compute their addresses from the plan.
class SharedSlots {
 public:
  SharedSlots() = default;
  SharedSlots(const SharedSegment& segment, int host_rank, const Plan& plan, size_t domain) noexcept;
  // Of the root of a team, for all windows of the file.
  SharedSlots(const SharedSegment& segment, int host_rank, const Plan& plan) noexcept;

  static int64_t bytes_needed(const Plan& plan, size_t domain) noexcept;
  static int64_t bytes_needed(const Plan& plan) noexcept;

  explicit operator bool() const noexcept { return segment_ != nullptr; }
  int64_t count() const noexcept { return slots_; }
  int64_t index_of(int64_t step) const noexcept { return step % slots_; }
  SlotControl& control(int64_t index) const noexcept { return reinterpret_cast<SlotControl*>(base())[index]; }
  std::byte* memory(int64_t index) const noexcept { return base() + k_control_bytes + index * slot_bytes_; }

  // Generations count the transfers of a communicator. Within a transfer, tokens of different steps differ, even for
  // 2^48 steps and more; those of two transfers are equal with probability 2^-64.
  static int64_t token_of(int64_t generation, int64_t step) noexcept {
    return static_cast<int64_t>(mixed(static_cast<uint64_t>(step) ^ mixed(static_cast<uint64_t>(generation) + 1)));
  }

 private:
  static constexpr int64_t k_control_bytes = 64 * sizeof(SlotControl);  // for the largest number of slots
  // Bijective. Source: G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, the
  // variant of SplitMix64.
  static constexpr uint64_t mixed(uint64_t word) noexcept {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27) * 0x94d049bb133111ebU;
    return word ^ word >> 31;
  }
  // Not cached: the segment may have moved.
  std::byte* base() const noexcept { return segment_->base_of(host_rank_); }

  const SharedSegment* segment_ = nullptr;
  int host_rank_ = 0;
  int64_t slots_ = 0;
  int64_t slot_bytes_ = 0;
};

}  // namespace windrow
