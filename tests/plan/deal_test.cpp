// SPDX-License-Identifier: BSD-3-Clause
#include "plan/deal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "../stride.hpp"
#include "layout/parse.hpp"
#include "plan/plan.hpp"

namespace windrow {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t k_mib = int64_t{1} << 20;

StorageLayout mock(std::string_view text) {
  return parse_mock(text).value();
}

Plan plan_of(const StorageLayout& layout, std::vector<Extent> regions, int writers, Domains domains = Domains::target,
             int64_t buffer = 4 * k_mib, int64_t piece = 8) {
  Pattern pattern{.regions = std::move(regions)};
  for (const Extent& region : pattern.regions)
    pattern.bytes += region.size();
  pattern.pieces = std::max<int64_t>(1, pattern.bytes / piece);
  Strategy strategy{.domains = domains};
  const PlanLimits limits{.buffer_bytes = buffer,
                          .unit = lock_unit(layout),
                          .writers = writers,
                          .layout = std::make_shared<const StorageLayout>(layout)};
  return make_plan(strategy, pattern, {.ranks = writers, .host_roots = {0}}, limits).value();
}

std::vector<Extent> parts_of(const Window& window) {
  std::vector<Extent> parts;
  window.for_each_part([&](Extent part, int64_t) { parts.push_back(part); });
  return parts;
}

std::vector<Extent> parts_in_order(const Windows& windows) {
  std::vector<Extent> all;
  for (int64_t i = 0; i < windows.count(); ++i)
    for (const Extent& part : parts_of(windows.window(i)))
      all.push_back(part);
  std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  return all;
}

// Section III.B of the paper: four writers, a file of 16 MiB, stripes of 1 MiB on four targets.
TEST(DealByTarget, gives_each_writer_a_target_as_in_the_paper) {
  const Plan plan = plan_of(mock("stripe=1MiB,count=4"), {{0, 16 * k_mib}}, 4);
  ASSERT_EQ(plan.strategy.domains, Domains::target);
  ASSERT_EQ(plan.writers.size(), 4U);
  for (int64_t writer = 0; writer < 4; ++writer) {
    std::vector<Extent> want;
    for (int64_t stripe = writer; stripe < 16; stripe += 4)
      want.push_back({stripe * k_mib, (stripe + 1) * k_mib});
    EXPECT_EQ(parts_in_order(windows_of(plan, static_cast<size_t>(writer))), want);
  }
}

TEST(DealByTarget, lets_few_writers_have_neighbouring_targets_and_long_requests) {
  const Plan plan = plan_of(mock("stripe=64KiB,count=8"), {{0, 64 * k_mib}}, 2);
  const auto parts = parts_in_order(windows_of(plan, 1));
  EXPECT_EQ(parts.front(), (Extent{256 << 10, 512 << 10}));
  EXPECT_EQ(parts[1], (Extent{768 << 10, 1 << 20}));
}

TEST(DealByTarget, lets_writers_share_a_target_each_in_a_stretch_of_the_file) {
  const Plan plan = plan_of(mock("stripe=1MiB,count=2"), {{0, 32 * k_mib}}, 5);  // one of them is too many
  ASSERT_EQ(plan.writers.size(), 4U);
  EXPECT_EQ(plan.sharers, 2);
  EXPECT_THAT(plan.domains, ElementsAre(Extent{0, 16 * k_mib}, Extent{16 * k_mib, 32 * k_mib}, Extent{0, 16 * k_mib},
                                        Extent{16 * k_mib, 32 * k_mib}));
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("2 writers share each of 2 targets")));
}

// Variables that follow each other in the file, each written by a flush of its own: a target that one writer had is no
// other's afterwards.
TEST(DealByTarget, gives_a_target_to_the_same_writer_in_each_flush) {
  for (const int64_t bytes : {5 * k_mib / 2, 3 * k_mib, k_mib / 2, 17 * k_mib})
    for (const int writers : {2, 3, 4}) {
      const StorageLayout layout = mock("stripe=1MiB,count=4");
      std::map<int64_t, std::set<int>> writers_of_target;
      std::map<int64_t, std::set<int>> writers_of_stripe;
      for (int64_t begin = 4096; begin < 64 * k_mib; begin += bytes) {
        const Plan plan = plan_of(layout, {{begin, begin + bytes}}, writers);
        ASSERT_EQ(plan.strategy.domains, Domains::target);
        for (size_t i = 0; i < plan.domains.size(); ++i)
          for (const Extent& part : parts_in_order(windows_of(plan, i)))
            for (int64_t at = std::max(part.begin, begin); at < std::min(part.end, begin + bytes);
                 at = next_stripe(layout, at)) {
              writers_of_target[stripe_at(layout, at).target].insert(plan.writers[i]);
              writers_of_stripe[at / k_mib].insert(plan.writers[i]);
            }
      }
      EXPECT_EQ(writers_of_target.size(), 4U);
      for (const auto& [target, having] : writers_of_target)
        EXPECT_EQ(having.size(), 1U) << target << " of " << bytes << " by " << writers;
      for (const auto& [stripe, having] : writers_of_stripe)
        EXPECT_EQ(having.size(), 1U) << stripe;
    }
}

// The first component is over after a few stripes; the others' writers have their targets to the end, whether a flush
// has bytes on all of them or not.
TEST(DealByTarget, gives_a_target_to_the_same_writer_within_a_component) {
  const StorageLayout layout = mock("stripe=64KiB,count=1,until=1MiB;stripe=1MiB,count=3,first=1");
  std::set<std::vector<int>> groups;
  for (int64_t begin = k_mib; begin < 40 * k_mib; begin += 5 * k_mib / 4) {
    const auto dealing = deal_by_target({{begin, begin + 5 * k_mib / 4}}, 2, layout);
    ASSERT_TRUE(dealing);
    groups.insert(dealing->parts[1].groups);
  }
  EXPECT_THAT(groups, ElementsAre(std::vector<int>{0, 0, 1}));
}

// Of many targets a short flush has a few that follow each other: one or two writers would have all of them.
TEST(DealByTarget, leaves_at_least_half_of_the_writers_at_work) {
  const auto dealing = deal_by_target({{0, 20 * k_mib}}, 8, mock("stripe=1MiB,count=160"));
  ASSERT_TRUE(dealing);
  std::set<int> busy(dealing->parts[0].groups.begin(), dealing->parts[0].groups.begin() + 20);
  EXPECT_EQ(busy.size(), 8U);
}

// A progressive file whose first component is small and on one target that the second does not have.
TEST(DealByTarget, weighs_targets_by_their_bytes) {
  const auto dealing =
      deal_by_target({{0, 101 * k_mib}}, 4, mock("stripe=1MiB,count=1,until=1MiB;stripe=1MiB,count=4,first=1"));
  ASSERT_TRUE(dealing);
  EXPECT_EQ(dealing->groups, 4);
  const std::vector<int>& groups = dealing->parts[1].groups;
  EXPECT_EQ(std::set<int>(groups.begin(), groups.end()).size(), 4U);
  EXPECT_EQ(dealing->parts[0].groups, std::vector<int>{0});
}

TEST(DealByTarget, keeps_the_stripes_of_an_overstriped_target_together) {
  const auto dealing = deal_by_target({{0, 1000 * k_mib}}, 8, mock("stripe=1MiB,count=7,targets=3"));
  ASSERT_TRUE(dealing);
  EXPECT_EQ(dealing->groups, 3);
  EXPECT_THAT(dealing->parts[0].groups, ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

// As CephFS has them: each object where a hash puts it.
TEST(DealByTarget, gives_each_writer_the_objects_of_a_target) {
  StorageLayout layout = mock("stripe=1MiB,count=1,object=4MiB,objects=8,targets=3");
  layout.components[0].targets = {7, 7, 3, 9, 7, 3, 3, 9};
  const Plan plan = plan_of(layout, {{0, 32 * k_mib}}, 3);
  ASSERT_EQ(plan.strategy.domains, Domains::target);
  ASSERT_EQ(plan.writers.size(), 3U);
  const auto objects_of = [&](size_t writer) {
    std::set<int64_t> objects;
    for (const Extent& part : parts_in_order(windows_of(plan, writer)))
      for (int64_t at = part.begin; at < part.end; at += k_mib)
        objects.insert(at / (4 * k_mib));
    return objects;
  };
  EXPECT_THAT(objects_of(0), ElementsAre(0, 1, 4));
  EXPECT_THAT(objects_of(1), ElementsAre(2, 5, 6));
  EXPECT_THAT(objects_of(2), ElementsAre(3, 7));
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("3 writers with targets of their own")));
  EXPECT_THAT(plan.reasons, testing::Not(Contains(HasSubstr("the targets of objects are unknown"))));
}

TEST(DealByTarget, finds_the_objects_of_rows) {
  StorageLayout layout = mock("stripe=1MiB,count=2,object=2MiB,objects=4,targets=9");
  layout.components[0].targets = {5, 6, 6, 5};
  const auto dealing = deal_by_target({{0, 8 * k_mib}}, 9, layout);
  ASSERT_TRUE(dealing);
  EXPECT_EQ(dealing->groups, 2);
  EXPECT_THAT(dealing->parts[0].groups, ElementsAre(0, 1, 0, 1, 1, 0, 1, 0));
}

// The objects after those that were queried are unknown: whole rows of them are assigned in turn.
TEST(DealByTarget, deals_rows_in_turn_behind_the_objects_that_it_knows) {
  const StorageLayout layout = mock("stripe=1MiB,count=2,object=2MiB,objects=8,targets=3");
  const auto dealing = deal_by_target({{0, 400 * k_mib}}, 3, layout);
  ASSERT_TRUE(dealing);
  ASSERT_EQ(dealing->parts.size(), 2U);
  EXPECT_EQ(dealing->known_end, 16 * k_mib);
  EXPECT_EQ(dealing->parts[1].bytes, (Extent{16 * k_mib, k_no_end}));
  EXPECT_EQ(dealing->parts[1].stripe_bytes, 4 * k_mib);
  EXPECT_THAT(dealing->parts[1].groups, ElementsAre(0, 1, 2));
  EXPECT_FALSE(dealing->by_column);
  EXPECT_THAT(
      plan_of(layout, {{0, 400 * k_mib}}, 3).reasons,
      Contains(HasSubstr(
          "beyond 16 MiB the targets of objects are unknown: rows of them are assigned to the writers in turn")));
  const auto behind = deal_by_target({{100 * k_mib, 400 * k_mib}}, 3, layout);
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->parts.size(), 1U);
  EXPECT_TRUE(behind->by_column) << "as where no target is known";
  EXPECT_THAT(plan_of(layout, {{100 * k_mib, 400 * k_mib}}, 3).reasons,
              Contains(HasSubstr("2 writers with columns of stripes of their own")));
  EXPECT_FALSE(
      deal_by_target({{100 * k_mib, 400 * k_mib}}, 3, mock("stripe=1MiB,count=1,object=2MiB,objects=8,targets=3")));
}

// As many objects as are asked about, on as many OSDs as large systems have.
TEST(MakePlan, deals_thousands_of_objects_on_a_thousand_targets) {
  const Plan plan =
      plan_of(mock("stripe=4MiB,count=1,object=4MiB,objects=4096,targets=1000"), {{3, int64_t{1} << 50}}, 2000);
  EXPECT_EQ(plan.strategy.domains, Domains::target);
  int64_t bytes = 0;
  for (size_t i = 0; i < plan.domains.size(); ++i)
    bytes += windows_of(plan, i).bytes_in({0, int64_t{1} << 50});
  EXPECT_EQ(bytes, (int64_t{1} << 50) - 3);
}

TEST(DealByTarget, is_not_where_there_is_nothing_to_choose) {
  EXPECT_FALSE(deal_by_target({{0, 100 * k_mib}}, 1, mock("stripe=1MiB,count=4")));
  EXPECT_FALSE(deal_by_target({{0, 100 * k_mib}}, 4, mock("stripe=1MiB,count=1")));
  EXPECT_FALSE(deal_by_target({}, 4, mock("stripe=1MiB,count=4")));
  EXPECT_FALSE(deal_by_target(
      {{0, 100 * k_mib}}, 4,
      {.kind = LayoutKind::lustre, .components = {{.stripe_bytes = k_mib, .stripe_count = 0, .targets = {}}}}));
  EXPECT_FALSE(deal_by_target({{0, 100 * k_mib}}, 4, mock("stripe=1PiB,count=65535")))
      << "its stripes are longer than any file";
}

TEST(MakePlan, cuts_where_stripes_end_when_there_is_nothing_to_deal) {
  for (const Domains domains : {Domains::target, Domains::cyclic}) {
    EXPECT_EQ(plan_of(mock("stripe=1MiB,count=4"), {{0, 100 * k_mib}}, 1, domains).strategy.domains, Domains::aligned);
    EXPECT_EQ(plan_of(mock("stripe=1PiB,count=65535"), {{0, 100 * k_mib}}, 3, domains).strategy.domains,
              domains == Domains::cyclic ? Domains::cyclic : Domains::aligned);
  }
  const Plan plan = plan_of(mock("stripe=1MiB,count=1"), {{0, 100 * k_mib}}, 4);
  EXPECT_EQ(plan.strategy.domains, Domains::aligned);
  EXPECT_EQ(plan.writers.size(), 4U);
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("domains aligned: all bytes are on one target")));
}

TEST(MakePlan, deals_by_itself_where_short_pieces_lie_on_several_targets) {
  Plan plan = plan_of(mock("stripe=1MiB,count=4"), {{0, 100 * k_mib}}, 4, Domains::automatic);
  EXPECT_EQ(plan.strategy.domains, Domains::target);
  EXPECT_THAT(plan.reasons, Contains(HasSubstr("the file lies on several targets")));
  for (const char* other : {"stripe=1MiB,count=1", "stripe=64KiB,count=4"}) {
    plan = plan_of(mock(other), {{0, 100 * k_mib}}, 4, Domains::automatic);
    EXPECT_EQ(plan.strategy.domains, Domains::aligned) << other;
    const auto said =
        Contains(HasSubstr("domains aligned, not target: stripes of 64 KiB are too short for a request each"));
    if (std::string_view(other).starts_with("stripe=64KiB"))
      EXPECT_THAT(plan.reasons, said);
    else
      EXPECT_THAT(plan.reasons, testing::Not(said));
  }
}

std::string random_mock(std::mt19937_64& random) {
  const auto number = [&random](int64_t most) {
    return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  std::string text;
  int64_t end = 0;
  const int64_t components = number(3);
  for (int64_t i = 0; i < components; ++i) {
    const int64_t stripe = number(3000), count = number(9);
    text += (i > 0 ? ";" : "") + ("stripe=" + std::to_string(stripe) + ",count=" + std::to_string(count) +
                                  ",targets=" + std::to_string(number(7)));
    if (number(3) == 1)
      text += ",object=" + std::to_string(stripe * number(3)) + ",objects=" + std::to_string(count * number(4));
    if (i + 1 < components)
      text += ",until=" + std::to_string(end += number(40'000));
  }
  return text;
}

std::vector<Extent> random_regions(std::mt19937_64& random) {
  std::vector<Extent> regions;
  auto at = static_cast<int64_t>(random() % 5000);
  for (size_t count = 1 + random() % 5; count > 0; --count) {
    const int64_t size = 1 + static_cast<int64_t>(random() % 30'000);
    regions.push_back({at, at + size});
    at += size + 1 + static_cast<int64_t>(random() % 20'000);
  }
  return regions;
}

class Dealt : public testing::TestWithParam<Domains> {};

TEST_P(Dealt, gives_every_byte_one_writer_and_every_stripe_no_two) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 400; turn += windrow_test::stride()) {
    const std::string text = random_mock(random);
    const StorageLayout layout = mock(text);
    const auto regions = random_regions(random);
    const int writers = 1 + static_cast<int>(random() % 17);
    const Plan plan = plan_of(layout, regions, writers, GetParam(), 4096 + static_cast<int64_t>(random() % 5000));
    SCOPED_TRACE(text + " writers " + std::to_string(writers));
    std::map<std::pair<int64_t, int64_t>, size_t> writer_of_stripe;
    std::map<int64_t, std::set<size_t>> writers_of_target;
    std::vector<Extent> all;
    for (size_t i = 0; i < plan.domains.size(); ++i) {
      int64_t before = 0;
      for (const Extent& region : regions)
        windows_of(plan, i).for_each_part(region, [&](Extent part) {
          ASSERT_GE(part.begin, before);
          before = part.end;
          all.push_back(part);
          for (int64_t at = part.begin; at < part.end; at = next_stripe(layout, at)) {
            const Stripe stripe = stripe_at(layout, at);
            const auto [place, fresh] = writer_of_stripe.try_emplace({stripe.bytes.begin, stripe.bytes.end}, i);
            EXPECT_EQ(place->second, i) << "the stripe at " << at << " has two writers";
            if (stripe.target != k_no_target)
              writers_of_target[stripe.target].insert(i);  // for objects that were not queried
          }
        });
    }
    std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    int64_t bytes = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      bytes += all[i].size();
      if (i > 0) {
        ASSERT_GE(all[i].begin, all[i - 1].end) << "a byte has two writers";
      }
    }
    int64_t want = 0;
    for (const Extent& region : regions)
      want += region.size();
    EXPECT_EQ(bytes, want);
    if (plan.strategy.domains != Domains::target)
      continue;
    for (const auto& [target, having] : writers_of_target)
      EXPECT_LE(static_cast<int64_t>(having.size()), plan.sharers);
    if (text.find("object") != std::string::npos)
      continue;
    if (plan.sharers * plan.deal->groups() == static_cast<int64_t>(plan.writers.size()) &&
        plan.deal->groups() == static_cast<int>(writers_of_target.size())) {
      std::map<size_t, int> targets_of_writer;
      for (const auto& [target, having] : writers_of_target)
        for (const size_t writer : having)
          ++targets_of_writer[writer];
      for (const auto& [writer, targets] : targets_of_writer)
        EXPECT_EQ(targets, 1);
    }
  }
}

TEST_P(Dealt, finds_the_window_of_each_offset) {
  std::mt19937_64 random(12);
  for (int turn = 0; turn < 200; turn += windrow_test::stride()) {
    const auto regions = random_regions(random);
    const Plan plan = plan_of(mock(random_mock(random)), regions, 2 + static_cast<int>(random() % 9), GetParam(), 4096);
    if (plan.deal == nullptr)
      continue;
    for (size_t i = 0; i < plan.domains.size(); ++i) {
      const Windows windows = windows_of(plan, i);
      for (int probe = 0; probe < 40; ++probe) {
        const auto offset =
            plan.domains[i].begin + static_cast<int64_t>(random() % static_cast<uint64_t>(plan.domains[i].size() + 2));
        const int64_t index = windows.index_of(offset);
        for (int64_t other = 0; other < windows.count(); ++other) {
          const std::vector<Extent> parts = parts_of(windows.window(other));
          if (parts.empty() || index == windows.count())
            continue;
          const bool behind = parts.back().end > offset,
                     later = parts.back().begin > parts_of(windows.window(index)).back().begin;
          ASSERT_EQ(behind, later || other == index);
        }
        const auto none_before = [&](int64_t at) { return std::max(at, offset); };
        ASSERT_EQ(windows.leap(0, none_before) < windows.count(), !windows.next_part(offset).empty());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Domains, Dealt, testing::Values(Domains::target, Domains::cyclic),
                         [](const auto& domains) { return std::string(name_of(domains.param)); });

// Bytes of a domain are known without a look at each of its cells.
TEST_P(Dealt, counts_its_bytes_in_any_extent) {
  std::mt19937_64 random(14);
  for (int turn = 0; turn < 300; turn += windrow_test::stride()) {
    const auto regions = random_regions(random);
    const Plan plan = plan_of(mock(random_mock(random)), regions, 2 + static_cast<int>(random() % 9), GetParam(), 4096);
    for (size_t i = 0; i < plan.domains.size(); ++i) {
      const Windows windows = windows_of(plan, i);
      const auto begin = static_cast<int64_t>(random() % 60'000);
      const Extent extent{begin, begin + static_cast<int64_t>(random() % 60'000)};
      int64_t bytes = 0;
      windows.for_each_part(extent, [&](Extent part) { bytes += part.size(); });
      ASSERT_EQ(windows.bytes_in(extent), bytes);
    }
  }
}

TEST(MakePlan, puts_as_many_short_stripes_into_a_window_as_fit) {
  const Plan plan = plan_of(mock("stripe=64KiB,count=8"), {{0, 64 * k_mib}}, 8);
  EXPECT_EQ(plan.window_bytes, k_mib);
  const Windows windows = windows_of(plan, 3);
  ASSERT_EQ(windows.count(), 8);
  EXPECT_EQ(windows.start, 3);
  int64_t stripe = 5 * 16 * 8 + 3, at = 0;  // of the file's sixth window
  windows.window(2).for_each_part([&](Extent part, int64_t place) {
    EXPECT_EQ(part, (Extent{stripe * (64 << 10), (stripe + 1) * (64 << 10)}));
    EXPECT_EQ(place, at);
    stripe += 8;
    at += 64 << 10;
  });
  EXPECT_EQ(at, plan.window_bytes);
  EXPECT_EQ(plan_of(mock("stripe=64KiB,count=8"), {{0, 8000 * k_mib}}, 8).window_bytes, 4 * k_mib)
      << "all that the buffer holds";
  EXPECT_EQ(plan_of(mock("stripe=512,count=8"), {{0, 8000 * k_mib}}, 8).window_bytes, 256 * 512)
      << "requests of a window are not without number";
  EXPECT_EQ(plan_of(mock("stripe=3MiB,count=8"), {{0, 8000 * k_mib}}, 8).window_bytes, 3 * k_mib);
  EXPECT_EQ(plan_of(mock("stripe=8MiB,count=8"), {{0, 8000 * k_mib}}, 8).window_bytes, 4 * k_mib)
      << "parts of a stripe";
}

// A lock of the previous sharer is not requested at the end, unless few ranks hold the bytes there.
TEST(MakePlan, lets_sharers_of_a_target_begin_where_their_stretches_do) {
  const auto starts = [](const Plan& plan) {
    std::vector<int64_t> all;
    for (size_t i = 0; i < plan.domains.size(); ++i)
      all.push_back(windows_of(plan, i).start);
    return all;
  };
  const StorageLayout layout = mock("stripe=1MiB,count=2");
  const Plan of_short = plan_of(layout, {{0, 64 * k_mib}}, 4),
             of_long = plan_of(layout, {{0, 64 * k_mib}}, 4, Domains::target, 4 * k_mib, k_mib);
  ASSERT_EQ(of_short.sharers, 2);
  const int64_t half = windows_of(of_short, 2).count() / 2;
  ASSERT_GT(half, 0);
  EXPECT_EQ(starts(of_short), (std::vector<int64_t>{0, 0, half, 0}));
  EXPECT_EQ(starts(of_long), (std::vector<int64_t>{0, 0, half, half}));
  EXPECT_EQ(starts(plan_of(layout, {{0, 64 * k_mib}}, 2)),
            (std::vector<int64_t>{0, windows_of(plan_of(layout, {{0, 64 * k_mib}}, 2), 1).count() / 2}))
      << "no sharers";
}

// What a file system may say, however odd, as long as check_layout() takes it: a plan that has every byte once, or
// aligned domains.
TEST(MakePlan, plans_by_any_layout_that_can_be) {
  std::mt19937_64 random(13);
  const auto below = [&random](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  for (int turn = 0; turn < 300; turn += windrow_test::stride()) {
    StorageLayout layout{.kind = LayoutKind::lustre, .components = {}};
    int64_t end = 0;
    for (int64_t left = 1 + below(4); left > 0; --left) {
      LayoutComponent component{.bytes = {end, left == 1 ? k_no_end : end + 1 + below(int64_t{1} << below(60))},
                                .stripe_bytes = 1 + below(int64_t{1} << below(62)),
                                .stripe_count = below(3) == 0 ? below(k_most_stripes + 1) : below(9),
                                .targets = {}};
      if (below(2) == 0)
        for (int64_t i = 0; i < component.stripe_count; ++i)
          component.targets.push_back(below(4) == 0 ? k_no_target : below(4) == 0 ? INT64_MAX - 1 : below(5));
      if (below(3) == 0 && component.stripe_count > 0 && component.stripe_bytes < int64_t{1} << 40) {
        component.object_bytes = component.stripe_bytes * (1 + below(int64_t{1} << below(20)));
        component.targets.clear();
        for (int64_t i = component.stripe_count * below(5); i > 0; --i)
          component.targets.push_back(below(4) == 0 ? k_no_target : below(9));
      }
      end = component.bytes.end;
      layout.components.push_back(std::move(component));
    }
    if (!check_layout(layout).ok())
      continue;
    const int64_t begin = below(int64_t{1} << below(61));
    const std::vector<Extent> regions{{begin, begin + 1 + below(int64_t{1} << below(61))}};
    const Plan plan =
        plan_of(layout, regions, 1 + static_cast<int>(below(40)), below(2) == 0 ? Domains::target : Domains::cyclic);
    for (int probe = 0; probe < 20; ++probe) {
      const int64_t offset = regions[0].begin + below(regions[0].size());
      int64_t having = 0;
      for (size_t i = 0; i < plan.domains.size(); ++i) {
        const Windows windows = windows_of(plan, i);
        const int64_t index = windows.index_of(offset);
        if (index < 0 || index >= windows.count())
          continue;
        for (const Extent& part : parts_of(windows.window(index)))
          having += part.begin <= offset && offset < part.end ? 1 : 0;
      }
      ASSERT_EQ(having, 1) << offset << " in " << layout_text(layout);
    }
  }
}

// Of rows, which one rank after the other holds, the writers of the targets begin with different ranks' ones.
TEST(MakePlan, lets_each_target_begin_elsewhere) {
  const Plan plan = plan_of(mock("stripe=1MiB,count=8"), {{0, 512 * k_mib}}, 8);
  std::set<int64_t> eighths;
  for (size_t i = 0; i < 8; ++i) {
    const Windows windows = windows_of(plan, i);
    eighths.insert(windows.window(0).bytes.begin / (64 * k_mib));
    // Every window with bytes is visited once, for any bytes between.
    std::vector<int64_t> found;
    const auto every_fifth = [](int64_t offset) { return (offset + 5 * k_mib - 1) / (5 * k_mib) * (5 * k_mib); };
    for (int64_t index = windows.leap(0, every_fifth); index < windows.count();
         index = windows.leap(index + 1, every_fifth))
      found.push_back(index);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    for (int64_t offset = 0; offset < 512 * k_mib; offset += 5 * k_mib) {
      const Extent part = windows.next_part(offset);
      EXPECT_TRUE(part.empty() || part.begin > offset ||
                  std::binary_search(found.begin(), found.end(), windows.index_of(offset)))
          << offset;
    }
  }
  EXPECT_EQ(eighths.size(), 8U);
}

// The size of the largest Lustre systems: nothing here is as long as the file has stripes.
TEST(MakePlan, deals_an_exabyte_to_100_000_writers) {
  const Plan plan = plan_of(mock("stripe=1MiB,count=2000"), {{3, int64_t{1} << 60}}, 100'000);
  EXPECT_EQ(plan.sharers, 50);
  EXPECT_EQ(plan.writers.size(), 100'000U);
  const Windows last = windows_of(plan, 99'999);
  EXPECT_GT(last.count(), int64_t{1} << 20);
  const std::vector<Extent> parts = parts_of(last.window(last.count() / 2));
  EXPECT_EQ(parts.size(), 4U);
  EXPECT_EQ(last.index_of(parts.front().begin), last.count() / 2);
  for (const Extent& part : parts)
    EXPECT_EQ(part.begin / k_mib % 2000, 1999);
}

}  // namespace
}  // namespace windrow
