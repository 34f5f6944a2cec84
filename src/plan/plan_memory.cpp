// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan_memory.hpp"

#include <algorithm>
#include <utility>

namespace windrow {
bool PlanMemory::is_of(const Entry& entry, const Strategy& strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits) {
  if (entry.pattern != pattern || entry.strategy != strategy || entry.topology != topology) return false;
  PlanLimits compared = limits;
  compared.experience = nullptr;
  return are_alike(compared, entry.limits);
}

Result<Plan> PlanMemory::plan(const Strategy& strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return is_of(each, strategy, pattern, topology, limits); });
  if (found != entries_.end() && found->experience == (limits.experience ? std::optional(*limits.experience) : std::nullopt)) return found->plan;
  auto made = make_plan(strategy, pattern, topology, limits);
  if (!made.ok()) return made;
  const Plan& plan = made.value();
  if (plan.regions.size() + plan.domains.size() + plan.writers.size() + plan.host_roots.size() + topology.host_roots.size() > k_longest) return made;
  if (found != entries_.end())
    entries_.erase(found);  // what was learned since then has taken its place
  else if (entries_.size() == k_most)
    entries_.pop_front();
  Entry entry{.strategy = strategy, .pattern = pattern, .topology = topology, .limits = limits, .experience = std::nullopt, .plan = plan};
  if (limits.experience) entry.experience = *limits.experience;
  entry.limits.experience = nullptr;
  entries_.push_back(std::move(entry));
  return made;
}

}  // namespace windrow
