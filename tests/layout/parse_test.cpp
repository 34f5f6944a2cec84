// SPDX-License-Identifier: BSD-3-Clause
// CephFS's texts, BeeGFS's numbers, and mocks; sound, hostile, and thousands of changed ones.
#include "layout/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t k_mib = int64_t{1} << 20;

std::vector<std::byte> beegfs(uint32_t pattern, uint32_t chunk, uint16_t count) {
  std::vector<std::byte> bytes(12);
  std::memcpy(bytes.data(), &pattern, 4);
  std::memcpy(bytes.data() + 4, &chunk, 4);
  std::memcpy(bytes.data() + 8, &count, 2);
  return bytes;
}

void expect_fault(const Result<StorageLayout>& layout, const std::string& part, Code code) {
  ASSERT_FALSE(layout.ok()) << part << ": " << layout_text(layout.value());
  EXPECT_EQ(layout.status().code(), code) << layout.status().message();
  EXPECT_THAT(layout.status().message(), HasSubstr(part));
}

}  // namespace

TEST(CephFs, tells_stripes_and_objects) {
  const auto layout =
      parse_cephfs("stripe_unit=1048576 stripe_count=4 object_size=4194304 pool=cephfs data=1 stripe_unit=7");
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(layout.value().kind, LayoutKind::cephfs);
  const LayoutComponent& only = layout.value().components.front();
  EXPECT_EQ(only.stripe_bytes, k_mib);
  EXPECT_EQ(only.stripe_count, 4);
  EXPECT_EQ(only.object_bytes, 4 * k_mib);
  EXPECT_THAT(only.targets, IsEmpty());
  EXPECT_EQ(stripe_at(layout.value(), 6 * k_mib).column, 2);
}

TEST(CephFs, names_what_is_wrong) {
  const auto expect = [](const char* text, const std::string& part) {
    expect_fault(parse_cephfs(text), part, Code::bad_file);
  };
  expect("", "stripe_unit is missing");
  expect("stripe_unit=65536 object_size=65536 pool=a", "stripe_count is missing");
  expect("pool=stripe_unit=65536 stripe_count=1 object_size=65536", "stripe_unit is missing");
  expect("stripe_unit=0 stripe_count=1 object_size=65536", "stripe_unit cannot be \"0\"");
  expect("stripe_unit=1000 stripe_count=1 object_size=65536", "stripe_unit cannot be \"1000\"");
  expect("stripe_unit=-65536 stripe_count=1 object_size=65536", "stripe_unit cannot be");
  expect("stripe_unit=65536 stripe_count=0 object_size=65536", "stripe_count cannot be");
  expect("stripe_unit=65536 stripe_count=99999999999999999999 object_size=65536", "stripe_count cannot be");
  expect("stripe_unit=131072 stripe_count=1 object_size=65536", "not a multiple of stripes");
  expect("stripe_unit=131072 stripe_count=1 object_size=196608", "not a multiple of stripes");
  expect("stripe_unit=65536 stripe_unit=65536 stripe_count=1 object_size=65536", "repeated");
}

TEST(BeeGfs, tells_chunks_and_targets) {
  const auto layout = parse_beegfs(beegfs(1, 524288, 3), std::vector<int64_t>{101, 102, 203});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(layout.value().kind, LayoutKind::beegfs);
  EXPECT_EQ(layout.value().components.front().stripe_bytes, 524288);
  EXPECT_THAT(layout.value().components.front().targets, ElementsAre(101, 102, 203));
  const auto without = parse_beegfs(beegfs(3, 65536, 3), std::vector<int64_t>{101, 102});
  ASSERT_TRUE(without.ok()) << "a target that vanished meanwhile";
  EXPECT_EQ(without.value().components.front().stripe_count, 3);
  EXPECT_THAT(without.value().components.front().targets, IsEmpty());
}

TEST(BeeGfs, names_what_is_wrong) {
  const auto expect = [](const std::vector<std::byte>& bytes, const std::string& part) {
    expect_fault(parse_beegfs(bytes, {}), part, Code::bad_file);
  };
  expect(beegfs(0, 524288, 3), "pattern 0");
  expect(beegfs(4, 524288, 3), "pattern 4");
  expect(beegfs(1, 0, 3), "0 bytes");
  expect(beegfs(1, 196608, 3), "not a power of two");
  expect(beegfs(1, 4096, 3), "4096 bytes");
  expect(beegfs(1, 524288, 0), "no targets");
  const std::vector<std::byte> whole = beegfs(1, 524288, 3);
  for (size_t size = 0; size < 10; ++size)
    expect({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, "truncated");
  EXPECT_EQ(parse_beegfs(whole, std::vector<int64_t>{1, 2, -7}).status().code(), Code::bad_file);
}

TEST(Mock, stands_for_any_layout) {
  const auto plain = parse_mock("stripe=1MiB,count=8");
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_THAT(plain.value().components.front().targets, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const auto few = parse_mock("stripe=1MiB,count=4,first=2,targets=3");
  ASSERT_TRUE(few.ok());
  EXPECT_THAT(few.value().components.front().targets, ElementsAre(2, 0, 1, 2));
  EXPECT_TRUE(few.value().components.front().overstriped);
  const auto objects = parse_mock("stripe=64KiB,count=2,object=1MiB,objects=100,targets=5");
  ASSERT_TRUE(objects.ok()) << objects.status().message();
  EXPECT_EQ(objects.value().components.front().object_bytes, k_mib);
  EXPECT_EQ(objects.value().components.front().targets.size(), 100u);
  EXPECT_THAT(objects.value().components.front().targets,
              testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(5))));
  for (const char* text :
       {"stripe=64KiB,count=1,until=1MiB;stripe=1MiB,count=4", "stripe=64KiB,count=1;until=1MiB;stripe=1MiB,count=4"}) {
    const auto composite = parse_mock(text);
    ASSERT_TRUE(composite.ok()) << composite.status().message();
    ASSERT_EQ(composite.value().components.size(), 2u);
    EXPECT_EQ(composite.value().components[0].bytes, (Extent{0, k_mib}));
    EXPECT_EQ(composite.value().components[1].bytes, (Extent{k_mib, k_no_end}));
  }
}

TEST(Mock, names_what_is_wrong) {
  const auto expect = [](const char* text, const std::string& part) {
    expect_fault(parse_mock(text), part, Code::bad_argument);
  };
  expect("", "needs stripe");
  expect("count=3", "needs stripe");
  expect("stripe=0,count=3", "stripe cannot be \"0\"");
  expect("stripe=1MiB,count=0", "count cannot be \"0\"");
  expect("stripe=1MiB,count=65536", "count cannot be");
  expect("stripe=1MiB,stripe=2MiB", "repeated");
  expect("stripe=1MiB,colour=2", "unknown key \"colour\"");
  expect("stripe=1MiB,first=3,targets=3", "first target cannot be 3");
  expect("stripe=1MiB,objects=3", "object=4MiB");
  expect("stripe=1MiB,object=1500KiB", "not a multiple of stripes");
  expect("stripe=1MiB,count=2,object=1MiB,objects=3", "not a multiple of rows");
  expect("stripe=1MiB,object=1MiB,objects=65536", "objects cannot be");
  expect("stripe=1MiB,,count=3", "unknown key \"\"");
  expect("stripe=1MiB;stripe=2MiB", "only the last component extends");
  expect("until=3;stripe=1MiB", "needs stripe");
  expect("stripe=1MiB,until=3MiB;stripe=1MiB,until=2MiB", "is empty");
  expect("stripe=1MiB,until=0;stripe=1MiB", "until cannot be \"0\"");
}

TEST(Texts, give_sound_layouts_or_errors_when_changed) {
  std::mt19937 random(20240502);
  const auto below = [&](size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random); };
  const std::string letters = "0123456789=;,ksKMGiBstripecountuntilobjectsize_ -+\xff";
  const std::vector<std::string> texts{"stripe_unit=1048576 stripe_count=4 object_size=4194304 pool=cephfs_data",
                                       "stripe=64KiB,count=1,until=1MiB;stripe=1MiB,count=4,first=1,targets=3",
                                       "stripe=64KiB,count=2,object=1MiB,objects=8"};
  int sound = 0;
  for (int turn = 0; turn < 40'000; ++turn) {
    const size_t which = below(3);
    std::string text = texts[which];
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(text.size());
      if (below(2) == 0)
        text[at] = letters[below(letters.size())];
      else
        text.erase(at, 1 + below(4));
      if (text.empty())
        break;
    }
    const auto layout = which == 0 ? parse_cephfs(text) : parse_mock(text);
    if (!layout.ok())
      continue;
    ++sound;
    ASSERT_TRUE(check_layout(layout.value()).ok()) << text;
    ASSERT_GT(stripe_at(layout.value(), 12'345'678).bytes.end, 12'345'678) << text;
  }
  EXPECT_GT(sound, 500);
}

}  // namespace windrow::test
