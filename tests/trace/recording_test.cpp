// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recording.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace windrow {
namespace {

int64_t sum_of(const RequestSizes& sizes) {
  return std::accumulate(sizes.counts().begin(), sizes.counts().end(), int64_t{0});
}

TEST(RequestSizes, are_counted_by_powers_of_two) {
  RequestSizes sizes;
  for (const int64_t bytes : {0, 1, 2, 3, 4095, 4096, 8191})
    sizes.add(1, bytes);
  sizes.add(3, 3 * 4096);
  sizes.add(1, INT64_MAX);
  sizes.add(0, 4096);
  EXPECT_EQ(sizes.counts()[0], 2);
  EXPECT_EQ(sizes.counts()[1], 2);
  EXPECT_EQ(sizes.counts()[11], 1);
  EXPECT_EQ(sizes.counts()[12], 5);
  EXPECT_EQ(sizes.counts()[62], 1);
  EXPECT_EQ(sum_of(sizes), 11);
}

TEST(TargetBytes, keep_every_byte_of_more_targets_than_there_is_room_for) {
  TargetBytes targets;
  constexpr int64_t k_targets = 1000;
  for (int64_t i = 0; i < 2 * k_targets; ++i)
    targets.add(i % k_targets, i + 1);
  targets.add(5, 0);
  int64_t sum = 0;
  for (const TargetBytes::Part& part : targets.parts())
    sum += part.bytes;
  EXPECT_EQ(sum, k_targets * (2 * k_targets + 1));
  EXPECT_EQ(targets.parts().size(), TargetBytes::k_most + 1);
  EXPECT_EQ(targets.parts().back().target, TargetBytes::k_others);
  EXPECT_EQ(targets.parts()[3].bytes, 4 + k_targets + 4);
}

TEST(Timeline, keeps_all_seconds_when_neighbours_become_one) {
  Timeline timeline;
  constexpr int k_added = 1000;
  for (int i = 0; i < k_added; ++i)
    timeline.add({Stage::storage, i * 1.0, i + 0.5, 0.25});
  double busy = 0;
  for (const Interval& each : timeline.intervals()) {
    EXPECT_LT(each.begin, each.end);
    busy += each.busy;
  }
  EXPECT_EQ(timeline.left_out(), 0);
  EXPECT_DOUBLE_EQ(busy, k_added * 0.25);
  EXPECT_EQ(timeline.intervals().front().begin, 0);
  EXPECT_EQ(timeline.intervals().back().end, k_added - 0.5);
}

TEST(Timeline, counts_what_finds_no_room) {
  Timeline timeline;
  for (int i = 0; i < 100; ++i)
    timeline.add({i % 2 == 0 ? Stage::storage : Stage::exchange, i * 1.0, i + 0.5, 0.5});
  EXPECT_EQ(static_cast<int64_t>(timeline.intervals().size()) + timeline.left_out(), 100);
  EXPECT_GT(timeline.left_out(), 0);
}

TEST(Timeline, has_what_a_timer_took_without_what_was_within_it) {
  Trace trace;
  Timeline timeline;
  trace.timeline = &timeline;
  {
    const StageTimer outer(trace, Stage::exchange);
    const StageTimer inner(trace, Stage::storage);
    const double begin = seconds_now();
    while (seconds_now() < begin + 1e-3) {}
  }
  ASSERT_EQ(timeline.intervals().size(), 2);
  const Interval inner = timeline.intervals()[0], outer = timeline.intervals()[1];
  EXPECT_EQ(inner.stage, Stage::storage);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_GE(outer.end, inner.end);
  EXPECT_DOUBLE_EQ(outer.busy, trace.seconds[static_cast<size_t>(Stage::exchange)]);
  EXPECT_NEAR(outer.busy + inner.busy, outer.end - outer.begin, 1e-9);
}

}  // namespace
}  // namespace windrow
