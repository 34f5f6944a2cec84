// SPDX-License-Identifier: BSD-3-Clause
#include "layout/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "layout/parse.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

constexpr int64_t k_kib = 1024, k_mib = 1024 * k_kib;

StorageLayout mock(const std::string& text) {
  auto layout = parse_mock(text);
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return std::move(layout).value();
}

}  // namespace

TEST(StorageLayout, says_which_stripe_and_target_hold_a_byte) {
  const StorageLayout layout = mock("stripe=64KiB,count=3,first=5,targets=7");
  const Stripe stripe = stripe_at(layout, 64 * k_kib * 5 + 17);
  EXPECT_EQ(stripe.bytes, (Extent{64 * k_kib * 5, 64 * k_kib * 6}));
  EXPECT_EQ(stripe.index, 5);
  EXPECT_EQ(stripe.column, 2);
  EXPECT_EQ(stripe.target, 0) << "5, 6, and round to 0";
  EXPECT_EQ(next_stripe(layout, 0), 64 * k_kib);
  EXPECT_EQ(lock_unit(layout), 64 * k_kib);
  EXPECT_EQ(stripe_at(layout, INT64_MAX - 1).bytes.end, k_no_end);
}

// Every byte of a small file, against counting.
TEST(StorageLayout, agrees_with_counting_byte_by_byte) {
  const StorageLayout layout = mock("stripe=4,count=2,until=10;stripe=3,count=5,first=2,until=31;stripe=7,count=1");
  int64_t begin = 0;
  for (int64_t offset = 0; offset < 100; ++offset) {
    const size_t number = offset < 10 ? 0 : offset < 31 ? 1 : 2;
    const LayoutComponent& component = layout.components[number];
    if (offset == 10 || offset == 31 || offset % component.stripe_bytes == 0)
      begin = offset;
    const Stripe stripe = stripe_at(layout, offset);
    EXPECT_EQ(stripe.bytes.begin, begin) << offset;
    EXPECT_EQ(stripe.column, offset / component.stripe_bytes % component.stripe_count) << offset;
    EXPECT_EQ(stripe.target, component.targets[static_cast<size_t>(stripe.column)]) << offset;
    if (offset > 0 && begin == offset) {
      EXPECT_EQ(next_stripe(layout, offset - 1), offset);
    }
  }
}

// As Ceph's documents number objects: the first stripe of each of a row, then the second, until the objects are full.
TEST(StorageLayout, counts_objects_in_rows) {
  const StorageLayout layout = mock("stripe=64KiB,count=3,object=128KiB,objects=6,targets=100");
  const LayoutComponent& only = layout.components.front();
  const std::vector<int64_t> objects{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8};
  for (size_t stripe = 0; stripe < objects.size(); ++stripe) {
    const int64_t object = objects[stripe], offset = static_cast<int64_t>(stripe) * 64 * k_kib + 5;
    EXPECT_EQ(object_of(only, static_cast<int64_t>(stripe)), object) << stripe;
    EXPECT_EQ(target_of(layout, offset), object < 6 ? only.targets[static_cast<size_t>(object)] : k_no_target)
        << stripe;
    EXPECT_EQ(stripe_at(layout, offset).column, static_cast<int64_t>(stripe) % 3);
    EXPECT_EQ(object_of(only, offset_of_object(only, object) / (64 * k_kib)), object);
    EXPECT_TRUE(offset_of_object(only, object) < offset);
  }
  EXPECT_EQ(offset_of_object(only, 4), 7 * 64 * k_kib);
  EXPECT_EQ(end_of_targets(only), 2 * 3 * 128 * k_kib);
  EXPECT_EQ(offset_of_object(only, INT64_MAX), k_no_end);
}

TEST(StorageLayout, counts_the_targets_that_it_names) {
  StorageLayout layout = mock("stripe=1MiB,count=1,object=4MiB,objects=200,targets=7");
  EXPECT_EQ(count_targets(layout.components.front()), 7);
  EXPECT_EQ(layout_text(layout),
            "mock: stripe size 1 MiB, stripe count 1, object size 4 MiB, its first 200 objects on 7 targets: 0, 1, 2, "
            "3, 4, 5, 6");
  EXPECT_TRUE(names_targets(layout));
  std::replace(layout.components.front().targets.begin(), layout.components.front().targets.end(), int64_t{0},
               k_no_target);
  EXPECT_EQ(count_targets(layout.components.front()), 6);
  EXPECT_THAT(layout_text(layout), HasSubstr("on 6 targets: 1, 2, 3, 4, 5, 6 ("));
  EXPECT_THAT(layout_text(layout), HasSubstr(" objects on unknown targets)"));
  layout.components.front().targets.clear();
  EXPECT_EQ(count_targets(layout.components.front()), 1) << "a column";
  EXPECT_EQ(end_of_targets(layout.components.front()), 0);
  EXPECT_FALSE(names_targets(layout));
  EXPECT_EQ(count_targets(mock("stripe=1MiB,count=4,targets=3").components.front()), 4);
  EXPECT_EQ(end_of_targets(mock("stripe=1MiB,count=4").components.front()), k_no_end);
}

TEST(StorageLayout, goes_on_behind_its_last_component_on_no_target) {
  const StorageLayout layout = mock("stripe=64KiB,count=2,until=100000");
  EXPECT_NE(target_of(layout, 99'999), k_no_target);
  const Stripe behind = stripe_at(layout, 100'000);
  EXPECT_EQ(behind.target, k_no_target);
  EXPECT_EQ(behind.bytes, (Extent{100'000, 128 * k_kib}));
}

TEST(StorageLayout, names_its_faults) {
  struct Case {
    std::string part;
    std::function<void(StorageLayout&)> spoil;
  };
  const std::vector<Case> cases{
      {"no component", [](StorageLayout& each) { each.components.clear(); }},
      {"stripes of 0 bytes", [](StorageLayout& each) { each.components[0].stripe_bytes = 0; }},
      {"stripes of -4 bytes", [](StorageLayout& each) { each.components[0].stripe_bytes = -4; }},
      {"has -1 stripes", [](StorageLayout& each) { each.components[0].stripe_count = -1; }},
      {"has 65536 stripes", [](StorageLayout& each) { each.components[0].stripe_count = 65536; }},
      {"2 targets for 1 stripe", [](StorageLayout& each) { each.components[0].targets.push_back(1); }},
      {"negative number", [](StorageLayout& each) { each.components[0].targets[0] = -2; }},
      {"component 2 begins at 99", [](StorageLayout& each) { each.components[1].bytes.begin = 99; }},
      {"one is missing", [](StorageLayout& each) { each.components[1].bytes.begin = 101; }},
      {"is empty", [](StorageLayout& each) { each.components[1].bytes.end = 100; }},
      {"negative offset", [](StorageLayout& each) { each.components[0].bytes.begin = -1; }},
      {"not a multiple of stripes", [](StorageLayout& each) { each.components[1].object_bytes = 100'000; }},
      {"5 objects, which is not a multiple of rows of 4",
       [](StorageLayout& each) {
         each.components[1].object_bytes = 64 * k_kib, each.components[1].targets.push_back(1);
       }},
  };
  const StorageLayout sound = mock("stripe=50,count=1,until=100;stripe=64KiB,count=4");
  EXPECT_TRUE(check_layout(sound).ok());
  for (const Case& each : cases) {
    StorageLayout spoiled = sound;
    each.spoil(spoiled);
    const Status status = check_layout(spoiled);
    EXPECT_EQ(status.code(), Code::bad_file) << each.part;
    EXPECT_THAT(status.message(), HasSubstr(each.part));
    EXPECT_THAT(status.message(), HasSubstr("mock"));
  }
}

TEST(StorageLayout, reads_as_a_text) {
  EXPECT_EQ(layout_text({}), "not known");
  EXPECT_EQ(layout_text({.kind = LayoutKind::blocks, .components = {{.stripe_bytes = 4096, .targets = {}}}}),
            "blocks of 4 KiB");
  EXPECT_EQ(layout_text(mock("stripe=1MiB,count=4")), "mock: stripe size 1 MiB, stripe count 4 on targets 0, 1, 2, 3");
  EXPECT_EQ(layout_text(mock("stripe=64KiB,count=1,until=1MiB;stripe=1MiB,count=10")),
            "mock: up to 1 MiB stripe size 64 KiB, stripe count 1 on target 0; then stripe size 1 MiB, stripe count 10 "
            "on targets 0, 1, 2, 3, 4, 5, 6, 7 "
            "and 2 more");
}

TEST(StorageLayout, comes_whole_to_other_ranks) {
  const std::vector<StorageLayout> layouts{
      {},
      mock("stripe=1MiB,count=2000,first=9"),
      mock("stripe=1,count=1,until=5;stripe=64KiB,count=7,targets=3"),
      mock("stripe=64KiB,count=3,object=1MiB,objects=999,targets=70"),
      parse_cephfs("stripe_unit=65536 stripe_count=3 object_size=131072 pool=a").value()};
  for (const StorageLayout& layout : layouts) {
    std::vector<std::byte> bytes{std::byte{42}};
    append_layout(bytes, layout);
    size_t position = 1;
    const auto read = read_layout(bytes, position);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read.value(), layout);
    EXPECT_EQ(position, bytes.size());
    for (size_t size = 1; size < bytes.size(); ++size) {
      position = 1;
      EXPECT_FALSE(read_layout(std::span(bytes).first(size), position).ok()) << size;
    }
  }
}

}  // namespace windrow::test
