// SPDX-License-Identifier: BSD-3-Clause
// PlanCache: the prepared plans of an open file, for later batches with the same requests. Invariant: all ranks have
// the same plans in the same order. A rank without data matches several plans, so the ranks look up a plan together:
// each rank sets a bit for each plan that does not match, the bits are combined in an agreement, and the first plan
// without a bit matches on all ranks. No call communicates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "planning/prepared_plan.hpp"

namespace windrow {

// What a cached plan must match.
struct PlanQuery {
  const RequestBatch& batch;
  const Strategy& strategy;
  const PlanLimits& limits;
};

class PlanCache {
 public:
  static constexpr size_t k_words = 2;
  static constexpr size_t k_most = 64 * k_words;              // maximum number of plans
  static constexpr int64_t k_most_bytes = int64_t{64} << 20;  // maximum memory on a rank, without the last plan
  using Bits = std::array<int64_t, k_words>;

  // Returns a bit for each plan that does not match on this rank.
  Bits mismatches(const PlanQuery& query) const noexcept;
  // Whether any plan matches on this rank.
  bool has_match(const PlanQuery& query) const noexcept;
  // Returns the number of the first plan that matches on all ranks, or 0. `mismatches`: the bits of all ranks.
  int64_t match(std::span<const int64_t> mismatches) const noexcept;
  // Returns the plan of this number, and marks it as used last. nullptr if there is none. The cache owns it.
  PreparedPlan* use(int64_t id) noexcept;

  // Allocates memory for one more plan. May throw std::bad_alloc.
  void reserve() { plans_.reserve(k_most + 1); }
  // Numbers the plan and adds it. Drops the least recently used plans if there are too many, or if they keep too much
  // memory. The new plan stays, even if it is larger than the limit. The caller calls reserve() before.
  PreparedPlan& add(std::unique_ptr<PreparedPlan> made) noexcept;
  // Returns the bytes of this rank that this plan keeps, and no plan of the cache. The memory of codecs belongs to the
  // communicator and does not count. May throw std::bad_alloc.
  int64_t memory_of(const PreparedPlan& made) const;

  // Drop all plans, or those that picks(plan) selects. All ranks drop the same plans.
  void clear() noexcept { plans_.clear(); }
  template <class Picks>
  void forget_if(Picks&& picks) {
    std::erase_if(plans_, [&](const auto& each) { return picks(*each); });
  }
  size_t size() const noexcept { return plans_.size(); }

 private:
  std::vector<std::unique_ptr<PreparedPlan>> plans_;  // in the order of their last use
  int64_t next_id_ = 1;                               // the same on all ranks, since all ranks make the same plans
};

}  // namespace windrow
