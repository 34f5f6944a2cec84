// SPDX-License-Identifier: BSD-3-Clause
// PlanCache: the prepared plans of an open file, found again for later batches. All ranks have the same ones in the
// same order. A rank without data matches several plans, so ranks find the one for all of them together: each says
// which do not match, by a bit for each plan, and the bits are combined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "planning/prepared_plan.hpp"

namespace windrow {

// What a plan is looked for with.
struct PlanQuery {
  const RequestBatch& batch;
  const Strategy& strategy;
  const PlanLimits& limits;
};

class PlanCache {
 public:
  static constexpr size_t k_words = 2;
  static constexpr size_t k_most = 64 * k_words;              // plans
  static constexpr int64_t k_most_bytes = int64_t{64} << 20;  // on a rank, of all plans but the last
  using Bits = std::array<int64_t, k_words>;

  Bits mismatches(const PlanQuery& query) const noexcept;
  bool has_match(const PlanQuery& query) const noexcept;
  // By the bits of all ranks: the number of the first plan that matches on each; 0: none does.
  int64_t match(std::span<const int64_t> mismatches) const noexcept;
  // The plan becomes the one that was used last. nullptr: there is none of this number.
  PreparedPlan* use(int64_t id) noexcept;

  void reserve() { plans_.reserve(k_most + 1); }  // room for one more; may throw std::bad_alloc
  // Numbers the plan, and forgets those that were not used for the longest time, if there are too many. The last one
  // stays, whatever it takes. There is room.
  PreparedPlan& add(std::unique_ptr<PreparedPlan> made) noexcept;
  // Bytes of this rank that a plan keeps and no plan in here does. Lists of ranges that plans share count for the first
  // of them; the codecs' memory is the communicator's. May throw std::bad_alloc.
  int64_t memory_of(const PreparedPlan& made) const;

  // All ranks forget the same ones.
  void clear() noexcept { plans_.clear(); }
  template <class Picks>
  void forget_if(Picks&& picks) {
    std::erase_if(plans_, [&](const auto& each) { return picks(*each); });
  }
  size_t size() const noexcept { return plans_.size(); }

 private:
  std::vector<std::unique_ptr<PreparedPlan>> plans_;  // the last used is the last
  int64_t next_id_ = 1;  // plans are made by all ranks together, so the numbers stay in step
};

}  // namespace windrow
