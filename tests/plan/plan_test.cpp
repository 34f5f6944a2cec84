// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/codec.hpp"

namespace windrow {
namespace {

using testing::HasSubstr;

constexpr int64_t k_mib = int64_t{1} << 20;

Strategy strategy_of(StrategyRequest request) {
  return parse_strategy(request).value();
}

// 131 072 ranks on 1024 hosts write an array of 8 TB in pieces of `piece` bytes.
Pattern large(int64_t piece) {
  const int64_t bytes = 8'000'000'000'000;
  const bool is_long = piece >= PlanLimits{}.direct_bytes;
  return {.reading = false,
          .bytes = bytes,
          .pieces = bytes / piece,
          .long_bytes = is_long ? bytes : 0,
          .long_pieces = is_long ? bytes / piece : 0,
          .ranks_with_data = 131'072,
          .largest_rank_bytes = bytes / 131'072,
          .owned_flags = false,
          .regions = {{2048, 2048 + bytes}}};
}
Topology thousand_hosts() {
  Topology topology{.ranks = 131'072, .host_roots = {}};
  for (int host = 0; host < 1024; ++host)
    topology.host_roots.push_back(host * 128);
  return topology;
}

TEST(MakePlan, rakes_short_pieces_with_one_writer_a_host) {
  const Plan plan = make_plan(Strategy{}, large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(plan.strategy.domains, Domains::aligned);
  EXPECT_EQ(plan.strategy.access, Access::contiguous);
  EXPECT_EQ(plan.writers.size(), 1024U);
  EXPECT_EQ(plan.domains.size(), 1024U);
  EXPECT_EQ(plan.writers.back(), 130'944);
  EXPECT_FALSE(plan.reasons.empty());
}

// For several hosts: each window is in memory in addition to the messages that it comes from.
TEST(MakePlan, keeps_windows_and_their_messages_within_the_buffers) {
  PlanLimits limits;
  for (const int64_t buffers : {2, 3, 4, 16, 64})
    for (const int64_t buffer : {int64_t{4096}, int64_t{64} << 10, int64_t{4} << 20, int64_t{1} << 30}) {
      limits.buffers = buffers;
      limits.buffer_bytes = buffer;
      const Plan plan = make_plan(Strategy{}, large(512), thousand_hosts(), limits).value();
      EXPECT_LE(2 * plan.slots * plan.window_bytes, std::max(buffers * buffer, int64_t{4} * 4096))
          << buffers << " of " << buffer;
      EXPECT_GE(plan.slots, buffer == 4096 ? 1 : 2);
      EXPECT_EQ(plan.slots, plan.slots_of_messages);
      EXPECT_LE(3 * plan.message_bytes, std::max(buffers * buffer / 10, 3 * (int64_t{64} << 10)));
      EXPECT_LE(plan.read_before_bytes, std::max<int64_t>(4096, buffers * buffer / 64));
      EXPECT_EQ(plan.window_bytes, plan.window_bytes < buffer && (buffers < 4 || buffer > (int64_t{4} << 20))
                                       ? plan.window_bytes
                                       : buffer);
    }
}

// Of 8 ranks on one host.
Pattern of_bytes(int64_t bytes) {
  return {.bytes = bytes,
          .pieces = bytes / 512,
          .entries = 8,
          .ranks_with_data = 8,
          .largest_rank_bytes = bytes / 8,
          .regions = {{0, bytes}}};
}

TEST(MakePlan, has_more_and_shorter_windows_of_long_domains_in_the_same_memory) {
  PlanLimits limits;
  limits.buffer_bytes = 4 * k_mib;
  limits.short_window = k_mib;
  limits.writers = 1;
  for (const int64_t buffers : {2, 4}) {
    limits.buffers = buffers;
    for (const bool reading : {false, true}) {
      Pattern pattern = of_bytes(64 * k_mib);
      pattern.reading = reading;
      const Strategy strategy = strategy_of({.domains = "even", .access = "contiguous"});
      const Plan plan = make_plan(strategy, pattern, Topology{.ranks = 8}, limits).value();
      ASSERT_EQ(plan.writers.size(), 1U);
      EXPECT_EQ(plan.window_bytes, k_mib);
      EXPECT_EQ(plan.slots, 4 * buffers);
      EXPECT_LE(2 * plan.slots_of_messages * plan.window_bytes, buffers * 4 * k_mib);
      pattern = of_bytes(64 * k_mib - 512);
      pattern.reading = reading;
      const Plan shorter = make_plan(strategy, pattern, Topology{.ranks = 8}, limits).value();
      EXPECT_EQ(shorter.window_bytes, 4 * k_mib);
      EXPECT_EQ(shorter.slots, buffers);
    }
  }
}

TEST(MakePlan, has_no_short_windows_where_they_are_not_wanted) {
  PlanLimits limits;
  limits.buffer_bytes = 4 * k_mib;
  limits.buffers = 2;
  limits.writers = 1;
  const Strategy strategy = strategy_of({.domains = "even", .access = "contiguous"});
  EXPECT_EQ(make_plan(strategy, of_bytes(512 * k_mib), Topology{.ranks = 8}, limits).value().window_bytes, 4 * k_mib)
      << "nobody said that requests may be short";
  limits.short_window = k_mib;
  EXPECT_EQ(make_plan(strategy, of_bytes(512 * k_mib), Topology{.ranks = 8}, limits).value().window_bytes, k_mib);
  EXPECT_EQ(make_plan(strategy, large(512), thousand_hosts(), limits).value().window_bytes, 2 * k_mib)
      << "messages come from other hosts";
  limits.window_unit = 3 * k_mib;
  EXPECT_EQ(make_plan(strategy, of_bytes(512 * k_mib), Topology{.ranks = 8}, limits).value().window_bytes, 3 * k_mib)
      << "whole chunks";
  limits.window_unit = 0;
  limits.buffer_bytes = k_mib / 2;
  const Plan small = make_plan(strategy, of_bytes(512 * k_mib), Topology{.ranks = 8}, limits).value();
  EXPECT_EQ(small.window_bytes, k_mib / 2);
  EXPECT_EQ(small.slots, 2);
}

// A team's root may be a writer too: then it holds windows of both, each twice, and two messages.
TEST(MakePlan, makes_windows_smaller_where_there_are_two_stages) {
  PlanLimits limits;
  for (const int64_t buffers : {2, 4, 16, 64})
    for (const int64_t buffer : {int64_t{64} << 10, int64_t{16} << 20}) {
      limits.buffers = buffers;
      limits.buffer_bytes = buffer;
      const int64_t most = buffers * buffer;
      const Plan one =
          make_plan(strategy_of({.gather = "team(16)", .domains = "none"}), large(512), thousand_hosts(), limits)
              .value();
      EXPECT_EQ(one.window_bytes, buffers < 4 ? buffer / 2 : buffer);
      const Plan two =
          make_plan(strategy_of({.gather = "team(16)", .domains = "even"}), large(512), thousand_hosts(), limits)
              .value();
      const int64_t of_root = 4 * two.slots * two.window_bytes;
      EXPECT_LE(of_root, most) << buffers << " of " << buffer;
      EXPECT_GE(two.slots, 2);
      EXPECT_EQ(two.window_bytes % 4096, 0);
    }
}

// 2.25 MiB of four hosts: parts of whole MiB would be 1, 1, 0.25 and nothing.
TEST(MakePlan, cuts_small_domains_at_small_units_where_it_may) {
  const int64_t bytes = 9 * (int64_t{1} << 18);
  const Pattern pattern{.reading = false,
                        .bytes = bytes,
                        .pieces = bytes / 512,
                        .ranks_with_data = 8,
                        .largest_rank_bytes = bytes / 8,
                        .regions = {{2048, 2048 + bytes}}};
  const Topology topology{.ranks = 8, .host_roots = {0, 2, 4, 6}};
  PlanLimits limits;
  limits.unit = int64_t{1} << 20;
  limits.writers = 4;
  const auto longest = [&] {
    const Plan plan = make_plan(strategy_of({.domains = "aligned"}), pattern, topology, limits).value();
    int64_t most = 0;
    for (const Extent& domain : plan.domains)
      most = std::max(most, domain.size());
    return most;
  };
  EXPECT_EQ(longest(), int64_t{1} << 20);
  limits.least_unit = int64_t{1} << 16;
  EXPECT_LE(longest(), bytes / 4 + (int64_t{1} << 16));
  limits.least_unit = int64_t{1} << 19;
  EXPECT_LE(longest(), (int64_t{1} << 20) - 2048);
  limits.least_unit = 3 << 18;  // no part of a unit: blocks would have two writers
  EXPECT_EQ(longest(), int64_t{1} << 20);
}

TEST(MakePlan, leaves_out_a_stage_that_has_nothing_to_do) {
  const Plan alone = make_plan(strategy_of({.gather = "team(1)"}), large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(alone.strategy.gather, Gather::none);
  EXPECT_FALSE(alone.gathers());
  const Plan all = make_plan(strategy_of({.gather = "team(1000000)"}), large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(all.team, 131'072);
  EXPECT_FALSE(all.has_domains());
  EXPECT_THAT(all.reasons, testing::Contains(HasSubstr("one team")));
  const Plan asked =
      make_plan(strategy_of({.gather = "team(1000000)", .domains = "even"}), large(512), thousand_hosts(), {}).value();
  EXPECT_TRUE(asked.gathers() && asked.has_domains());
  const Plan halves = make_plan(strategy_of({.gather = "team(65536)"}), large(512), thousand_hosts(), {}).value();
  EXPECT_TRUE(halves.gathers() && halves.has_domains());
}

TEST(MakePlan, leaves_long_pieces_to_their_holders) {
  const Plan plan = make_plan(Strategy{}, large(80'000'000), thousand_hosts(), {}).value();
  EXPECT_EQ(plan.strategy.domains, Domains::none);
  EXPECT_EQ(plan.strategy.access, Access::list);
  EXPECT_TRUE(plan.writers.empty());
}

TEST(MakePlan, leaves_rows_to_their_holders) {
  Pattern rows = large(100'000);
  rows.pieces = rows.entries = 131'072;
  rows.bytes = rows.pieces * 100'000;
  rows.regions = {{0, rows.bytes}};
  PlanLimits limits;
  limits.direct_bytes = 1 << 20;
  const Plan plan = make_plan(Strategy{}, rows, thousand_hosts(), limits).value();
  EXPECT_EQ(plan.strategy.domains, Domains::none);
  EXPECT_EQ(plan.strategy.access, Access::list);
  rows.entries = 131'071;  // one of them is in two pieces: to be aggregated with the others
  EXPECT_EQ(make_plan(Strategy{}, rows, thousand_hosts(), limits).value().strategy.domains, Domains::aligned);
}

PlanLimits of_four_targets() {
  PlanLimits limits;
  limits.layout = std::make_shared<const StorageLayout>(StorageLayout{
      .kind = LayoutKind::mock, .components = {{.stripe_bytes = 1 << 20, .stripe_count = 4, .targets = {0, 1, 2, 3}}}});
  limits.unit = 1 << 20;
  return limits;
}

TEST(MakePlan, takes_rows_to_their_targets_where_hosts_meet) {
  const auto topology_of_hosts = [](int hosts) {
    Topology topology{.ranks = 8};
    for (int host = 0; host < hosts; ++host)
      topology.host_roots.push_back(host * 8 / hosts);
    return topology;
  };
  Pattern rows;
  rows.ranks_with_data = 8;
  rows.pieces = rows.entries = 8;
  rows.bytes = int64_t{33} << 20;
  rows.regions = {{0, rows.bytes}};
  const PlanLimits limits = of_four_targets();
  for (const bool reading : {false, true}) {
    rows.reading = reading;
    const auto domains_with = [&](int hosts) {
      return make_plan(Strategy{}, rows, topology_of_hosts(hosts), limits).value().strategy.domains;
    };
    EXPECT_EQ(domains_with(8), Domains::target);
    EXPECT_EQ(domains_with(4), Domains::target);
    EXPECT_EQ(domains_with(2), Domains::none);  // fewer than targets
    EXPECT_EQ(domains_with(1), Domains::none);
    PlanLimits asked = limits;
    asked.direct_asked = true;
    EXPECT_EQ(make_plan(Strategy{}, rows, topology_of_hosts(8), asked).value().strategy.domains, Domains::none);
    EXPECT_EQ(make_plan(strategy_of({.access = "list"}), rows, topology_of_hosts(8), limits).value().strategy.domains,
              Domains::none);
    PlanLimits few = limits;
    few.writers = 3;  // of four targets
    EXPECT_EQ(make_plan(Strategy{}, rows, topology_of_hosts(8), few).value().strategy.domains, Domains::none);
    EXPECT_EQ(make_plan(strategy_of({.gather = "host"}), rows, topology_of_hosts(4), limits).value().strategy.domains,
              Domains::none);
    Pattern longer = rows;
    longer.bytes *= 4;  // each goes round the targets more than four times
    longer.regions = {{0, longer.bytes}};
    EXPECT_EQ(make_plan(Strategy{}, longer, topology_of_hosts(8), limits).value().strategy.domains, Domains::none);
  }
}

TEST(MakePlan, gives_each_target_a_writer_where_there_are_few_stripes) {
  Pattern pattern = large(512);
  pattern.bytes = int64_t{9} << 18;  // 2.25 MiB, on three of four targets
  pattern.regions = {{0, pattern.bytes}};
  const PlanLimits limits = of_four_targets();
  const Plan plan = make_plan(Strategy{}, pattern, thousand_hosts(), limits).value();
  EXPECT_EQ(plan.strategy.domains, Domains::target);
  EXPECT_EQ(plan.writers.size(), 4);
}

TEST(MakePlan, reads_over_small_holes) {
  Pattern sparse = large(512);
  sparse.regions = {{0, 2 * sparse.bytes}};
  EXPECT_EQ(make_plan(Strategy{}, sparse, thousand_hosts(), {}).value().strategy.access, Access::sieve);
  PlanLimits limits;
  limits.hole_bytes = 511;
  EXPECT_EQ(make_plan(Strategy{}, sparse, thousand_hosts(), limits).value().strategy.access, Access::contiguous);
  limits.hole_bytes = 512;
  EXPECT_EQ(make_plan(Strategy{}, sparse, thousand_hosts(), limits).value().strategy.access, Access::sieve);
  sparse.regions = {{0, sparse.bytes + 1000}};
  sparse.pieces =
      sparse.bytes / 513;  // longer than a hole may be: to write they are worth a request each, to read they are not
  EXPECT_EQ(make_plan(Strategy{}, sparse, thousand_hosts(), limits).value().strategy.access, Access::contiguous);
  sparse.reading = true;
  EXPECT_EQ(make_plan(Strategy{}, sparse, thousand_hosts(), limits).value().strategy.access, Access::sieve);
  EXPECT_EQ(make_plan(Strategy{}, large(512), thousand_hosts(), {}).value().strategy.access, Access::contiguous);
}

TEST(MakePlan, does_not_sieve_writes_where_it_may_not) {
  Pattern sparse = large(512);
  sparse.regions = {{0, 2 * sparse.bytes}};
  PlanLimits limits;
  limits.may_sieve_writes = false;
  const Plan plan = make_plan(Strategy{}, sparse, thousand_hosts(), limits).value();
  EXPECT_EQ(plan.strategy.access, Access::contiguous);
  EXPECT_THAT(plan.reasons, testing::Contains(testing::HasSubstr("the file system has no locks")));
  EXPECT_EQ(make_plan(strategy_of({.access = "sieve"}), sparse, thousand_hosts(), limits).value().strategy.access,
            Access::sieve);
  sparse.reading = true;
  EXPECT_EQ(make_plan(Strategy{}, sparse, thousand_hosts(), limits).value().strategy.access, Access::sieve);
}

TEST(MakePlan, asks_for_long_pieces_in_memory) {
  Pattern reading = large(65536);
  reading.reading = reading.in_memory = true;
  const Topology one_host{.ranks = 8, .host_roots = {0}};
  const Plan plan = make_plan(Strategy{}, reading, one_host, {}).value();
  EXPECT_EQ(plan.strategy.access, Access::list);
  EXPECT_FALSE(plan.has_domains());
  EXPECT_THAT(describe_text(plan), HasSubstr("pieces are 65536 bytes long on average, so each rank reads its own"));
  EXPECT_EQ(make_plan(Strategy{}, reading, one_host, {.direct_read_bytes = 65537}).value().strategy.access,
            Access::mapped);
  reading.swapped = true;
  EXPECT_EQ(make_plan(Strategy{}, reading, one_host, {}).value().strategy.access, Access::mapped)
      << "one copy, which swaps";
}

TEST(MakePlan, copies_what_is_in_memory_out_of_it) {
  Pattern reading = large(512);
  reading.reading = reading.in_memory = true;
  const Plan plan = make_plan(Strategy{}, reading, Topology{.ranks = 8, .host_roots = {0}}, {}).value();
  EXPECT_EQ(plan.strategy.access, Access::mapped);
  EXPECT_FALSE(plan.has_domains());
  EXPECT_EQ(make_plan(strategy_of({.preset = "two-phase"}), reading, thousand_hosts(), {}).value().strategy.access,
            Access::contiguous);
  EXPECT_EQ(make_plan(strategy_of({.access = "mapped"}), large(512), thousand_hosts(), {}).value().strategy.access,
            Access::contiguous);
}

TEST(MakePlan, maps_short_pieces_however_they_lie) {
  const Topology one_host{.ranks = 8, .host_roots = {0}};
  for (const int64_t region_bytes : {1 << 20, 2 << 20})  // all of it, or half with holes between
    for (const int64_t piece : {512, 4096, 16384}) {
      const Pattern reading{.reading = true,
                            .bytes = 1 << 20,
                            .pieces = (1 << 20) / piece,
                            .entries = 8,
                            .ranks_with_data = 8,
                            .largest_rank_bytes = 1 << 17,
                            .in_memory = true,
                            .regions = {{0, region_bytes}}};
      const Plan plan = make_plan(Strategy{}, reading, one_host, {.direct_read_bytes = 16384}).value();
      EXPECT_EQ(plan.strategy.access, piece < 16384 ? Access::mapped : Access::list) << piece;
      EXPECT_FALSE(plan.has_domains());
    }
}

TEST(MakePlan, lets_long_pieces_go_their_own_way_beside_raked_ones) {
  Pattern both = large(512);
  both.long_pieces = 100'000;
  both.long_bytes = both.bytes / 2;
  const Plan plan = make_plan(Strategy{}, both, thousand_hosts(), {}).value();
  EXPECT_EQ(plan.strategy.domains, Domains::aligned);
  EXPECT_EQ(plan.direct_bytes, PlanLimits{}.direct_bytes);
  EXPECT_FALSE(plan.whole);  // the rows have holes where the long pieces go
  EXPECT_THAT(describe_text(plan), HasSubstr("100000 pieces of at least 65536 bytes"));
  // A few long ones are aggregated with the others; data sieving needs exclusive access to the bytes between.
  both.long_bytes = both.bytes / 5;
  EXPECT_EQ(make_plan(Strategy{}, both, thousand_hosts(), {}).value().direct_bytes, 0);
  EXPECT_TRUE(make_plan(Strategy{}, both, thousand_hosts(), {}).value().whole);
  both.long_bytes = both.bytes / 2;
  EXPECT_EQ(make_plan(strategy_of({.access = "sieve"}), both, thousand_hosts(), {}).value().direct_bytes, 0);
  EXPECT_EQ(make_plan(strategy_of({.domains = "even"}), both, thousand_hosts(), {}).value().direct_bytes, 0);
}

TEST(MakePlan, may_read_shorter_pieces_directly_than_it_writes) {
  PlanLimits limits;
  limits.direct_bytes = 1 << 20;
  limits.direct_read_bytes = 16 << 10;
  Pattern pattern = large(20'000);
  pattern.long_bytes = pattern.long_pieces = 0;
  EXPECT_EQ(make_plan(Strategy{}, pattern, thousand_hosts(), limits).value().strategy.domains, Domains::aligned);
  pattern.reading = true;
  EXPECT_EQ(make_plan(Strategy{}, pattern, thousand_hosts(), limits).value().strategy.domains, Domains::none);
}

TEST(MakePlan, teams_are_consecutive_and_the_last_may_be_smaller) {
  const Plan plan = make_plan(strategy_of({.preset = "scorpio"}), large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(plan.team, 16);
  EXPECT_EQ(team_root(plan, 0, 0), 0);
  EXPECT_EQ(team_root(plan, 15, 0), 0);
  EXPECT_EQ(team_root(plan, 16, 0), 16);
  EXPECT_EQ(team_root(plan, 99'999, 0), 99'984);
  Pattern reading = large(512);
  reading.reading = true;
  EXPECT_EQ(make_plan(strategy_of({.preset = "scorpio"}), reading, thousand_hosts(), {}).value().team, 1024);
}

// SCORPIO, section III: the write by I/O groups is collective among their roots.
TEST(MakePlan, short_pieces_of_teams_go_through_two_phases_among_the_roots) {
  const Plan plan = make_plan(strategy_of({.preset = "scorpio"}), large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(plan.strategy.domains, Domains::aligned);
  EXPECT_EQ(plan.writers.size(), 1024u) << "one per host";
  for (const int writer : plan.writers)
    EXPECT_EQ(writer % 16, 0);
  EXPECT_EQ(make_plan(strategy_of({.gather = "team(16)"}), large(512), thousand_hosts(), {}).value().strategy.domains,
            Domains::aligned);
  EXPECT_EQ(make_plan(strategy_of({.gather = "team(200)"}), large(512), thousand_hosts(), {}).value().writers.size(),
            656u)
      << "no more than roots";
  EXPECT_EQ(make_plan(strategy_of({.gather = "team(16)", .domains = "none"}), large(512), thousand_hosts(), {})
                .value()
                .strategy.domains,
            Domains::none);
}

// Rows of consecutive ranks are one piece of their root: 16 of 8 KiB are enough for a request, 16 of 512 bytes are not.
TEST(MakePlan, rows_of_teams_go_from_each_root) {
  Pattern rows = large(8192);
  rows.entries = rows.pieces;
  EXPECT_EQ(make_plan(strategy_of({.gather = "team(16)"}), rows, thousand_hosts(), {}).value().strategy.domains,
            Domains::none);
  EXPECT_EQ(make_plan(Strategy{}, rows, thousand_hosts(), {}).value().strategy.domains, Domains::aligned)
      << "a rank's alone are short";
  rows = large(512);
  rows.entries = rows.pieces;
  EXPECT_EQ(make_plan(strategy_of({.gather = "team(16)"}), rows, thousand_hosts(), {}).value().strategy.domains,
            Domains::aligned);
}

TEST(MakePlan, a_team_is_never_larger_than_all_ranks) {
  const Plan plan =
      make_plan(strategy_of({.gather = "team(50)"}), large(512), {.ranks = 7, .host_roots = {0}}, {}).value();
  EXPECT_EQ(plan.team, 7);
}

TEST(MakePlan, hosts_gather_at_their_lowest_rank) {
  const Plan plan = make_plan(strategy_of({.gather = "host"}), large(512), thousand_hosts(), {}).value();
  EXPECT_TRUE(plan.gathers());
  EXPECT_EQ(team_root(plan, 1234, 1200), 1200);
}

TEST(MakePlan, keeps_to_the_number_of_writers_asked_for) {
  PlanLimits limits;
  limits.writers = 37;
  const Plan plan = make_plan(strategy_of({.domains = "even"}), large(512), thousand_hosts(), limits).value();
  EXPECT_EQ(plan.writers.size(), 37U);
}

TEST(MakePlan, decides_every_axis_and_says_so) {
  const Plan plan = make_plan(Strategy{}, large(512), thousand_hosts(), {}).value();
  EXPECT_NE(plan.strategy.owner, Owner::automatic);
  EXPECT_NE(plan.strategy.gather, Gather::automatic);
  EXPECT_NE(plan.strategy.domains, Domains::automatic);
  EXPECT_NE(plan.strategy.access, Access::automatic);
  EXPECT_NE(plan.strategy.files, Files::automatic);
  const std::string text = describe_text(plan);
  EXPECT_THAT(text, HasSubstr("aligned, 1024 writers"));
  EXPECT_THAT(text, HasSubstr("because"));
}

// Only measurement says whether to compress, and nothing does within a host.
TEST(MakePlan, leaves_the_codec_open_between_hosts) {
  const Plan several = make_plan(Strategy{}, large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(several.strategy.codec, Codec::automatic);
  EXPECT_THAT(describe_text(several), HasSubstr("between 1024 hosts"));
  const Topology one{.ranks = 8, .host_roots = {0}};
  EXPECT_EQ(make_plan(strategy_of({.domains = "even"}), large(512), one, {}).value().strategy.codec, Codec::off);
  const Plan direct = make_plan(strategy_of({.domains = "none"}), large(512), thousand_hosts(), {}).value();
  EXPECT_EQ(direct.strategy.codec, Codec::off) << "nothing goes from rank to rank";
}

TEST(MakePlan, what_all_ranks_read_may_be_compressed_between_hosts) {
  Pattern same = large(512);
  same.reading = same.uniform = true;
  const Plan open = make_plan(Strategy{}, same, thousand_hosts(), {}).value();
  EXPECT_TRUE(open.broadcast);
  EXPECT_EQ(open.strategy.codec, Codec::automatic);
  EXPECT_THAT(open.reasons, Contains(HasSubstr("codec auto: between")));
  EXPECT_EQ(make_plan(strategy_of({.codec = "off"}), same, thousand_hosts(), {}).value().strategy.codec, Codec::off);
  for (const Compressor* compressor : compressors()) {
    const std::string asked = std::string(compressor->name()) + (compressor->shuffles() ? "+shuffle" : "");
    const Plan plan = make_plan(strategy_of({.codec = asked}), same, thousand_hosts(), {}).value();
    EXPECT_TRUE(plan.broadcast);
    EXPECT_EQ(codec_text(plan.strategy), asked);
  }
}

TEST(MakePlan, an_asked_codec_is_left_away_within_a_host_and_says_so) {
  for (const Compressor* compressor : compressors()) {
    const std::string codec = std::string(compressor->name()) + (compressor->shuffles() ? "+shuffle" : "");
    const Strategy asked = strategy_of({.domains = "even", .codec = codec});
    const Plan between = make_plan(asked, large(512), thousand_hosts(), {}).value();
    EXPECT_EQ(codec_text(between.strategy), codec);
    const Plan within = make_plan(asked, large(512), {.ranks = 8, .host_roots = {0}}, {}).value();
    EXPECT_EQ(codec_text(within.strategy), "off");
    EXPECT_THAT(describe_text(within), HasSubstr("one host"));
  }
}

TEST(MakePlan, of_nothing_is_a_plan_too) {
  EXPECT_TRUE(make_plan(Strategy{}, Pattern{}, {.ranks = 5, .host_roots = {0}}, {}).ok());
}

TEST(Windows, lie_on_a_grid_from_the_files_start) {
  const Windows windows{.domain = {5000, 20'000}, .bytes = 4096};
  ASSERT_EQ(windows.count(), 4);
  EXPECT_EQ(windows.window(0).bytes, (Extent{5000, 8192}));
  EXPECT_EQ(windows.window(1).bytes, (Extent{8192, 12'288}));
  EXPECT_EQ(windows.window(3).bytes, (Extent{16'384, 20'000}));
  EXPECT_EQ(windows.index_of(8191), 0);
  EXPECT_EQ(windows.index_of(16'384), 3);
}

TEST(Windows, cover_a_domain_beyond_4_gib_once) {
  const Windows windows{.domain = {(int64_t{5} << 32) + 7, (int64_t{5} << 32) + 100'000'003}, .bytes = 16 << 20};
  int64_t at = windows.domain.begin;
  for (int64_t i = 0; i < windows.count(); ++i) {
    EXPECT_EQ(windows.window(i).bytes.begin, at);
    EXPECT_EQ(windows.index_of(at), i);
    at = windows.window(i).bytes.end;
  }
  EXPECT_EQ(at, windows.domain.end);
}

Plan irregular(const Strategy& strategy, int64_t points, int64_t load, bool flags, double link_seconds) {
  const int64_t bytes = points * load * 4;
  Topology topology{.ranks = 8, .host_roots = {0, 2, 4, 6}, .link_seconds = link_seconds};
  if (link_seconds == 0)
    topology.host_roots = {0};
  const Pattern pattern{.reading = false,
                        .bytes = bytes,
                        .pieces = points / 2,
                        .ranks_with_data = 8,
                        .largest_rank_bytes = bytes / 8,
                        .owned_flags = flags,
                        .replicas = true,
                        .points = points,
                        .load = load,
                        .regions = {{0, bytes}}};
  return make_plan(strategy, pattern, topology, {}).value();
}

// Figure 7 of the paper, with the names of its networks.
TEST(MakePlan, goes_down_the_tree_of_bips3d) {
  const double fast_ethernet = 1 / 12.5e6, myrinet = 1 / 250e6;
  const auto is_two_phase = [](int64_t points, int64_t load, double link) {
    const Plan plan = irregular(strategy_of({.preset = "bips3d-tree"}), points, load, true, link);
    EXPECT_EQ(plan.strategy.owner, Owner::idg);
    EXPECT_EQ(plan.strategy.access, plan.strategy.domains == Domains::even ? Access::contiguous : Access::list);
    return plan.strategy.domains == Domains::even;
  };
  for (const double fast : {myrinet, 0.0}) {
    EXPECT_TRUE(is_two_phase(47'219, 89, fast));
    EXPECT_FALSE(is_two_phase(47'219, 90, fast));
    EXPECT_TRUE(is_two_phase(73'260, 49, fast));
    EXPECT_FALSE(is_two_phase(73'260, 50, fast));
  }
  EXPECT_FALSE(is_two_phase(47'219, 1, fast_ethernet));
  EXPECT_FALSE(is_two_phase(289'650, 1, fast_ethernet));
  const Plan asked = irregular(strategy_of({.preset = "bips3d-tree", .domains = "aligned"}), 47'219, 500, true, 0);
  EXPECT_EQ(asked.strategy.domains, Domains::aligned);
}

TEST(MakePlan, says_who_owns_points_that_several_ranks_hold) {
  const Plan automatic = irregular(Strategy{}, 1000, 1, false, 0);
  EXPECT_EQ(automatic.strategy.owner, Owner::balanced);
  EXPECT_THAT(automatic.reasons, testing::Contains(HasSubstr("owner balanced")));
  EXPECT_EQ(irregular(Strategy{}, 1000, 1, true, 0).strategy.owner, Owner::partitioner);
  const Plan idg = irregular(strategy_of({.preset = "idg"}), 1000, 1, false, 0);
  EXPECT_EQ(idg.strategy.owner, Owner::first);
  EXPECT_THAT(idg.reasons, testing::Contains(HasSubstr("owner=idg needs ownership flags")));
  EXPECT_EQ(irregular(strategy_of({.preset = "idg"}), 1000, 1, true, 0).strategy.owner, Owner::idg);
}

}  // namespace
}  // namespace windrow
