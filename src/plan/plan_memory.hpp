// SPDX-License-Identifier: BSD-3-Clause
// Plans that were made before, to be found again: the files of a time series are written alike, and to weigh all candidates anew for each of them takes
// longer than to compare what the weighing was of. Pure: what is found is what make_plan() would make.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "plan/experience.hpp"
#include "plan/plan.hpp"

namespace windrow {

class PlanMemory {
 public:
  // As make_plan(). Layouts are compared by what they say, machines by being the same object.
  Result<Plan> plan(const Strategy& strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits);

  size_t size() const noexcept { return entries_.size(); }

 private:
  static constexpr size_t k_most = 32;       // a few kinds of files with a few flushes each
  static constexpr size_t k_longest = 256;  // regions, domains, writers and hosts: longer plans are made anew, so that little memory is held

  struct Entry {
    Strategy strategy;
    Pattern pattern;
    Topology topology;
    PlanLimits limits;                     // without experience
    std::optional<Experience> experience;  // as it was then
    Plan plan;
  };
  static bool is_of(const Entry& entry, const Strategy& strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits);

  std::deque<Entry> entries_;  // the oldest first
};

}  // namespace windrow
