// SPDX-License-Identifier: BSD-3-Clause
#include "plan/domains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "layout/parse.hpp"

namespace windrow {
namespace {

using testing::ElementsAre;

int64_t bytes_within(const std::vector<Extent>& regions, Extent part) {
  int64_t bytes = 0;
  for (const Extent& region : regions)
    bytes += intersect(region, part).size();
  return bytes;
}

// Ascending, without gaps, from the first byte of the regions to the last.
void expect_partition(const std::vector<Extent>& regions, const std::vector<Extent>& parts) {
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts.front().begin, regions.front().begin);
  EXPECT_EQ(parts.back().end, regions.back().end);
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_LE(parts[i].begin, parts[i].end);
    if (i > 0) {
      EXPECT_EQ(parts[i].begin, parts[i - 1].end);
    }
  }
}

std::vector<Extent> random_regions(std::mt19937_64& random) {
  std::vector<Extent> regions;
  int64_t at = static_cast<int64_t>(random() % 5000);
  for (size_t count = 1 + random() % 6; count > 0; --count) {
    const int64_t size = 1 + static_cast<int64_t>(random() % 100'000);
    regions.push_back({at, at + size});
    at += size + 1 + static_cast<int64_t>(random() % 1'000'000);
  }
  return regions;
}

TEST(CutEven, gives_each_part_the_same_number_of_bytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto regions = random_regions(random);
    const auto parts = static_cast<int64_t>(1 + random() % 40);
    const auto domains = cut_even(regions, parts);
    expect_partition(regions, domains);
    int64_t all = 0;
    for (const Extent& region : regions)
      all += region.size();
    for (const Extent& domain : domains) {
      EXPECT_LE(bytes_within(regions, domain), all / parts + 1);
      EXPECT_GE(bytes_within(regions, domain), all / parts);
    }
  }
}

TEST(CutAligned, cuts_at_multiples_of_the_unit_for_100_000_writers) {
  const std::vector<Extent> regions{{3, 1'000'000'007}, {2'000'000'000, 7'000'000'000'000}};
  const auto domains = cut_aligned(regions, 100'000, 4096);
  ASSERT_EQ(domains.size(), 100'000U);
  expect_partition(regions, domains);
  for (size_t i = 1; i < domains.size(); ++i)
    ASSERT_EQ(domains[i].begin % 4096, 0) << i;
}

TEST(CutAligned, leaves_parts_empty_when_there_are_more_writers_than_units) {
  const std::vector<Extent> regions{{100, 5000}};
  const auto domains = cut_aligned(regions, 4, 4096);
  expect_partition(regions, domains);
  int filled = 0;
  for (const Extent& domain : domains)
    filled += domain.empty() ? 0 : 1;
  EXPECT_EQ(filled, 2);
}

TEST(CutEven, of_nothing_is_empty) {
  for (const Extent& domain : cut_even({}, 3))
    EXPECT_TRUE(domain.empty());
}

TEST(CutAtStripes, is_cut_aligned_where_all_stripes_are_as_long) {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 300; ++turn) {
    const std::vector<Extent> regions = random_regions(random);
    const int64_t parts = 1 + static_cast<int64_t>(random() % 20), unit = 1 + static_cast<int64_t>(random() % 70'000);
    const StorageLayout layout{.kind = LayoutKind::mock,
                               .components = {{.stripe_bytes = unit, .stripe_count = 3, .targets = {}}}};
    EXPECT_EQ(cut_at_stripes(regions, parts, layout), cut_aligned(regions, parts, unit));
  }
}

TEST(CutAtStripes, gives_no_stripe_of_any_component_to_two_writers) {
  std::mt19937_64 random(6);
  const StorageLayout layout =
      parse_mock("stripe=64KiB,count=1,until=700000;stripe=192KiB,count=2,until=2MiB;stripe=1MiB,count=4").value();
  for (int turn = 0; turn < 300; ++turn) {
    const std::vector<Extent> regions = random_regions(random);
    const auto parts = cut_at_stripes(regions, 1 + static_cast<int64_t>(random() % 20), layout);
    expect_partition(regions, parts);
    for (size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].begin < parts.back().end && parts[i].begin > regions.front().begin) {
        EXPECT_EQ(stripe_at(layout, parts[i].begin).bytes.begin, parts[i].begin);
      }
    }
  }
}

TEST(StripesCut, counts_each_stripe_once) {
  const StorageLayout layout = parse_mock("stripe=100,count=4").value();
  EXPECT_EQ(stripes_cut({{0, 100}, {100, 300}, {300, 301}}, layout), 0);
  EXPECT_EQ(stripes_cut({{50, 110}, {110, 120}, {120, 350}, {350, 350}, {350, 500}}, layout), 2);
  EXPECT_EQ(stripes_cut({{50, 50}, {50, 80}}, layout), 0) << "an empty part has no bytes of it";
}

TEST(SpreadWriters, takes_one_a_host_while_there_are_hosts) {
  const Topology topology{.ranks = 8, .host_roots = {0, 2, 4, 6}};
  EXPECT_THAT(spread_writers(topology, 1), ElementsAre(0));
  EXPECT_THAT(spread_writers(topology, 2), ElementsAre(0, 4));
  EXPECT_THAT(spread_writers(topology, 4), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(spread_writers(topology, 8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(SpreadWriters, never_names_a_rank_twice) {
  for (int ranks : {1, 2, 3, 7, 13, 100'000})
    for (int64_t count : {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{64}, int64_t{1'000'000}}) {
      const auto writers = spread_writers({.ranks = ranks, .host_roots = {0}}, count);
      EXPECT_EQ(static_cast<int64_t>(writers.size()), std::min<int64_t>(count, ranks));
      for (size_t i = 1; i < writers.size(); ++i)
        ASSERT_LT(writers[i - 1], writers[i]);
      EXPECT_LT(writers.back(), ranks);
    }
}

}  // namespace
}  // namespace windrow
