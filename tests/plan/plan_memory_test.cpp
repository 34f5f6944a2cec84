// SPDX-License-Identifier: BSD-3-Clause
// A plan that is found again is the one that would be made; whatever it depends on makes another.
#include "plan/plan_memory.hpp"

#include <gtest/gtest.h>

#include "model/machine.hpp"
#include "plan/candidates.hpp"

namespace windrow {
namespace {

constexpr int64_t k_mib = int64_t{1} << 20;

struct Asked {
  Strategy strategy;
  Pattern pattern{.bytes = 8 * k_mib, .pieces = 16384, .entries = 8, .ranks_with_data = 8, .largest_rank_bytes = k_mib, .regions = {{0, 8 * k_mib}}};
  Topology topology{.ranks = 8, .host_roots = {0, 4}};
  PlanLimits limits;
};

std::shared_ptr<const StorageLayout> striped() {
  return std::make_shared<const StorageLayout>(StorageLayout{.kind = LayoutKind::mock, .components = {{.stripe_bytes = k_mib, .stripe_count = 2, .targets = {0, 1}}}});
}

Asked measured() {
  Asked asked;
  Machine machine;
  machine.writes = {{.request_bytes = 4096, .ranks = 1, .bytes_per_s = 1e7}, {.request_bytes = 4 * k_mib, .ranks = 2, .bytes_per_s = 1e8}};
  asked.limits.machine = std::make_shared<const Machine>(std::move(machine));
  asked.limits.machine_measured = true;
  asked.limits.layout = striped();
  return asked;
}

Plan of(PlanMemory& memory, const Asked& asked) { return memory.plan(asked.strategy, asked.pattern, asked.topology, asked.limits).value(); }
Plan made(const Asked& asked) { return make_plan(asked.strategy, asked.pattern, asked.topology, asked.limits).value(); }

Experience some_experience() {
  Experience experience;
  Work work;
  work.storage_parts = 1;
  work.storage[0] = {.bytes = k_mib};
  experience.learn(work, {.exchange = 0.01, .storage = 0.01}, 0.02, 0.03);
  return experience;
}

TEST(PlanMemory, finds_what_would_be_made) {
  PlanMemory memory;
  const Asked asked = measured();
  const Plan first = of(memory, asked);
  Asked again = asked;
  again.limits.layout = striped();  // as the next file's own
  const Plan second = of(memory, again);
  EXPECT_EQ(memory.size(), 1U);
  EXPECT_EQ(first.weighing, second.weighing);  // not weighed anew
  EXPECT_EQ(describe_text(second), describe_text(made(again)));
  EXPECT_EQ(second.domains, made(again).domains);
}

TEST(PlanMemory, takes_nothing_for_what_it_is_not) {
  std::vector<Asked> all(1, measured());
  const auto with = [&](auto change) { change(all.emplace_back(measured())); };
  with([](Asked& asked) { asked.strategy.domains = Domains::even; });
  with([](Asked& asked) { asked.pattern.reading = true; });
  with([](Asked& asked) { asked.pattern.regions = {{k_mib, 9 * k_mib}}; });
  with([](Asked& asked) { asked.pattern.bytes -= 8; });
  with([](Asked& asked) { asked.topology.host_roots = {0}; });
  with([](Asked& asked) { asked.topology.ranks = 7; });
  with([](Asked& asked) { asked.limits.writers = 1; });
  with([](Asked& asked) { asked.limits.layout = nullptr; });
  with([](Asked& asked) { asked.limits.machine = std::make_shared<const Machine>(); });
  with([](Asked& asked) { asked.limits.machine_measured = false; });
  PlanMemory memory;
  for (const Asked& asked : all) (void)of(memory, asked);
  EXPECT_EQ(memory.size(), all.size());
  for (const Asked& asked : all) {
    EXPECT_EQ(describe_text(of(memory, asked)), describe_text(made(asked)));
    EXPECT_EQ(of(memory, asked).domains, made(asked).domains);
  }
  EXPECT_EQ(memory.size(), all.size());
}

TEST(PlanMemory, knows_that_experience_grew) {
  PlanMemory memory;
  Asked asked = measured();
  const auto experience = std::make_shared<Experience>();
  asked.limits.experience = experience;
  EXPECT_EQ(of(memory, asked).weighing->learned, 0);
  *experience = some_experience();
  EXPECT_EQ(of(memory, asked).weighing->learned, 1);
  EXPECT_EQ(of(memory, asked).weighing->learned, 1);
  EXPECT_EQ(memory.size(), 1U);  // nobody asks for what was known before
}

TEST(PlanMemory, holds_few_and_none_that_are_long) {
  PlanMemory memory;
  Asked asked = measured();
  for (int64_t bytes = 1; bytes <= 100; ++bytes) {
    asked.pattern.bytes = bytes;
    (void)of(memory, asked);
  }
  EXPECT_EQ(memory.size(), 32U);
  asked.pattern.regions.clear();
  for (int64_t i = 0; i < 2000; ++i) asked.pattern.regions.push_back({2 * i * k_mib, (2 * i + 1) * k_mib});
  const size_t before = memory.size();
  EXPECT_EQ(of(memory, asked).regions.size(), 2000U);
  EXPECT_EQ(memory.size(), before);
}

TEST(PlanMemory, keeps_no_plan_that_cannot_be_made) {
  PlanMemory memory;
  Asked asked = measured();
  asked.limits.unit = 0;
  EXPECT_FALSE(memory.plan(asked.strategy, asked.pattern, asked.topology, asked.limits).ok());
  EXPECT_EQ(memory.size(), 0U);
}

}  // namespace
}  // namespace windrow
