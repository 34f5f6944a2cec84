// SPDX-License-Identifier: BSD-3-Clause
// What flushes teach, and what becomes of the next choice by it.
#include "plan/experience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "plan/candidates.hpp"
#include "plan/plan.hpp"

namespace windrow {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int64_t k_mib = int64_t{1} << 20;

Work work_with(Sharing sharing, bool reading = false) {
  Work work{.ranks = 8, .hosts = 2, .storage_parts = 1};
  work.storage[0] = {.reading = reading, .sharing = sharing, .actors = 2, .bytes = 1e9, .actor_bytes = 5e8, .request_bytes = 1e6};
  return work;
}

constexpr Prediction k_foretold{.open = 0, .plan = 0, .exchange = 1, .storage = 2, .total = 3};

// One rank alone writes fast, several in turn slowly; the rule lets those who hold long pieces write them.
PlanLimits limits_of(const std::shared_ptr<Experience>& experience, bool measured) {
  Machine machine;
  machine.writes = {{.request_bytes = k_mib, .ranks = 1, .bytes_per_s = 1e9}, {.request_bytes = k_mib, .ranks = 1, .bytes_per_s = 1e9, .sharing = Sharing::interleaved}};
  PlanLimits limits;
  limits.machine = std::make_shared<const Machine>(machine);
  limits.machine_measured = measured;
  limits.experience = experience;
  return limits;
}

const Pattern k_pattern{.reading = false, .bytes = 800 * k_mib, .pieces = 800, .entries = 8, .long_bytes = 800 * k_mib, .long_pieces = 800, .ranks_with_data = 8, .largest_rank_bytes = 100 * k_mib, .regions = {{0, 800 * k_mib}}};
const Topology k_topology{.ranks = 8, .host_roots = {0}};

Plan plan_with(const std::shared_ptr<Experience>& experience, bool measured = true) { return make_plan(Strategy{}, k_pattern, k_topology, limits_of(experience, measured)).value(); }

// Of the plan's own way: its storage took so many times what was foretold.
void teach(Experience& experience, const Plan& plan, double times) {
  const Weighing& weighing = *plan.weighing;
  const Work work = work_of(chosen_of(weighing).candidate, weighing.pattern, k_topology, weighing.limits);
  const Prediction foretold = predict(work, *weighing.limits.machine);
  experience.learn(work, foretold, foretold.exchange, times * foretold.storage);
}

TEST(Experience, corrects_nothing_before_there_is_any) {
  const Corrections none = Experience().corrections_for(work_with(Sharing::apart));
  EXPECT_EQ(none.exchange, 1);
  EXPECT_EQ(none.storage, 1);
}

TEST(Experience, is_of_a_direction_and_of_a_way_to_share_the_file) {
  Experience experience;
  experience.learn(work_with(Sharing::apart), k_foretold, 3, 1);
  experience.learn(work_with(Sharing::interleaved), k_foretold, 3, 16);
  EXPECT_EQ(experience.flushes(), 2);
  EXPECT_NEAR(experience.corrections_for(work_with(Sharing::apart)).exchange, 3, 1e-12);
  EXPECT_NEAR(experience.corrections_for(work_with(Sharing::apart)).storage, 0.5, 1e-12);
  EXPECT_NEAR(experience.corrections_for(work_with(Sharing::interleaved)).storage, 8, 1e-12);
  EXPECT_NEAR(experience.corrections_for(work_with(Sharing::targets)).storage, 2, 1e-12);  // the mean of 1/2 and 8
  EXPECT_EQ(experience.corrections_for(work_with(Sharing::apart, true)).storage, 1);
  EXPECT_EQ(experience.corrections_for(work_with(Sharing::apart, true)).exchange, 1);
}

TEST(Experience, comes_nearer_to_what_lasts) {
  Experience experience;
  const Work work = work_with(Sharing::apart);
  experience.learn(work, k_foretold, 1, 2 * 8);  // once something else went on
  for (int i = 0; i < 10; ++i) experience.learn(work, k_foretold, 1, 2);
  EXPECT_NEAR(experience.corrections_for(work).storage, 1, 0.01);
}

TEST(Experience, leaves_out_what_tells_nothing) {
  Experience experience;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  experience.learn(work_with(Sharing::apart), {.exchange = 1e-6, .storage = 1e-6}, 1e-6, 1e-5);  // next to nothing
  experience.learn(work_with(Sharing::apart), k_foretold, nan, 1);
  experience.learn(Work{}, k_foretold, 1, 1);
  EXPECT_EQ(experience.flushes(), 0);
  experience.learn(work_with(Sharing::apart), {.exchange = 0.001, .storage = 1}, 0.5, 1e9);  // no exchange to speak of
  EXPECT_EQ(experience.corrections_for(work_with(Sharing::apart)).exchange, 1);
  EXPECT_NEAR(experience.corrections_for(work_with(Sharing::apart)).storage, 16, 1e-9);  // and no more than can be
}

TEST(Experience, changes_the_choice_where_it_is_clearly_better) {
  const auto experience = std::make_shared<Experience>();
  const Plan first = plan_with(experience);
  EXPECT_EQ(first.strategy.domains, Domains::none);
  EXPECT_EQ(first.weighing->learned, 0);
  teach(*experience, first, 1.1);
  EXPECT_FALSE(is_clearly_better(*plan_with(experience).weighing, *first.weighing));
  // That parts of their own take what was foretold has been seen; in turn ranks take twelve times as long.
  experience->learn(work_with(Sharing::apart), k_foretold, 1, 2);
  for (int i = 0; i < 8; ++i) teach(*experience, first, 12);
  const Plan second = plan_with(experience);
  EXPECT_TRUE(is_clearly_better(*second.weighing, *first.weighing));
  EXPECT_EQ(second.strategy.domains, Domains::aligned);
  EXPECT_THAT(second.reasons, Contains(HasSubstr("corrected by 10 flushes")));
  EXPECT_EQ(plan_with(experience).reasons, second.reasons);
  EXPECT_EQ(second.weighing->limits.experience, nullptr);
}

TEST(Experience, lets_what_nobody_measured_decide_only_when_there_is_some) {
  const auto experience = std::make_shared<Experience>();
  const Plan first = plan_with(experience, false);
  EXPECT_FALSE(first.weighing->measured);
  experience->learn(work_with(Sharing::apart), k_foretold, 1, 2);
  teach(*experience, first, 12);
  EXPECT_EQ(plan_with(experience, false).strategy.domains, Domains::aligned);
  EXPECT_EQ(plan_with(nullptr, false).strategy.domains, Domains::none);
}

}  // namespace
}  // namespace windrow
