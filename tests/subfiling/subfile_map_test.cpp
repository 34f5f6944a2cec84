// SPDX-License-Identifier: BSD-3-Clause
// The map of a set, as attributes of a base file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_folder.hpp"
#include "subfiling/address_space.hpp"
#include "subfiling/map_attributes.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

class SubfileMap : public testing::Test {
 protected:
  // A base file with one variable of 6 elements, split over 3 subfiles.
  void SetUp() override {
    VariableDefinition definition;
    definition.path = "/v";
    definition.type = Type::float64;
    definition.shape = {6};
    Subfiles set("raw", "identity", "a.raw.subfiles-0", SubfileNames{"anywhere", ".raw", 3});
    set.add(0, SplitVariable(Split::make({{0, 2, 4, 6}}).value(), "/v", 8, false));
    auto opened = open_format("raw", path_, FormatMode::create, {});
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    Format& base = *opened.value();
    std::vector<Part> parts;
    for (int64_t part = 0; part < 3; ++part)
      parts.push_back({set.relative_name(part), set.find(0)->split.box(part)});
    Catalog described;
    described.variables.emplace_back();
    described.variables[0].path = "/v";
    described.variables[0].type = Type::float64;
    ASSERT_TRUE(set.sign(base, -1).ok());
    ASSERT_TRUE(base.define_split(definition, parts).ok());
    ASSERT_TRUE(set.describe(base, definition, *set.find(0)).ok());
    ASSERT_TRUE(set.write_checksum(base, set.checksum(described)).ok());
    ASSERT_TRUE(base.close().ok());
    auto again = open_format("raw", path_, FormatMode::read, {});
    ASSERT_TRUE(again.ok()) << again.status().message();
    auto read = again.value()->catalog();
    ASSERT_TRUE(read.ok()) << read.status().message();
    catalog_ = std::move(read).value();
  }

  std::vector<Attribute>& root() { return catalog_.groups.front().attributes; }
  std::vector<Attribute>& variable() { return catalog_.variables.front().attributes; }
  static void replace(std::vector<Attribute>& attributes, const Attribute& by) {
    for (Attribute& each : attributes)
      if (each.name == by.name)
        each = by;
  }
  Status damage() {
    Catalog copy = catalog_;
    return Subfiles::take_from(copy, "raw", path_).status();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.raw");
  Catalog catalog_;
};

TEST_F(SubfileMap, is_read_as_it_was_written) {
  const auto found = Subfiles::take_from(catalog_, "raw", path_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found.value());
  const Subfiles& set = *found.value();
  EXPECT_EQ(set.identity(), "identity");
  EXPECT_EQ(set.count(), 3);
  EXPECT_EQ(set.used(), 3);
  EXPECT_EQ(set.names().folder, folder_.path("a.raw.subfiles-0"));
  ASSERT_NE(set.find(0), nullptr);
  EXPECT_EQ(set.find(0)->split, Split::make({{0, 2, 4, 6}}).value());
  EXPECT_TRUE(root().empty());  // the attributes of the map are not the user's
  EXPECT_TRUE(variable().empty());
}

TEST_F(SubfileMap, a_split_variable_has_its_place_when_all_parts_have) {
  auto found = Subfiles::take_from(catalog_, "raw", path_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  Subfiles& set = *found.value();
  EXPECT_EQ(find_split(nullptr, 0), nullptr);
  ASSERT_EQ(find_split(&set, 0), set.find(0));
  const AddressSpace space(catalog_, &set);
  SplitVariable& split = set.variables().at(0);
  split.offsets = {0, 512, -1};
  EXPECT_TRUE(split.has_part(2) && split.has_place(1));
  EXPECT_FALSE(split.has_part(3) || split.has_place(2) || space.has_place(0));
  split.offsets[2] = 1024;
  EXPECT_TRUE(space.has_place(0));
  EXPECT_FALSE(AddressSpace(catalog_, nullptr).has_place(0));
}

TEST_F(SubfileMap, a_file_without_a_map_is_a_single_file) {
  root().clear();
  const auto found = Subfiles::take_from(catalog_, "raw", path_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_FALSE(found.value());
}

TEST_F(SubfileMap, a_folder_elsewhere_is_refused) {
  replace(root(), map::word(map::k_folder, "../b"));
  EXPECT_EQ(damage().code(), Code::bad_file);
  EXPECT_THAT(damage().message(), HasSubstr("\"../b\" is not the name of a folder beside the file"));
}

TEST_F(SubfileMap, a_damaged_root_is_refused) {
  const std::vector<Attribute> intact = root();
  replace(root(), map::number(map::k_count, Subfiles::k_most + 1));
  EXPECT_THAT(damage().message(), HasSubstr("it contains 65537 subfiles"));
  root() = intact;
  replace(root(), map::word(map::k_ending, ".0123456789abcdef"));
  EXPECT_THAT(damage().message(), HasSubstr("is not the end of a name"));
  root() = intact;
  std::erase_if(root(), [](const Attribute& each) { return each.name == map::k_set; });
  EXPECT_THAT(damage().message(), HasSubstr("it has no identity"));
}

TEST_F(SubfileMap, bounds_that_do_not_match_are_refused) {
  for (const std::vector<int64_t>& bounds :
       {std::vector<int64_t>{}, std::vector<int64_t>{0, 2, 4}, std::vector<int64_t>{0, 2, 4, 6, 6}}) {
    replace(variable(), map::numbers(map::k_bounds, bounds));
    EXPECT_THAT(damage().message(), HasSubstr("the map's split order does not match its bounds")) << bounds.size();
  }
  replace(variable(), map::numbers(map::k_bounds, std::vector<int64_t>{0, 2, 4, 5}));
  EXPECT_THAT(damage().message(), HasSubstr("the map's ranges do not cover the variable"));
}

TEST_F(SubfileMap, a_split_that_was_changed_consistently_has_a_wrong_checksum) {
  replace(variable(), map::numbers(map::k_bounds, std::vector<int64_t>{0, 1, 4, 6}));
  EXPECT_THAT(damage().message(), HasSubstr("its checksum is wrong"));
}

TEST_F(SubfileMap, a_chunk_shape_that_does_not_fit_is_refused) {
  variable().push_back(map::numbers(map::k_chunk, std::vector<int64_t>{0}));
  EXPECT_THAT(damage().message(), HasSubstr("its chunk shape is invalid"));
}

}  // namespace
}  // namespace windrow::test
