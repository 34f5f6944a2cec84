// SPDX-License-Identifier: BSD-3-Clause
// Lustre's attribute: blobs as documented, in both byte orders; hostile ones; all cut short at every byte, and
// thousands of changed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "layout/parse.hpp"
#include "layout/stripes.hpp"
#include "lustre_blob.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t k_eof = UINT64_MAX;
constexpr int64_t k_mib = int64_t{1} << 20;
constexpr uint32_t k_with_objects = 0x10, k_stale = 0x01, k_extension = 0x40, k_parity = 0x80;

StorageLayout parse(const std::vector<std::byte>& bytes) {
  auto layout = parse_lustre(bytes);
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  if (!layout.ok())
    return {};
  EXPECT_EQ(layout.value().kind, LayoutKind::lustre);
  EXPECT_TRUE(check_layout(layout.value()).ok());
  return std::move(layout).value();
}

void expect_fault(const std::vector<std::byte>& bytes, const std::string& part, Code code = Code::bad_file) {
  const auto layout = parse_lustre(bytes);
  ASSERT_FALSE(layout.ok()) << "instead of: " << part << ": " << layout_text(layout.value());
  EXPECT_EQ(layout.status().code(), code);
  EXPECT_THAT(layout.status().message(), HasSubstr(part));
}

std::vector<std::byte> four_targets(bool swapped = false) {
  return LustreStripes{.stripe_bytes = 1 << 20, .count = 4, .targets = {3, 5, 1, 0}, .swapped = swapped}.bytes();
}

// To 64 MiB on one target, to 1 GiB on two, then on four; the last has no objects yet.
std::vector<std::byte> progressive(bool swapped = false) {
  const LustreStripes one{.count = 1, .targets = {7}, .swapped = swapped},
      two{.count = 2, .targets = {2, 4}, .with_pool = true, .swapped = swapped},
      rest{.stripe_bytes = 4 << 20, .count = 4, .targets = {}, .swapped = swapped};
  return composite({{0, 64 << 20, k_with_objects, one.bytes()},
                    {64 << 20, 1 << 30, k_with_objects, two.bytes()},
                    {1 << 30, k_eof, 0, rest.bytes()}},
                   swapped);
}

}  // namespace

TEST(Lustre, tells_stripes_and_targets_in_versions_one_and_three_and_both_byte_orders) {
  for (const bool with_pool : {false, true})
    for (const bool swapped : {false, true}) {
      const StorageLayout layout = parse(LustreStripes{
          .stripe_bytes = 4 << 20, .count = 3, .targets = {9, 0, 65536}, .with_pool = with_pool, .swapped = swapped}
                                             .bytes());
      ASSERT_EQ(layout.components.size(), 1u);
      const LayoutComponent& only = layout.components.front();
      EXPECT_EQ(only.bytes, (Extent{0, k_no_end}));
      EXPECT_EQ(only.stripe_bytes, 4 * k_mib);
      EXPECT_EQ(only.stripe_count, 3);
      EXPECT_THAT(only.targets, ElementsAre(9, 0, 65536));
      EXPECT_FALSE(only.overstriped);
      EXPECT_EQ(target_of(layout, 13 * k_mib), 9);
    }
}

TEST(Lustre, tells_progressive_layouts) {
  for (const bool swapped : {false, true}) {
    const StorageLayout layout = parse(progressive(swapped));
    ASSERT_EQ(layout.components.size(), 3u);
    EXPECT_EQ(layout.components[1].bytes, (Extent{64 * k_mib, 1024 * k_mib}));
    EXPECT_THAT(layout.components[1].targets, ElementsAre(2, 4));
    EXPECT_EQ(layout.components[2].bytes, (Extent{1024 * k_mib, k_no_end}));
    EXPECT_EQ(layout.components[2].stripe_bytes, 4 * k_mib);
    EXPECT_EQ(layout.components[2].stripe_count, 4);
    EXPECT_THAT(layout.components[2].targets, IsEmpty());
    EXPECT_EQ(target_of(layout, 0), 7);
    EXPECT_EQ(target_of(layout, 65 * k_mib), 4) << "stripes are counted from the file's start";
    EXPECT_EQ(target_of(layout, 2000 * k_mib), k_no_target);
  }
}

TEST(Lustre, tells_overstriping_by_its_flag_and_by_its_targets) {
  for (const uint32_t pattern : {0x201u, 0x001u}) {
    const StorageLayout layout = parse(LustreStripes{.pattern = pattern, .count = 4, .targets = {1, 2, 1, 2}}.bytes());
    EXPECT_TRUE(layout.components.front().overstriped);
    EXPECT_THAT(layout.components.front().targets, ElementsAre(1, 2, 1, 2));
  }
}

TEST(Lustre, takes_defaults_without_objects) {
  // Of a folder: nothing said but that there is a layout; all targets; a released file.
  StorageLayout layout = parse(LustreStripes{.stripe_bytes = 0, .count = 0, .targets = {}}.bytes());
  EXPECT_EQ(layout.components.front().stripe_bytes, 4 * k_mib);
  EXPECT_EQ(layout.components.front().stripe_count, 0);
  layout = parse(LustreStripes{.count = 0xffff, .targets = {}, .with_pool = true}.bytes());
  EXPECT_EQ(layout.components.front().stripe_count, 0) << "all, however many there are";
  layout = parse(LustreStripes{.pattern = 0x80000001, .count = 5, .targets = {}}.bytes());
  EXPECT_EQ(layout.components.front().stripe_count, 5);
  EXPECT_TRUE(is_chosen(layout));
}

TEST(Lustre, tells_data_on_the_metadata_server) {
  const StorageLayout layout =
      parse(composite({{0, 1 << 20, k_with_objects, LustreStripes{.pattern = 0x100, .targets = {}}.bytes()},
                       {1 << 20, k_eof, k_with_objects, four_targets()}}));
  EXPECT_TRUE(layout.components[0].on_metadata_server);
  EXPECT_EQ(target_of(layout, 17), k_no_target);
  EXPECT_EQ(target_of(layout, k_mib), 5);
}

TEST(Lustre, takes_the_first_mirror_that_is_whole) {
  const auto other = LustreStripes{.stripe_bytes = 2 << 20, .count = 1, .targets = {8}}.bytes();
  const auto of_flags = [&](uint32_t first, uint32_t second) {
    return composite(
        {{0, k_eof, k_with_objects | first, four_targets(), 1}, {0, k_eof, k_with_objects | second, other, 2}});
  };
  EXPECT_EQ(parse(of_flags(0, 0)).components.front().stripe_bytes, k_mib);
  EXPECT_EQ(parse(of_flags(k_stale, 0)).components.front().stripe_bytes, 2 * k_mib);
  EXPECT_EQ(parse(of_flags(0, k_parity)).components.front().stripe_bytes, k_mib);
  expect_fault(of_flags(k_stale, k_parity), "none of its 2 mirrors can be used");
}

TEST(Lustre, takes_the_mirror_that_lies_in_lustre) {
  const auto elsewhere = LustreBlob().u32(0x0BD70BD0).u32(48).u64(0).u64(0).u64(0).u64(0).u64(0).bytes();
  for (const bool first : {true, false}) {
    const LustreComponent foreign{0, k_eof, 0, elsewhere, first ? 1U : 2U},
        here{0, k_eof, k_with_objects, four_targets(), first ? 2U : 1U};
    EXPECT_EQ(parse(first ? composite({foreign, here}) : composite({here, foreign})).components.front().stripe_count,
              4);
  }
  expect_fault(composite({{0, k_eof, 0, elsewhere, 1}}), "in another storage");
}

TEST(Lustre, lets_components_grow_into_their_extension) {
  const auto stripes = four_targets(),
             extension = LustreStripes{.stripe_bytes = 64 << 20, .count = 0, .targets = {}}.bytes();
  const StorageLayout layout =
      parse(composite({{0, 64 << 20, k_with_objects, stripes}, {64 << 20, k_eof, k_extension, extension}}));
  ASSERT_EQ(layout.components.size(), 1u);
  EXPECT_EQ(layout.components.front().bytes, (Extent{0, k_no_end}));
  EXPECT_EQ(layout.components.front().stripe_count, 4);
  expect_fault(composite({{0, k_eof, k_extension, extension}}), "is an extension");
}

TEST(Lustre, names_what_is_impossible) {
  expect_fault(LustreStripes{.stripe_bytes = 0, .count = 1, .targets = {0}}.bytes(), "stripes have 0 bytes");
  expect_fault(LustreStripes{.stripe_bytes = 65537, .count = 1, .targets = {0}}.bytes(), "not a multiple of 64 KiB");
  expect_fault(LustreStripes{.count = 0, .targets = {0}}.bytes(), "no stripes");
  expect_fault(LustreStripes{.count = 3, .targets = {0, 1}}.bytes(), "truncated");
  expect_fault(LustreStripes{.pattern = 0x1008, .count = 1, .targets = {0}}.bytes(), "pattern 0x1008");
  expect_fault(LustreStripes{.pattern = 0x400, .count = 1, .targets = {0}}.bytes(), "foreign", Code::unsupported);
  expect_fault(LustreBlob().u32(0x0BD70BD0).u32(12).u64(0).bytes(), "foreign", Code::unsupported);
  expect_fault(LustreBlob().u32(0xdeadbeef).text("", 60).bytes(), "unknown magic number");
  expect_fault(composite({}), "no component");
  const auto stripes = four_targets();
  expect_fault(composite({{0, 100, k_with_objects, stripes}, {50, k_eof, k_with_objects, stripes}}), "overlap");
  expect_fault(composite({{0, 100, k_with_objects, stripes}, {101, k_eof, k_with_objects, stripes}}), "missing");
  expect_fault(composite({{1, k_eof, k_with_objects, stripes}}), "missing");
  expect_fault(composite({{0, 0, k_with_objects, stripes}, {0, k_eof, k_with_objects, stripes}}), "is empty");
  expect_fault(composite({{0, 100, k_with_objects, stripes}, {100, 50, k_with_objects, stripes}}), "is empty");
  expect_fault(composite({{k_eof - 1, k_eof, k_with_objects, stripes}}), "beyond the maximum size of a file");
  expect_fault(composite({{0, k_eof, k_with_objects, stripes}}, false, 1), "truncated");
  expect_fault(composite({{0, k_eof, k_with_objects, composite({{0, k_eof, k_with_objects, stripes}})}}),
               "unknown magic number");
  // More components than bytes: 65535 in a header alone.
  expect_fault(LustreBlob().u32(0x0BD60BD0).u32(32).u32(1).u16(0).u16(0xffff).text("", 16).bytes(),
               "not fit into 32 bytes");
}

TEST(Lustre, keeps_targets_that_are_gone_as_not_known) {
  const StorageLayout layout =
      parse(LustreStripes{.pattern = 0x40000001, .count = 3, .targets = {4, UINT32_MAX, UINT32_MAX}}.bytes());
  EXPECT_THAT(layout.components.front().targets, ElementsAre(4, k_no_target, k_no_target));
  EXPECT_FALSE(layout.components.front().overstriped);
  EXPECT_THAT(layout_text(layout), HasSubstr("(2 not known)"));
}

TEST(Lustre, refuses_what_is_cut_short_at_any_byte) {
  // One that is whole without its targets is a default, and no error.
  const std::map<std::string, std::vector<std::byte>> blobs{
      {"plain", four_targets()}, {"progressive", progressive()}, {"swapped", progressive(true)}};
  for (const auto& [name, whole] : blobs)
    for (size_t size = 0; size < whole.size(); ++size) {
      const auto layout = parse_lustre(std::span(whole).first(size));
      const bool is_default = name == "plain" && size == 32;
      EXPECT_EQ(layout.ok(), is_default) << name << " of " << size;
      if (!layout.ok()) {
        EXPECT_EQ(layout.status().code(), Code::bad_file);
      }
    }
}

TEST(Lustre, gives_sound_layouts_or_errors_for_changed_bytes) {
  std::mt19937 random(20240501);  // the same on every run
  const auto below = [&](size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random); };
  const std::vector<std::vector<std::byte>> blobs{four_targets(), four_targets(true), progressive(), progressive(true)};
  int sound = 0, faults = 0;
  for (int turn = 0; turn < 40'000; ++turn) {
    std::vector<std::byte> bytes = blobs[below(blobs.size())];
    for (size_t changes = 1 + below(4); changes > 0; --changes)
      bytes[below(bytes.size())] = static_cast<std::byte>(below(4) == 0 ? 0xff : below(256));
    if (below(8) == 0)
      bytes.resize(below(bytes.size() + 1));
    const auto layout = parse_lustre(bytes);
    ++(layout.ok() ? sound : faults);
    if (!layout.ok())
      continue;
    ASSERT_TRUE(check_layout(layout.value()).ok());
    for (const int64_t offset : {int64_t{0}, 64 * k_mib, int64_t{1} << 40, INT64_MAX - 1}) {
      const Stripe stripe = stripe_at(layout.value(), offset);
      ASSERT_LE(stripe.bytes.begin, offset);
      ASSERT_GT(stripe.bytes.end, offset);
    }
    ASSERT_FALSE(layout_text(layout.value()).empty());
  }
  EXPECT_GT(sound, 1000);
  EXPECT_GT(faults, 1000);
}

TEST(Lustre, reads_the_request_that_sets_stripes) {
  const StorageLayout layout = parse(lustre_request({.bytes = 4 * k_mib, .count = 8, .first = 3}));
  EXPECT_EQ(layout.components.front().stripe_bytes, 4 * k_mib);
  EXPECT_EQ(layout.components.front().stripe_count, 8);
  EXPECT_EQ(parse(lustre_request({.count = k_all_targets})).components.front().stripe_count, 0);
}

}  // namespace windrow::test
