// SPDX-License-Identifier: BSD-3-Clause
#include "planning/plan_cache.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace windrow {
namespace {

bool matches(const PreparedPlan& prepared, const PlanQuery& query) noexcept {
  return prepared.plan.reading == query.batch.reading && prepared.key == query.batch.key &&
         prepared.asked == query.strategy && are_alike(prepared.limits, query.limits) && !prepared.outdated;
}

}  // namespace

PlanCache::Bits PlanCache::mismatches(const PlanQuery& query) const noexcept {
  Bits bits{};
  for (size_t i = 0; i < plans_.size(); ++i)
    if (!matches(*plans_[i], query))
      bits[i / 64] |= static_cast<int64_t>(uint64_t{1} << (i % 64));
  return bits;
}

bool PlanCache::has_match(const PlanQuery& query) const noexcept {
  return std::any_of(plans_.begin(), plans_.end(), [&](const auto& each) { return matches(*each, query); });
}

int64_t PlanCache::match(std::span<const int64_t> mismatches) const noexcept {
  for (size_t i = 0; i < plans_.size(); ++i)
    if ((static_cast<uint64_t>(mismatches[i / 64]) >> (i % 64) & 1) == 0)
      return plans_[i]->id;
  return 0;
}

PreparedPlan* PlanCache::use(int64_t id) noexcept {
  const auto found = std::find_if(plans_.begin(), plans_.end(), [id](const auto& each) { return each->id == id; });
  if (found == plans_.end())
    return nullptr;
  std::rotate(found, found + 1, plans_.end());
  return plans_.back().get();
}

PreparedPlan& PlanCache::add(std::unique_ptr<PreparedPlan> made) noexcept {
  made->id = next_id_++;
  plans_.push_back(std::move(made));
  int64_t memory = 0;
  for (const auto& each : plans_)
    memory += each->memory;
  while (plans_.size() > 1 && (plans_.size() > k_most || memory > k_most_bytes)) {
    memory -= plans_.front()->memory;
    plans_.erase(plans_.begin());
  }
  return *plans_.back();
}

int64_t PlanCache::memory_of(const PreparedPlan& made) const {
  std::set<const ByteRuns*> known;
  for (const auto& each : plans_)
    for (const auto& runs : each->runs)
      known.insert(runs.get());
  int64_t bytes = made.transfer ? made.transfer->description_bytes() : 0;
  for (const auto& runs : made.runs) {
    if (!runs || !known.insert(runs.get()).second)
      continue;
    bytes += runs->elements.memory_bytes() + runs->long_elements.memory_bytes() + runs->short_elements.memory_bytes();
  }
  return bytes;
}

}  // namespace windrow
