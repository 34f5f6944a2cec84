// SPDX-License-Identifier: BSD-3-Clause
#include "layout/stripes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/parse.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t k_mib = int64_t{1} << 20, k_gib = int64_t{1} << 30;

}  // namespace

TEST(Stripes, are_asked_for_by_the_site_or_in_numbers) {
  EXPECT_EQ(parse_stripes("auto").value().kind, StripeRequest::Kind::automatic);
  EXPECT_EQ(parse_stripes("site").value().kind, StripeRequest::Kind::site);
  const auto numbers = parse_stripes("size=4MiB,count=8,first=3");
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_EQ(numbers.value().kind, StripeRequest::Kind::numbers);
  EXPECT_EQ(numbers.value().numbers, (StripeNumbers{4 * k_mib, 8, 3}));
  EXPECT_EQ(parse_stripes("count=all").value().numbers, (StripeNumbers{0, k_all_targets, -1}));
  EXPECT_EQ(parse_stripes("first=0").value().numbers.first, 0);
}

TEST(Stripes, that_nobody_can_have_are_refused) {
  for (const char* text : {"",
                           "8",
                           "size=0",
                           "size=1000",
                           "size=-65536",
                           "size=4GiB",
                           "size=",
                           "count=0",
                           "count=-1",
                           "count=2001",
                           "count=8.5",
                           "first=-1",
                           "first=65535",
                           "width=3",
                           "size=64KiB,,count=3",
                           "size=64KiB;count=3",
                           "Auto",
                           "count=2,",
                           ",count=2",
                           "count=2,count=3"}) {
    const auto request = parse_stripes(text);
    ASSERT_FALSE(request.ok()) << text;
    EXPECT_EQ(request.status().code(), Code::bad_argument);
    EXPECT_THAT(request.status().message(), HasSubstr(text));
  }
}

TEST(Stripes, follow_the_size_and_the_writers) {
  EXPECT_EQ(stripes_for(0, 1000, 4 * k_mib), std::nullopt);
  EXPECT_EQ(stripes_for(k_gib, 1000, 4 * k_mib), std::nullopt) << "one is enough";
  EXPECT_EQ(stripes_for(100 * k_gib, 1, 4 * k_mib), std::nullopt);
  EXPECT_EQ(stripes_for(k_gib + 1, 1000, 4 * k_mib), (StripeNumbers{.bytes = 4 * k_mib, .count = 2}));
  EXPECT_EQ(stripes_for(100 * k_gib, 7, 4 * k_mib), (StripeNumbers{.bytes = 4 * k_mib, .count = 7}));
  EXPECT_EQ(stripes_for(INT64_MAX, 100'000, 4 * k_mib)->count, 2000);
  EXPECT_EQ(stripes_for(100 * k_gib, 7, 5 * k_mib)->bytes, 4 * k_mib);
  EXPECT_EQ(stripes_for(100 * k_gib, 7, 4096)->bytes, k_mib);
  EXPECT_EQ(stripes_for(100 * k_gib, 7, k_gib)->bytes, 64 * k_mib);
}

TEST(Stripes, tell_whether_somebody_chose_them) {
  EXPECT_FALSE(is_chosen(parse_mock("stripe=1MiB,count=1").value()));
  EXPECT_TRUE(is_chosen(parse_mock("stripe=1MiB,count=2").value()));
  EXPECT_TRUE(is_chosen(parse_mock("stripe=1MiB,count=1,until=1GiB;stripe=1MiB,count=1").value()));
  EXPECT_FALSE(is_chosen({}));
  EXPECT_EQ(numbers_of(parse_mock("stripe=1MiB,count=2").value()), (StripeNumbers{.bytes = k_mib, .count = 2}));
  EXPECT_EQ(numbers_of(parse_mock("stripe=1MiB,until=1GiB;stripe=1MiB").value()), std::nullopt);
  EXPECT_EQ(numbers_of({}), std::nullopt);
}

TEST(Stripes, are_put_in_the_words_of_cephfs) {
  const StorageLayout given = parse_cephfs("stripe_unit=4194304 stripe_count=1 object_size=8388608 pool=a").value();
  EXPECT_EQ(cephfs_request({.bytes = k_mib, .count = 4}, given),
            "stripe_unit=1048576 stripe_count=4 object_size=8388608");
  EXPECT_EQ(cephfs_request({.bytes = 16 * k_mib}, given), "stripe_unit=16777216 stripe_count=1 object_size=16777216");
  EXPECT_EQ(cephfs_request({.count = 3}, {}), "stripe_unit=4194304 stripe_count=3 object_size=4194304");
  EXPECT_TRUE(parse_cephfs(cephfs_request({.bytes = 192 << 10, .count = 4}, given)).ok());
}

TEST(Stripes, of_a_mock_are_as_they_were_set) {
  const StorageLayout site = parse_mock("stripe=1MiB,count=1,first=2,targets=4").value();
  const StorageLayout set = with_stripes(site, {.bytes = 2 * k_mib, .count = 3});
  EXPECT_EQ(set.components.front().stripe_bytes, 2 * k_mib);
  EXPECT_THAT(set.components.front().targets, ElementsAre(2, 3, 0));
  EXPECT_TRUE(check_layout(set).ok());
  EXPECT_EQ(with_stripes(site, {.count = k_all_targets}).components.front().stripe_count, 4);
  EXPECT_EQ(
      with_stripes(parse_mock("stripe=1MiB,count=2").value(), {.count = k_all_targets}).components.front().stripe_count,
      2)
      << "of more nobody knows";
  EXPECT_EQ(with_stripes(parse_mock("stripe=1MiB,targets=2147483648").value(), {.count = k_all_targets})
                .components.front()
                .stripe_count,
            k_most_stripes);
  const StorageLayout over = with_stripes(parse_mock("stripe=4KiB,count=8,targets=2").value(), {.bytes = 65536});
  EXPECT_TRUE(over.components.front().overstriped);
  EXPECT_EQ(over.storage_targets, 2);
  const StorageLayout objects = parse_mock("stripe=64KiB,count=2,object=128KiB,objects=10,targets=5").value();
  EXPECT_EQ(with_stripes(objects, {.bytes = 128 << 10}).components.front().targets, objects.components.front().targets);
  const StorageLayout three = with_stripes(objects, {.bytes = 256 << 10, .count = 3});
  EXPECT_EQ(three.components.front().object_bytes, 256 << 10);
  EXPECT_EQ(three.components.front().targets.size(), 12U) << "whole rows";
  for (const StorageLayout& each : {over, three})
    EXPECT_TRUE(check_layout(each).ok());
}

}  // namespace windrow::test
