// SPDX-License-Identifier: BSD-3-Clause
#include "plan/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "plan/choose.hpp"

namespace windrow {
namespace {

// The fraction of the fixed rule's predicted seconds that a candidate must stay below to replace it. The rule was tuned
// by measurement, and predictions have an error of a quarter (bench/choice). For reads from the page cache of one host
// the bound is stricter: the time depends on cores and caches, which the model hardly covers
// (docs/internals/notes/2026-11-30-numbers-from-comments.md).
double clearly_faster(const Pattern& pattern) noexcept {
  return pattern.reading && pattern.in_memory ? 0.5 : 0.75;
}
constexpr size_t k_most_candidates = 128;

// The choices on each axis from which candidates are combined.
class Choices {
 public:
  Choices(const Strategy& asked, const Candidate& rule, const Pattern& pattern, const Topology& topology,
          const PlanLimits& limits)
      : asked_(asked),
        rule_(rule),
        pattern_(pattern),
        topology_(topology),
        limits_(limits),
        ranks_(std::max(1, topology.ranks)),
        hosts_(std::clamp<int64_t>(static_cast<int64_t>(topology.host_roots.size()), 1, ranks_)) {
    for (const Extent& region : pattern.regions)
      region_bytes_ += region.size();
    striped_ = limits.layout && limits.layout->is_striped();
    targets_ = striped_ && deal_by_target(pattern.regions, 2, *limits.layout).has_value();
    target_count_ = count_targets(limits);
  }

  std::vector<Candidate> all() {
    found_ = {rule_};
    for (const Strategy& gathered : gathers()) {
      if (gathered.domains == Domains::automatic || gathered.domains == Domains::none)
        add_without_domains(gathered);
      for (const Domains domains : domain_choices(gathered))
        add_domains(gathered, domains);
    }
    return std::move(found_);
  }

 private:
  std::vector<Strategy> gathers() const {
    std::vector<Strategy> choices;
    Strategy strategy = rule_.strategy;
    strategy.access = asked_.access;
    strategy.domains = asked_.domains;
    if (asked_.gather != Gather::automatic)
      return {strategy};
    strategy.gather = Gather::none;
    choices.push_back(strategy);
    // On one host a root is an aggregator, so gathering only adds a copy.
    if (hosts_ < 2 || asked_.access == Access::list || asked_.access == Access::mapped)
      return choices;
    if (ranks_ > hosts_)
      choices.push_back(with_gather(strategy, Gather::host, 0));
    // SCORPIO's groups (section V): 16 ranks to write, 1024 to read.
    const int64_t team = pattern_.reading ? 1024 : 16;
    if (ranks_ > team)
      choices.push_back(with_gather(strategy, Gather::team, team));
    return choices;
  }

  static Strategy with_gather(Strategy strategy, Gather gather, int64_t team) {
    strategy.gather = gather;
    strategy.team_write = strategy.team_read = team;
    return strategy;
  }

  std::vector<Domains> domain_choices(const Strategy& gathered) const {
    if (asked_.access == Access::list || asked_.access == Access::mapped)
      return {};
    if (gathered.domains != Domains::automatic)
      return gathered.domains == Domains::none ? std::vector<Domains>{} : std::vector{gathered.domains};
    std::vector<Domains> choices{Domains::aligned};
    if (targets_)
      choices.push_back(Domains::target);
    if (striped_)
      choices.push_back(Domains::cyclic);
    return choices;
  }

  // Numbers of aggregators: one a host, some a host, one a target, all ranks; only the requested number if there is
  // one.
  std::vector<int64_t> writer_choices(const Strategy& gathered, Domains domains) const {
    constexpr int64_t k_worth_a_writer = int64_t{256} << 10;
    const int64_t least =
        limits_.least_unit > 0 && domains == Domains::aligned
            ? std::clamp(k_worth_a_writer, limits_.least_unit, std::max(limits_.unit, limits_.least_unit))
            : limits_.unit;
    const int64_t parts = std::max<int64_t>(1, ceil_divide(region_bytes_, std::max<int64_t>(1, least))),
                  useful = domains == Domains::target ? std::max(parts, target_count_) : parts;
    const int64_t most =
        std::min(count_roots(gathered, pattern_.reading, topology_), domains == Domains::even ? ranks_ : useful);
    if (limits_.writers > 0)
      return {dealt_writers(domains, std::min(limits_.writers, ranks_), limits_)};
    std::vector<int64_t> counts;
    for (const int64_t count : {hosts_, 2 * hosts_, 4 * hosts_, target_count_, ranks_}) {
      const int64_t writers = dealt_writers(domains, std::min(count, most), limits_);
      if (writers > 0 && std::find(counts.begin(), counts.end(), writers) == counts.end())
        counts.push_back(writers);
    }
    return counts;
  }

  void add_without_domains(Strategy strategy) {
    strategy.domains = Domains::none;
    if (strategy.access == Access::automatic)
      strategy.access = strategy.gather == Gather::none ? Access::list : Access::contiguous;
    add({.strategy = strategy});
  }

  void add_domains(Strategy strategy, Domains domains) {
    strategy.domains = domains;
    const bool automatic = strategy.access == Access::automatic;
    const bool holes = region_bytes_ > pattern_.bytes && !pattern_.overlapping;
    if (automatic)
      strategy.access = Access::contiguous;
    const bool longs = domains == Domains::aligned && strategy.gather == Gather::none &&
                       strategy.access != Access::sieve && pattern_.long_pieces > 0 &&
                       pattern_.long_bytes >= pattern_.bytes / 4 && pattern_.long_bytes < pattern_.bytes;
    for (const int64_t writers : writer_choices(strategy, domains)) {
      if ((domains == Domains::target || domains == Domains::cyclic) && writers < 2)
        continue;
      add({.strategy = strategy, .writers = writers});
      if (longs)
        add({.strategy = strategy, .writers = writers, .direct_bytes = limits_.direct_bytes});
      if (!automatic || !holes || !(pattern_.reading || limits_.may_sieve_writes))
        continue;
      Candidate sieving{.strategy = strategy, .writers = writers};
      sieving.strategy.access = Access::sieve;
      add(sieving);
    }
  }

  void add(const Candidate& candidate) {
    if (found_.size() < k_most_candidates && std::find(found_.begin(), found_.end(), candidate) == found_.end())
      found_.push_back(candidate);
  }

  const Strategy& asked_;
  const Candidate& rule_;
  const Pattern& pattern_;
  const Topology& topology_;
  const PlanLimits& limits_;
  int64_t ranks_, hosts_, region_bytes_ = 0, target_count_ = 0;
  bool targets_ = false, striped_ = false;
  std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> candidates_for(const PlanInput& input) {
  return Choices(input.asked, input.rule, input.pattern, input.topology, input.limits).all();
}

Weighing weigh(const PlanInput& input) {
  const Machine& machine = *input.limits.machine;
  Weighing weighing{.machine = machine.name, .measured = input.limits.machine_measured, .alternatives = {}};
  const LocksLeft left = locks_left(input.pattern, input.topology, input.limits);
  for (Candidate& candidate : candidates_for(input)) {
    const Work work = work_of(candidate, input.pattern, input.topology, input.limits, left);
    weighing.alternatives.push_back({.candidate = std::move(candidate), .seconds = predict(work, machine)});
  }
  std::vector<Alternative>& all = weighing.alternatives;
  const auto faster = [](const Alternative& a, const Alternative& b) { return a.seconds.total < b.seconds.total; };
  const auto best = std::min_element(all.begin(), all.end(), faster);
  // The tree comes from a paper and decides alone.
  const bool decides = weighing.measured && !asks_for_link(input.asked) &&
                       best->seconds.total < clearly_faster(input.pattern) * all.front().seconds.total;
  Alternative& taken = decides ? *best : all.front();
  taken.chosen = true;
  std::stable_sort(all.begin(), all.end(), faster);
  return weighing;
}

const Alternative& chosen_of(const Weighing& weighing) noexcept {
  return *std::find_if(weighing.alternatives.begin(), weighing.alternatives.end(),
                       [](const Alternative& each) { return each.chosen; });
}

std::string short_text(const Candidate& candidate, bool reading) {
  const Strategy& strategy = candidate.strategy;
  std::string text;
  if (strategy.gather == Gather::team)
    text = fmt::format("team({}), ", reading ? strategy.team_read : strategy.team_write);
  if (strategy.gather == Gather::host)
    text = "host, ";
  text += name_of(strategy.domains);
  if (candidate.writers > 0)
    text += ", " + counted(candidate.writers, reading ? "reader" : "writer");
  text += fmt::format(", {}", name_of(strategy.access));
  if (candidate.direct_bytes > 0)
    text += fmt::format(", pieces of at least {} direct", counted(candidate.direct_bytes, "byte"));
  return text;
}

}  // namespace windrow
