// SPDX-License-Identifier: BSD-3-Clause
// Files that are consecutive in one address space keep their own stripes there, and writers are assigned by file and
// target.
#include "layout/line.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "layout/parse.hpp"
#include "plan/deal.hpp"

namespace windrow {
namespace {

constexpr int64_t k_kib = 1024, k_begin = int64_t{1} << 40, k_room = int64_t{3} << 30;

StorageLayout mock(std::string_view text) {
  return parse_mock(text).value();
}

TEST(LayoutOfLine, has_the_stripes_of_each_file_where_the_file_lies) {
  // 3 stripes of 64 KiB do not divide the places, and composite files end where they end.
  const std::vector<StorageLayout> files{mock("stripe=64KiB,count=3"), mock("stripe=128KiB,count=3,first=2"),
                                         mock("stripe=4KiB,count=1,until=12KiB;stripe=64KiB,count=5,first=1")};
  const auto line = layout_of_line(files, k_begin, k_room);
  ASSERT_TRUE(line);
  ASSERT_TRUE(check_layout(*line).ok()) << check_layout(*line).message();
  for (size_t file = 0; file < files.size(); ++file)
    for (int64_t offset = 0; offset < 3 * 1024 * k_kib; offset += 1500) {
      const int64_t place = k_begin + static_cast<int64_t>(file) * k_room;
      const Stripe own = stripe_at(files[file], offset), there = stripe_at(*line, place + offset);
      ASSERT_EQ(there.target, own.target) << file << " at " << offset;
      ASSERT_EQ(there.bytes, (Extent{place + own.bytes.begin, place + own.bytes.end})) << file << " at " << offset;
    }
}

TEST(LayoutOfLine, is_not_known_where_a_file_has_no_stripes_or_they_do_not_fit_the_line) {
  EXPECT_FALSE(layout_of_line({}, k_begin, k_room));
  EXPECT_FALSE(
      layout_of_line(std::vector<StorageLayout>{mock("stripe=64KiB,count=3"), StorageLayout{}}, k_begin, k_room));
  EXPECT_FALSE(layout_of_line(std::vector<StorageLayout>{mock("stripe=5000,count=3")}, k_begin, k_room));
}

TEST(LayoutOfLine, is_not_made_of_very_many_files) {
  EXPECT_TRUE(
      layout_of_line(std::vector<StorageLayout>(k_most_files_of_line, mock("stripe=64KiB,count=3")), k_begin, k_room));
  EXPECT_FALSE(layout_of_line(std::vector<StorageLayout>(k_most_files_of_line + 1, mock("stripe=64KiB,count=3")),
                              k_begin, k_room));
}

// Objects continue with others along a file; their columns represent them.
TEST(LayoutOfLine, has_columns_of_files_of_objects) {
  const auto line = layout_of_line(
      std::vector<StorageLayout>{mock("stripe=64KiB,count=2,object=128KiB,objects=10,targets=3")}, k_begin, k_room);
  ASSERT_TRUE(line && check_layout(*line).ok());
  EXPECT_EQ(stripe_at(*line, k_begin + 64 * k_kib).column, 1);
  EXPECT_EQ(target_of(*line, k_begin), k_no_target);
}

// Which groups have bytes of each file's targets.
std::map<std::pair<int64_t, int64_t>, std::set<int>> groups_of(const Dealing& dealing, const StorageLayout& line,
                                                               const std::vector<Extent>& regions) {
  const Deal deal(dealing, 64 * k_kib);
  std::map<std::pair<int64_t, int64_t>, std::set<int>> groups;
  for (const Extent& region : regions)
    for (int64_t at = region.begin; at < region.end; at = next_stripe(line, at)) {
      const Stripe stripe = stripe_at(line, at);
      for (int group = 0; group < dealing.groups; ++group)
        if (deal.bytes_in(intersect(stripe.bytes, region), group) > 0)
          groups[{(at - k_begin) / k_room, stripe.target}].insert(group);
    }
  return groups;
}

TEST(DealByTarget, gives_each_target_of_each_file_to_one_group) {
  const std::vector<StorageLayout> files{mock("stripe=64KiB,count=3"), mock("stripe=64KiB,count=3,first=1"),
                                         mock("stripe=128KiB,count=2")};
  const auto line = layout_of_line(files, k_begin, k_room);
  ASSERT_TRUE(line);
  std::vector<Extent> regions;
  for (int64_t file = 0; file < 3; ++file)
    regions.push_back({k_begin + file * k_room + 100, k_begin + file * k_room + 3000 * k_kib});
  for (const int64_t most : {2, 3, 5, 8, 20}) {
    const auto dealing = deal_by_target(regions, most, *line);
    ASSERT_TRUE(dealing);
    EXPECT_EQ(dealing->groups, std::min<int64_t>(most, 8)) << "eight targets of files";
    const auto groups = groups_of(*dealing, *line, regions);
    EXPECT_EQ(groups.size(), 8U);
    std::set<int> busy;
    for (const auto& [target, own] : groups) {
      EXPECT_EQ(own.size(), 1U) << "target " << target.second << " of file " << target.first;
      busy.insert(own.begin(), own.end());
    }
    EXPECT_EQ(static_cast<int64_t>(busy.size()), dealing->groups);
  }
}

// A target keeps its writer, and thereby its lock, for any bytes of a flush: appended records are on some of the
// targets only.
TEST(DealByTarget, gives_targets_of_files_to_the_same_groups_as_they_grow) {
  const std::vector<StorageLayout> files(2, mock("stripe=64KiB,count=4"));
  const auto line = layout_of_line(files, k_begin, k_room);
  ASSERT_TRUE(line);
  std::map<std::pair<int64_t, int64_t>, std::set<int>> groups;
  for (int64_t record = 0; record < 16; ++record) {
    std::vector<Extent> regions;
    for (int64_t file = 0; file < 2; ++file)
      regions.push_back(
          {k_begin + file * k_room + record * 150 * k_kib, k_begin + file * k_room + (record + 1) * 150 * k_kib});
    const auto dealing = deal_by_target(regions, 4, *line);
    ASSERT_TRUE(dealing);
    for (const auto& [target, own] : groups_of(*dealing, *line, regions))
      groups[target].insert(own.begin(), own.end());
  }
  EXPECT_EQ(groups.size(), 8U);
  for (const auto& [target, own] : groups)
    EXPECT_EQ(own.size(), 1U) << "target " << target.second << " of file " << target.first;
}

// A list of chunks gives the targets of the chunks that move, and no others.
TEST(DealByTarget, gives_numbered_targets_to_the_same_groups_whichever_are_listed) {
  std::map<int64_t, std::set<int>> groups;
  for (int64_t first = 0; first < 12; first += 3) {
    StorageLayout chunks{.kind = LayoutKind::mock, .components = {}, .numbered_targets = 4};
    if (first > 0)
      chunks.components.push_back({.bytes = {0, first * k_kib}, .stripe_bytes = 1, .stripe_count = 0, .targets = {}});
    LayoutComponent listed{
        .bytes = {first * k_kib, (first + 3) * k_kib}, .stripe_bytes = k_kib, .stripe_count = 3, .targets = {0, 0, 0}};
    for (int64_t chunk = first; chunk < first + 3; ++chunk)
      listed.targets[static_cast<size_t>(chunk % 3)] = chunk % 4;
    chunks.components.push_back(listed);
    const auto dealing = deal_by_target({listed.bytes}, 3, chunks);
    ASSERT_TRUE(dealing) << first;
    EXPECT_EQ(dealing->groups, 3);
    const Deal deal(*dealing, k_kib);
    for (int64_t chunk = first; chunk < first + 3; ++chunk)
      for (int group = 0; group < 3; ++group)
        if (deal.bytes_in({chunk * k_kib, (chunk + 1) * k_kib}, group) > 0)
          groups[chunk % 4].insert(group);
  }
  EXPECT_EQ(groups.size(), 4U);
  for (const auto& [target, own] : groups)
    EXPECT_EQ(own.size(), 1U) << "target " << target;
}

}  // namespace
}  // namespace windrow
