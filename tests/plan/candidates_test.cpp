// SPDX-License-Identifier: BSD-3-Clause
// What a plan thinks of: the alternatives, their seconds, and when those decide.
#include "plan/candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/defaults.hpp"
#include "plan/plan.hpp"

namespace windrow {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int64_t k_mib = int64_t{1} << 20;

Strategy strategy_of(const StrategyRequest& request) {
  return parse_strategy(request).value();
}

Pattern strided(int64_t bytes, int64_t piece, int64_t holders, bool reading = false) {
  return {.reading = reading,
          .bytes = bytes,
          .pieces = bytes / piece,
          .entries = holders,
          .ranks_with_data = holders,
          .largest_rank_bytes = bytes / holders,
          .regions = {{0, bytes}}};
}
Pattern with_holes(Pattern pattern) {
  pattern.regions = {{0, 2 * pattern.bytes}};
  return pattern;
}

Topology topology_of(int ranks, int hosts) {
  Topology topology{.ranks = ranks, .host_roots = {}};
  for (int host = 0; host < hosts; ++host)
    topology.host_roots.push_back(host * (ranks / hosts));
  return topology;
}

PlanLimits limits_with(Machine machine, bool measured) {
  PlanLimits limits;
  limits.machine = std::make_shared<const Machine>(std::move(machine));
  limits.machine_measured = measured;
  return limits;
}
PlanLimits striped(PlanLimits limits, int64_t targets) {
  StorageLayout layout{.kind = LayoutKind::mock,
                       .components = {{.stripe_bytes = k_mib, .stripe_count = targets, .targets = {}}}};
  for (int64_t i = 0; i < targets; ++i)
    layout.components[0].targets.push_back(i);
  limits.layout = std::make_shared<const StorageLayout>(std::move(layout));
  limits.unit = k_mib;
  return limits;
}

// Each additional writer increases the rate for parts of the file, but not for stripes in turn.
Machine scaling_with_writers() {
  Machine machine;
  machine.name = "the one that scales";
  for (const int64_t ranks : {1, 2, 4, 8}) {
    machine.writes.push_back({.request_bytes = 4096, .ranks = ranks, .bytes_per_s = 1e7 * static_cast<double>(ranks)});
    machine.writes.push_back(
        {.request_bytes = 4 * k_mib, .ranks = ranks, .bytes_per_s = 1e8 * static_cast<double>(ranks)});
    machine.writes.push_back(
        {.request_bytes = 4096, .ranks = ranks, .bytes_per_s = 1e6, .sharing = Sharing::interleaved});
  }
  machine.reads = machine.writes;
  return machine;
}

Alternative chosen_of(const Plan& plan) {
  return chosen_of(weigh(*plan.input));
}

std::vector<Pattern> many_patterns() {
  std::vector<Pattern> patterns;
  for (const bool reading : {false, true})
    for (const int64_t bytes : {int64_t{3}, int64_t{4096}, 7 * k_mib, int64_t{8'000'000'000}})
      for (const int64_t piece : {int64_t{1}, int64_t{512}, int64_t{65'536}, 2 * k_mib})
        for (const int64_t holders : {1, 3, 8}) {
          if (piece > bytes)
            continue;
          patterns.push_back(strided(bytes, piece, holders, reading));
          patterns.push_back(with_holes(patterns.back()));
        }
  return patterns;
}

TEST(Weighing, is_not_there_without_a_machine) {
  EXPECT_EQ(make_plan(Strategy{}, strided(7 * k_mib, 512, 8), topology_of(8, 1), {}).value().input, nullptr);
}

TEST(Weighing, by_what_nobody_measured_changes_no_plan) {
  for (const char* kind : {"local", "nfs", "lustre"})
    for (const Pattern& pattern : many_patterns())
      for (const auto& [ranks, hosts] : {std::pair{8, 1}, std::pair{8, 4}, std::pair{7, 7}, std::pair{4096, 64}}) {
        const PlanLimits limits = limits_with(default_machine(kind, 2), false);
        const Plan told = make_plan(Strategy{}, pattern, topology_of(ranks, hosts), limits).value();
        const Plan ruled = make_plan(Strategy{}, pattern, topology_of(ranks, hosts), {}).value();
        EXPECT_EQ(told.strategy, ruled.strategy);
        EXPECT_EQ(told.writers, ruled.writers);
        EXPECT_EQ(told.domains, ruled.domains);
        EXPECT_EQ(told.direct_bytes, ruled.direct_bytes);
        EXPECT_EQ(told.reasons, ruled.reasons);
        ASSERT_NE(told.input, nullptr);
        EXPECT_FALSE(weigh(*told.input).measured);
      }
}

TEST(Weighing, has_the_fastest_first_and_one_that_is_chosen) {
  for (const bool measured : {false, true})
    for (const Pattern& pattern : many_patterns()) {
      const Plan plan =
          make_plan(Strategy{}, pattern, topology_of(8, 2), striped(limits_with(scaling_with_writers(), measured), 4))
              .value();
      const auto all = weigh(*plan.input).alternatives;
      ASSERT_FALSE(all.empty());
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Alternative& a, const Alternative& b) {
        return a.seconds.total < b.seconds.total;
      }));
      EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Alternative& each) { return each.chosen; }), 1);
      for (const Alternative& one : all)
        EXPECT_EQ(std::count_if(all.begin(), all.end(),
                                [&](const Alternative& each) { return each.candidate == one.candidate; }),
                  1)
            << "twice";
      EXPECT_EQ(plan.strategy.domains == Domains::none, chosen_of(plan).candidate.writers == 0);
    }
}

TEST(Weighing, takes_what_a_measured_machine_is_faster_with) {
  const Pattern pattern = strided(64 * k_mib, 512, 8);
  const PlanLimits limits = limits_with(scaling_with_writers(), true);
  const Plan plan = make_plan(Strategy{}, pattern, topology_of(8, 1), limits).value();
  EXPECT_EQ(plan.strategy.domains, Domains::aligned);
  EXPECT_EQ(plan.writers.size(), 8U);
  EXPECT_EQ(chosen_of(plan).candidate.writers, 8);
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("the one that scales")));
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("aligned, 1 writer, contiguous")));
  EXPECT_THAT(describe_text(plan), HasSubstr("instead"));
  const Plan same = make_plan(Strategy{}, pattern, topology_of(8, 1), limits).value();
  EXPECT_EQ(same.strategy, plan.strategy);
  EXPECT_EQ(same.writers, plan.writers);
  EXPECT_EQ(same.reasons, plan.reasons);
}

TEST(Weighing, stays_with_the_rule_where_nothing_is_clearly_faster) {
  Machine machine = scaling_with_writers();
  for (MeasuredRate& rate : machine.writes)
    rate.bytes_per_s = 1e8 * (rate.ranks > 1 ? 1.05 : 1);
  const Plan plan =
      make_plan(Strategy{}, strided(64 * k_mib, 512, 8), topology_of(8, 1), limits_with(machine, true)).value();
  EXPECT_EQ(plan.writers.size(), 1U);
}

TEST(Weighing, leaves_what_was_asked_for) {
  const Pattern pattern = with_holes(strided(64 * k_mib, 512, 8));
  const PlanLimits limits = striped(limits_with(scaling_with_writers(), true), 4);
  const auto plan_of = [&](const StrategyRequest& request, int64_t writers) {
    PlanLimits asked = limits;
    asked.writers = writers;
    return make_plan(strategy_of(request), pattern, topology_of(8, 2), asked).value();
  };
  const auto all_of = [&](const StrategyRequest& request, int64_t writers) {
    return weigh(*plan_of(request, writers).input).alternatives;
  };
  for (const Alternative& each : all_of({.domains = "none"}, 0))
    EXPECT_EQ(each.candidate.strategy.domains, Domains::none);
  for (const Alternative& each : all_of({.domains = "even"}, 3)) {
    EXPECT_EQ(each.candidate.strategy.domains, Domains::even);
    EXPECT_EQ(each.candidate.writers, 3);
  }
  for (const Alternative& each : all_of({.gather = "team(2)"}, 0))
    EXPECT_EQ(each.candidate.strategy.gather, Gather::team);
  for (const Alternative& each : all_of({.access = "list"}, 0))
    EXPECT_EQ(each.candidate.strategy.access, Access::list);
  for (const Alternative& each : all_of({.access = "sieve"}, 0))
    EXPECT_EQ(each.candidate.strategy.access, Access::sieve);
  EXPECT_EQ(plan_of({.preset = "two-phase"}, 0).strategy.domains, Domains::even);
  EXPECT_EQ(plan_of({.preset = "scorpio"}, 0).strategy.domains, Domains::none) << "all ranks are one team";
}

TEST(Weighing, gives_writers_targets_of_their_own_where_locks_are_dear) {
  Machine machine;
  machine.storage.lock_s = 0.05;
  machine.storage.targets = machine.storage.stripe_count = 8;
  machine.storage.target_write_bytes_per_s = 50e6;
  const Pattern pattern = strided(64 * k_mib, 4096, 8);
  const Plan plan = make_plan(Strategy{}, pattern, topology_of(8, 8), striped(limits_with(machine, true), 8)).value();
  EXPECT_EQ(plan.strategy.domains, Domains::target);
  const Plan unknown = make_plan(Strategy{}, pattern, topology_of(8, 8), limits_with(machine, true)).value();
  for (const Alternative& each : weigh(*unknown.input).alternatives)
    EXPECT_NE(each.candidate.strategy.domains, Domains::target);
}

// The rest of a division of writers by targets have nothing to do, and nothing is predicted of them.
TEST(Weighing, is_of_the_writers_that_a_plan_has) {
  for (const int64_t asked : {0, 4, 5}) {
    PlanLimits limits = striped(limits_with(Machine{}, false), 3);
    limits.writers = asked;
    const Plan plan =
        make_plan(strategy_of({.domains = "target"}), strided(64 * k_mib, 4096, 5), topology_of(5, 5), limits).value();
    ASSERT_EQ(plan.writers.size(), 3);
    EXPECT_EQ(chosen_of(plan).candidate.writers, 3);
    std::vector<Candidate> seen;
    for (const Alternative& each : weigh(*plan.input).alternatives) {
      EXPECT_EQ(each.candidate.writers, 3);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), each.candidate), 0);
      seen.push_back(each.candidate);
    }
    if (asked == 0) {
      EXPECT_THAT(plan.reasons, Contains(HasSubstr("3 writers: one per host, as many for each target")));
    }
  }
}

// What target by target takes to read, with so many readers, and the rule's number of writers to have written it.
double seconds_to_read(int64_t readers, const char* domains, int64_t bytes, double lock_s) {
  Machine machine;
  machine.storage.lock_s = lock_s;
  Pattern pattern = strided(bytes, 4096, 8);
  pattern.reading = true;
  PlanLimits limits = striped(limits_with(machine, true), 4);
  limits.writers = readers;
  const Plan plan = make_plan(strategy_of({.domains = domains}), pattern, topology_of(8, 8), limits).value();
  return chosen_of(plan).seconds.storage;
}

TEST(Weighing, calls_locks_back_from_those_that_wrote_in_another_way) {
  constexpr double k_lock = 0.05;
  const auto longer = [](int64_t readers, const char* domains) {
    return seconds_to_read(readers, domains, 64 * k_mib, k_lock) - seconds_to_read(readers, domains, 64 * k_mib, 0);
  };
  EXPECT_NEAR(longer(8, "target"), 0, 1e-9);  // as it was written: one a host, two for each of four targets
  EXPECT_NEAR(longer(4, "target"), 2 * k_lock, 1e-9);
  EXPECT_NEAR(longer(8, "aligned"), 2 * k_lock, 1e-9);
}

TEST(Weighing, passes_locks_between_writers_of_one_target) {
  Machine machine;
  machine.storage.lock_s = 0.05;
  const auto seconds = [&](int64_t writers, int64_t bytes) {
    PlanLimits limits = striped(limits_with(machine, true), 4);
    limits.writers = writers;
    return chosen_of(make_plan(strategy_of({.domains = "target"}), strided(bytes, 4096, 8), topology_of(8, 8), limits)
                         .value())
        .seconds.storage;
  };
  EXPECT_NEAR(seconds(8, 64 * k_mib) - seconds(4, 64 * k_mib), 2 * machine.storage.lock_s, 0.02);
  EXPECT_NEAR(seconds(8, 2 * k_mib), seconds(4, 2 * k_mib), 0.02);  // two stripes: no two writers share a target
}

TEST(Weighing, of_sieving_reads_first_only_where_there_are_holes) {
  const auto seconds_of = [](const char* access, const Pattern& pattern) {
    const Plan plan = make_plan(strategy_of({.domains = "aligned", .access = access}), pattern, topology_of(8, 1),
                                limits_with(scaling_with_writers(), true))
                          .value();
    return chosen_of(plan).seconds.storage;
  };
  const Pattern whole = strided(64 * k_mib, 65'536, 8);
  EXPECT_EQ(seconds_of("sieve", whole), seconds_of("contiguous", whole));
  Pattern reading = whole;
  reading.reading = true;
  EXPECT_GT(seconds_of("sieve", with_holes(whole)), 1.9 * seconds_of("sieve", with_holes(reading)));
}

TEST(Weighing, sieves_where_requests_are_dear) {
  Machine machine;
  machine.storage.request_s = 0.01;
  const Pattern pattern = with_holes(strided(16 * k_mib, 16'384, 8));
  const Plan plan = make_plan(Strategy{}, pattern, topology_of(8, 1), limits_with(machine, true)).value();
  EXPECT_EQ(plan.strategy.access, Access::sieve);
  PlanLimits without_locks = limits_with(machine, true);
  without_locks.may_sieve_writes = false;
  EXPECT_NE(make_plan(Strategy{}, pattern, topology_of(8, 1), without_locks).value().strategy.access, Access::sieve);
  Pattern overlapping = pattern;
  overlapping.overlapping = true;
  EXPECT_NE(make_plan(Strategy{}, overlapping, topology_of(8, 1), limits_with(machine, true)).value().strategy.access,
            Access::sieve);
}

TEST(Weighing, leaves_out_codecs_that_no_link_waits_for) {
  Machine machine;
  machine.codecs = {{.name = "lz4", .encode_bytes_per_s = 500e6, .decode_bytes_per_s = 2e9}};
  machine.network.host_bytes_per_s = 10e9;
  const Pattern pattern = strided(64 * k_mib, 512, 8);
  EXPECT_EQ(make_plan(Strategy{}, pattern, topology_of(8, 2), limits_with(machine, true)).value().strategy.codec,
            Codec::off);
  EXPECT_EQ(make_plan(Strategy{}, pattern, topology_of(8, 2), limits_with(machine, false)).value().strategy.codec,
            Codec::automatic);
  machine.network.host_bytes_per_s = 100e6;
  EXPECT_EQ(make_plan(Strategy{}, pattern, topology_of(8, 2), limits_with(machine, true)).value().strategy.codec,
            Codec::automatic);
}

TEST(Weighing, foretells_more_seconds_for_more_bytes) {
  for (const bool reading : {false, true})
    for (const auto& [ranks, hosts] : {std::pair{1, 1}, std::pair{7, 1}, std::pair{13, 13}, std::pair{1024, 32}}) {
      double before = 0;
      for (int64_t bytes = 65'536; bytes < int64_t{1} << 40; bytes *= 4) {
        const Pattern pattern = strided(bytes, 512, std::min(ranks, 128), reading);
        const Plan plan =
            make_plan(Strategy{}, pattern, topology_of(ranks, hosts), limits_with(Machine{}, false)).value();
        EXPECT_GE(chosen_of(plan).seconds.total, before) << bytes;
        before = chosen_of(plan).seconds.total;
      }
    }
}

TEST(Weighing, is_as_long_for_any_number_of_ranks) {
  const auto count = [](int ranks, int hosts) {
    const Plan plan = make_plan(Strategy{}, strided(int64_t{1} << 40, 512, ranks), topology_of(ranks, hosts),
                                striped(limits_with(Machine{}, true), 8))
                          .value();
    return weigh(*plan.input).alternatives.size();
  };
  EXPECT_EQ(count(131'072, 1024), count(8192, 64))
      << "as many ranks of each host, so that all numbers of writers are there with teams too";
  EXPECT_LE(count(131'072, 1024), 128U);
}

TEST(Weighing, is_sound_for_any_pattern) {
  std::mt19937_64 random(5);
  const std::vector<int64_t> hostile{0, 1, 2, 3, 511, 4096, k_mib, int64_t{1} << 40, int64_t{1} << 61, INT64_MAX / 4};
  const auto any = [&] { return hostile[random() % hostile.size()]; };
  for (int i = 0; i < 3000; ++i) {
    const int hosts = static_cast<int>(1 + random() % 9), ranks = hosts * static_cast<int>(1 + random() % 500);
    Pattern pattern{.reading = random() % 2 == 0,
                    .bytes = any(),
                    .pieces = any(),
                    .entries = any(),
                    .long_bytes = any(),
                    .long_pieces = any(),
                    .ranks_with_data = any(),
                    .largest_rank_bytes = any(),
                    .shared_reads = random() % 2 == 0,
                    .in_memory = random() % 2 == 0,
                    .regions = {}};
    const int64_t begin = any() / 2;
    if (random() % 4 != 0)
      pattern.regions = {{begin, begin + any()}};
    PlanLimits limits = limits_with(random() % 2 == 0 ? Machine{} : scaling_with_writers(), random() % 2 == 0);
    const Candidate rule{.strategy = strategy_of({.preset = "two-phase"}), .writers = 1};
    const Weighing weighing =
        weigh({.asked = {}, .pattern = pattern, .topology = topology_of(ranks, hosts), .limits = limits, .rule = rule});
    ASSERT_FALSE(weighing.alternatives.empty());
    for (const Alternative& each : weighing.alternatives)
      ASSERT_TRUE(std::isfinite(each.seconds.total) && each.seconds.total >= 0) << i;
  }
}

}  // namespace
}  // namespace windrow
