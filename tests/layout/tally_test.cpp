// SPDX-License-Identifier: BSD-3-Clause
#include "layout/tally.hpp"

#include <gtest/gtest.h>

#include "layout/parse.hpp"

namespace windrow {
namespace {

TEST(StripeTally, counts_requests_and_bytes_of_each_target) {
  const StorageLayout layout = parse_mock("stripe=100,count=4,targets=2").value();
  StripeTally tally;
  tally.add(layout, {50, 450});
  tally.add(layout, {450, 460});
  ASSERT_EQ(tally.targets().size(), 2U);
  EXPECT_EQ(tally.targets().at(0).bytes, 50 + 100 + 60);
  EXPECT_EQ(tally.targets().at(0).requests, 2);
  EXPECT_EQ(tally.targets().at(1).bytes, 200);
  EXPECT_EQ(tally.targets().at(1).requests, 1);
}

TEST(StripeTally, tells_regular_stripes_as_one_run) {
  const StorageLayout layout = parse_mock("stripe=100,count=4").value();
  StripeTally tally;
  for (int64_t i = 0; i < 1000; ++i)
    tally.add(layout, {100 + 400 * i, 100 + 400 * i + 50});
  tally.add(layout, {100 + 400 * 999 + 50, 200 + 400 * 999});  // the rest of the last one
  tally.add(layout, {0, 1});
  ASSERT_EQ(tally.stripes().size(), 2U);
  EXPECT_EQ(tally.stripes()[0].begin, 100);
  EXPECT_EQ(tally.stripes()[0].stride, 400);
  EXPECT_EQ(tally.stripes()[0].count, 1000);
  tally.clear();
  EXPECT_TRUE(tally.stripes().empty() && tally.targets().empty());
}

TEST(StripeTally, keeps_no_endless_list) {
  const StorageLayout layout = parse_mock("stripe=100,count=4").value();
  StripeTally tally;
  for (int64_t i = 0; i < 10'000; ++i)
    tally.add(layout, {i * i * 100, i * i * 100 + 1});
  EXPECT_TRUE(tally.stripes().empty());
  EXPECT_EQ(tally.targets().at(1).requests + tally.targets().at(0).requests, 10'000) << "squares are 0 or 1 modulo 4";
}

}  // namespace
}  // namespace windrow
