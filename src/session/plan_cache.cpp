// SPDX-License-Identifier: BSD-3-Clause
// Plans that a file keeps and finds again for later flushes. All ranks keep the same ones in the same order.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "session/file.hpp"

namespace windrow {

bool File::fits(const PreparedPlan& kept, const RequestBatch& batch) const noexcept {
  return kept.plan.reading == batch.reading && kept.key == batch.key && kept.asked == strategy_ &&
         are_alike(kept.limits, limits_) && !kept.outdated;
}

// One bit per plan that does not match this rank's batch. A rank without data may match several; the other ranks
// decide.
PlanBits File::unfit_plans(const RequestBatch& batch) const noexcept {
  PlanBits unfit{};
  for (size_t i = 0; i < plans_.size(); ++i)
    if (!fits(*plans_[i], batch))
      unfit[i / 64] |= static_cast<int64_t>(uint64_t{1} << (i % 64));
  return unfit;
}

// Whether somebody will ask what messages to other hosts shrink to: a plan may have to be made.
bool File::may_compress(const RequestBatch& batch) const noexcept {
  if (strategy_.codec == Codec::off || !limits_.machine_measured || comm_->host_roots().size() < 2)
    return false;
  return std::none_of(plans_.begin(), plans_.end(), [&](const auto& kept) { return fits(*kept, batch); });
}

int64_t File::kept_id(std::span<const int64_t> unfit) const noexcept {
  for (size_t i = 0; i < plans_.size(); ++i)
    if ((static_cast<uint64_t>(unfit[i / 64]) >> (i % 64) & 1) == 0)
      return plans_[i]->id;
  return 0;
}

// The plan becomes the last one that was used: those that were not used for the longest time go first.
PreparedPlan* File::use_plan(int64_t id) noexcept {
  const auto found = std::find_if(plans_.begin(), plans_.end(), [id](const auto& kept) { return kept->id == id; });
  if (found == plans_.end())
    return nullptr;
  std::rotate(found, found + 1, plans_.end());
  return plans_.back().get();
}

// Of this rank: what the plan alone keeps. Lists of pieces that plans share count for the first of them; the codecs'
// memory is the communicator's.
int64_t File::memory_of(const PreparedPlan& made) const {
  std::set<const ByteRuns*> known;
  for (const auto& kept : plans_)
    for (const auto& runs : kept->runs)
      known.insert(runs.get());
  int64_t bytes = made.transfer ? made.transfer->description_bytes() : 0;
  for (const auto& runs : made.runs) {
    if (!runs || !known.insert(runs.get()).second)
      continue;
    bytes += runs->elements.memory_bytes() + runs->long_elements.memory_bytes() + runs->short_elements.memory_bytes();
  }
  return bytes;
}

// All ranks forget the same ones: the numbers were agreed on. The last plan stays, whatever memory it takes.
void File::forget_oldest_plans() noexcept {
  int64_t memory = 0;
  for (const auto& kept : plans_)
    memory += kept->memory;
  while (plans_.size() > 1 && (plans_.size() > k_most_plans || memory > k_plan_memory)) {
    memory -= plans_.front()->memory;
    plans_.erase(plans_.begin());
  }
}

}  // namespace windrow
