// SPDX-License-Identifier: BSD-3-Clause
#include "planning/plan_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace windrow {
namespace {

RequestBatch batch_of(std::vector<BatchKey> key, bool reading = false) {
  RequestBatch batch;
  batch.key = std::move(key);
  batch.reading = reading;
  return batch;
}

struct Fixture {
  PlanCache cache;
  Strategy strategy;
  PlanLimits limits;

  PreparedPlan& add(const RequestBatch& batch, int64_t memory = 0) {
    auto made = std::make_unique<PreparedPlan>();
    made->key = batch.key;
    made->plan.reading = batch.reading;
    made->asked = strategy;
    made->limits = limits;
    made->runs = batch.runs;
    made->memory = memory;
    cache.reserve();
    return cache.add(std::move(made));
  }
  PlanQuery query(const RequestBatch& batch) const { return {batch, strategy, limits}; }
  // What ranks with these batches find together.
  int64_t find(std::initializer_list<RequestBatch> ranks) const {
    PlanCache::Bits all{};
    for (const RequestBatch& each : ranks) {
      const PlanCache::Bits bits = cache.mismatches(query(each));
      for (size_t i = 0; i < all.size(); ++i)
        all[i] |= bits[i];
    }
    return cache.match(all);
  }
};

std::shared_ptr<const ByteRuns> some_runs() {
  PiecesBuilder builder;
  for (int64_t i = 0; i < 100; ++i)
    builder.add(Piece{i * i * 10, i * 7, 5});
  auto runs = std::make_shared<ByteRuns>();
  runs->elements = builder.take();
  runs->see(PieceView(runs->elements));
  return runs;
}

TEST(PlanCache, finds_a_plan_by_what_it_was_made_for) {
  Fixture f;
  const RequestBatch puts = batch_of({{1, 2, 3}, {4, 5, 6}}), gets = batch_of(puts.key, true);
  EXPECT_EQ(f.find({puts}), 0);
  const int64_t id = f.add(puts).id;
  EXPECT_GT(id, 0);
  EXPECT_EQ(f.find({puts}), id);
  EXPECT_TRUE(f.cache.has_match(f.query(puts)));
  EXPECT_EQ(f.find({gets}), 0);
  EXPECT_EQ(f.find({batch_of({{1, 2, 3}})}), 0);
  EXPECT_EQ(f.find({batch_of({{1, 2, 3}, {4, 5, 7}})}), 0);
  EXPECT_FALSE(f.cache.has_match(f.query(gets)));
}

TEST(PlanCache, does_not_find_a_plan_of_another_strategy_or_of_other_limits) {
  Fixture f;
  const RequestBatch batch = batch_of({{1, 2, 3}});
  const int64_t id = f.add(batch).id;
  f.strategy.domains = Domains::even;
  EXPECT_EQ(f.find({batch}), 0);
  f.strategy = {};
  f.limits.buffer_bytes /= 2;
  EXPECT_EQ(f.find({batch}), 0);
  f.limits = {};
  EXPECT_EQ(f.find({batch}), id);
}

TEST(PlanCache, does_not_find_an_outdated_plan) {
  Fixture f;
  const RequestBatch batch = batch_of({{1, 2, 3}});
  PreparedPlan& plan = f.add(batch);
  plan.outdated = true;
  EXPECT_EQ(f.find({batch}), 0);
}

TEST(PlanCache, finds_the_one_that_fits_on_every_rank) {
  Fixture f;
  const RequestBatch nothing = batch_of({}), some = batch_of({{1, 1, 1}}), more = batch_of({{2, 2, 2}});
  // This rank had no data in either plan; the other had some, and then more.
  const int64_t first = f.add(nothing).id, second = f.add(nothing).id;
  PlanCache::Bits mine = f.cache.mismatches(f.query(nothing));
  EXPECT_EQ(f.cache.match(mine), first);
  mine[0] |= 1;  // the other rank's result for the first plan
  EXPECT_EQ(f.cache.match(mine), second);
  mine[0] |= 2;
  EXPECT_EQ(f.cache.match(mine), 0);
  EXPECT_EQ(f.find({some, more}), 0);
}

TEST(PlanCache, forgets_the_plan_that_was_not_used_for_the_longest_time) {
  Fixture f;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < static_cast<int64_t>(PlanCache::k_most); ++i)
    ids.push_back(f.add(batch_of({{i, 0, 0}})).id);
  EXPECT_EQ(f.find({batch_of({{static_cast<int64_t>(PlanCache::k_most) - 1, 0, 0}})}), ids.back());
  ASSERT_NE(f.cache.use(ids[0]), nullptr);
  f.add(batch_of({{-1, 0, 0}}));
  EXPECT_EQ(f.cache.size(), PlanCache::k_most);
  EXPECT_EQ(f.find({batch_of({{0, 0, 0}})}), ids[0]);
  EXPECT_EQ(f.cache.use(ids[1]), nullptr);
  EXPECT_NE(f.cache.use(ids[2]), nullptr);
}

TEST(PlanCache, keeps_within_its_memory_but_for_the_last_plan) {
  Fixture f;
  const int64_t half = PlanCache::k_most_bytes / 2;
  const int64_t first = f.add(batch_of({{1, 0, 0}}), half).id, second = f.add(batch_of({{2, 0, 0}}), half).id;
  EXPECT_EQ(f.cache.size(), 2U);
  f.add(batch_of({{3, 0, 0}}), 1);
  EXPECT_EQ(f.cache.use(first), nullptr);
  EXPECT_NE(f.cache.use(second), nullptr);
  const int64_t last = f.add(batch_of({{4, 0, 0}}), PlanCache::k_most_bytes + 1).id;
  EXPECT_EQ(f.cache.size(), 1U);
  EXPECT_NE(f.cache.use(last), nullptr);
}

TEST(PlanCache, counts_lists_that_plans_share_once) {
  Fixture f;
  RequestBatch batch = batch_of({{1, 0, 0}});
  batch.runs = {some_runs()};
  PreparedPlan alike;
  alike.runs = batch.runs;
  const int64_t alone = f.cache.memory_of(alike);
  EXPECT_GT(alone, 0);
  alike.runs.push_back(batch.runs.front());
  EXPECT_EQ(f.cache.memory_of(alike), alone);
  f.add(batch);
  EXPECT_EQ(f.cache.memory_of(alike), 0);
}

TEST(PlanCache, never_gives_a_number_twice) {
  Fixture f;
  const int64_t first = f.add(batch_of({{1, 0, 0}})).id;
  f.cache.forget_if([&](const PreparedPlan& each) { return each.id == first; });
  EXPECT_EQ(f.cache.size(), 0U);
  const int64_t second = f.add(batch_of({{1, 0, 0}})).id;
  EXPECT_NE(second, first);
  f.cache.clear();
  EXPECT_EQ(f.cache.use(second), nullptr);
}

}  // namespace
}  // namespace windrow
