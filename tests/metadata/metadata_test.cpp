// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/metadata.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "define.hpp"

namespace windrow::test {
namespace {

using Names = std::vector<std::string>;

Status refused(const Metadata& metadata, VariableDefinition definition) {
  Additions added;
  return metadata.check_definition(definition, added);
}

Names groups_of(const Metadata& metadata) {
  Names paths;
  for (const Group& group : metadata.catalog().groups)
    paths.push_back(group.path);
  return paths;
}

Attribute attribute_of(std::string name, std::string text = {}) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = Type::text;
  attribute.texts = {std::move(text)};
  return attribute;
}

TEST(Metadata, GroupComesWithItsParents) {
  Metadata metadata("f");
  Additions added;
  ASSERT_TRUE(metadata.check_group("a/b/c/", added).ok());
  EXPECT_EQ(groups_of(metadata), Names{"/"});
  metadata.enter_groups(added);
  EXPECT_EQ(groups_of(metadata), (Names{"/", "/a", "/a/b", "/a/b/c"}));
  EXPECT_EQ(metadata.find_group("a/b")->path, "/a/b");
  EXPECT_EQ(metadata.find_group(""), nullptr);
  EXPECT_EQ(metadata.kind_of("/a/b/c"), ObjectKind::group);
  Additions again;
  ASSERT_TRUE(metadata.check_group("/a/b", again).ok());
  EXPECT_TRUE(again.groups.empty());
}

TEST(Metadata, PathsHaveAtMost200Groups) {
  std::string groups = "a";
  for (int i = 1; i < 200; ++i)
    groups += "/a";
  for (const std::string root : {"", "/"}) {
    const std::string deepest = root + groups;
    Metadata metadata("f");
    Additions added;
    EXPECT_TRUE(metadata.check_group(deepest, added).ok());
    EXPECT_EQ(metadata.check_group(deepest + "/a", added).message(),
              "the path \"" + root + "a...\" has 201 groups; the maximum is 200");
    EXPECT_TRUE(refused(metadata, definition_of(deepest + "/v")).ok());
    EXPECT_EQ(refused(metadata, definition_of(deepest + "/a/v")).message(),
              "the path \"" + root + "a...\" has 201 groups; the maximum is 200");
  }
}

TEST(Metadata, OnlyGroupsHaveMembers) {
  Metadata metadata("f");
  define(metadata, definition_of("/variable"));
  link(metadata, "/link", "/nowhere");
  ASSERT_TRUE(define_dimension(metadata, "/dimension", 3).ok());
  for (const auto& [path, kind] : {std::pair("/variable", "variable"), {"/link", "soft link"}, {"/dimension", "dim"}}) {
    Additions added;
    const Status status = metadata.check_group(std::string(path) + "/member", added);
    EXPECT_EQ(status.code(), Code::exists);
    EXPECT_NE(status.message().find(std::string("\"") + path + "\" in \"f\" is a " + kind), std::string::npos)
        << status.message();
  }
}

TEST(Metadata, VariableIsEnteredAsDefined) {
  Metadata metadata("f");
  VariableDefinition definition = definition_of("g/v", {5, 2});
  definition.extendible = true;
  EXPECT_FALSE(metadata.may_grow());
  EXPECT_EQ(define(metadata, definition), 0);
  const Variable& variable = metadata.variable(0);
  EXPECT_EQ(variable.path, "/g/v");
  EXPECT_EQ(variable.shape, (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(variable.placement.offset, 100);
  EXPECT_TRUE(metadata.may_grow());
  EXPECT_EQ(metadata.element_count_of(0), 10);
  EXPECT_EQ(metadata.find_variable("g/v").value(), 0);
  EXPECT_EQ(metadata.variable_at("/g/v"), 0);
  EXPECT_EQ(metadata.variable_at("g/v"), std::nullopt);
  EXPECT_EQ(metadata.kind_of("/g/v"), ObjectKind::variable);
  EXPECT_EQ(metadata.find_variable("w").status().message(), "\"f\" has no variable \"w\"");
}

TEST(Metadata, DefinitionsThatCannotBeAreRefused) {
  Metadata metadata("f");
  define(metadata, definition_of("/v"));
  EXPECT_EQ(refused(metadata, definition_of("v")).code(), Code::exists);
  EXPECT_EQ(refused(metadata, definition_of("/")).code(), Code::bad_argument);
  EXPECT_EQ(refused(metadata, definition_of("/a//b")).code(), Code::bad_argument);
  EXPECT_EQ(refused(metadata, definition_of("/w", {3, -1})).code(), Code::bad_argument);
  const int64_t most = std::numeric_limits<int64_t>::max() / 8 / 4;  // elements of 4 bytes
  EXPECT_TRUE(refused(metadata, definition_of("/w", {most})).ok());
  EXPECT_EQ(refused(metadata, definition_of("/w", {most + 1})).code(), Code::bad_argument);
  EXPECT_EQ(refused(metadata, definition_of("/w", {0, most, 2})).code(), Code::bad_argument);
  VariableDefinition definition = definition_of("/w");
  definition.type = Type::none;
  EXPECT_EQ(refused(metadata, definition).code(), Code::bad_argument);
  definition = definition_of("/w");
  definition.null_space = true;
  EXPECT_EQ(refused(metadata, definition).code(), Code::bad_argument);
  EXPECT_EQ(refused(metadata, definition_of("/v/w")).code(), Code::exists);
}

TEST(Metadata, DefinitionsOfOneCallKnowEachOther) {
  Metadata metadata("f");
  Additions added;
  VariableDefinition first = definition_of("/a/v"), same = definition_of("/a/v"), group = definition_of("/a"),
                     member = definition_of("/a/v/w"), second = definition_of("/a/w");
  ASSERT_TRUE(metadata.check_definition(first, added).ok());
  EXPECT_EQ(metadata.check_definition(same, added).code(), Code::exists);
  EXPECT_EQ(metadata.check_definition(group, added).code(), Code::exists);
  EXPECT_EQ(metadata.check_definition(member, added).code(), Code::exists);
  ASSERT_TRUE(metadata.check_definition(second, added).ok());
  EXPECT_EQ(added.groups, Names{"/a"});
  EXPECT_EQ(added.variables.at("/a/v"), 0);
  EXPECT_EQ(added.variables.at("/a/w"), 1);
}

TEST(Metadata, OnlyVariablesThatWereMadeAreFound) {
  Metadata metadata("f");
  Additions added;
  VariableDefinition first = definition_of("/a/v"), second = definition_of("/a/w");
  ASSERT_TRUE(metadata.check_definition(first, added).ok());
  ASSERT_TRUE(metadata.check_definition(second, added).ok());
  Additions of_none = added;
  metadata.reserve(added);
  metadata.enter_index(of_none);
  EXPECT_EQ(metadata.kind_of("/a"), ObjectKind::nothing);
  metadata.enter_variable(std::move(first), {});
  metadata.enter_index(added);
  EXPECT_EQ(metadata.kind_of("/a"), ObjectKind::group);
  EXPECT_EQ(metadata.variable_at("/a/v"), 0);
  EXPECT_EQ(metadata.variable_at("/a/w"), std::nullopt);
}

TEST(Metadata, LinksAreFollowed) {
  Metadata metadata("f");
  define(metadata, definition_of("/a/b/v"));
  link(metadata, "/first", "/second");
  link(metadata, "/second", "a");
  link(metadata, "/a/near", "b/./v");
  link(metadata, "/loop", "/loop");
  EXPECT_EQ(metadata.find_variable("/first/b/v").value(), 0);
  EXPECT_EQ(metadata.find_variable("first/near").value(), 0);
  EXPECT_EQ(metadata.resolve("/second/b/").value(), "/a/b");
  EXPECT_EQ(metadata.resolve("/a//b").status().code(), Code::bad_argument);
  EXPECT_EQ(metadata.find_variable("/loop").status().code(), Code::not_found);
  EXPECT_EQ(metadata.kind_of("/first"), ObjectKind::link);
  EXPECT_EQ(metadata.kind_of("/first/near"), ObjectKind::link);
  EXPECT_EQ(metadata.kind_of("/first/b"), ObjectKind::group);
  EXPECT_EQ(metadata.catalog().links.size(), 4U);
}

TEST(Metadata, LinkNeedsAFreePath) {
  Metadata metadata("f");
  define(metadata, definition_of("/a/v"));
  link(metadata, "/link", "/a");
  ASSERT_TRUE(define_dimension(metadata, "/x", 3).ok());
  for (const char* path : {"/a", "/a/v", "/link", "/x", "/a/v/w"}) {
    LinkAddition added;
    EXPECT_EQ(metadata.check_link(path, "/a", added).code(), Code::exists) << path;
  }
}

TEST(Metadata, AttributesAreReplacedAndDeleted) {
  Metadata metadata("f");
  define(metadata, definition_of("/a/v"));
  link(metadata, "/link", "/a/v");
  for (const char* text : {"old", "new"}) {
    ASSERT_TRUE(metadata.check_put("/a/v").ok());
    metadata.put_attribute("/a/v", attribute_of("name", text));
  }
  ASSERT_TRUE(metadata.check_put("/a").ok());
  metadata.put_attribute("/a", attribute_of("of_group"));
  const auto* attributes = metadata.attributes_of("link");
  ASSERT_NE(attributes, nullptr);
  EXPECT_EQ(*attributes, std::vector{attribute_of("name", "new")});
  EXPECT_EQ(metadata.attributes_of("/a")->front().name, "of_group");
  EXPECT_EQ(metadata.attributes_of("/b"), nullptr);
  EXPECT_EQ(metadata.check_put("/link").code(), Code::not_found);

  std::string place;
  EXPECT_EQ(metadata.check_delete("b", "name", place).message(), "\"f\" has no group or variable \"b\"");
  EXPECT_EQ(metadata.check_delete("link", "other", place).message(), "\"/a/v\" has no attribute \"other\"");
  ASSERT_TRUE(metadata.check_delete("link", "name", place).ok());
  EXPECT_EQ(place, "/a/v");
  metadata.delete_attribute(place, "name");
  EXPECT_TRUE(metadata.attributes_of("/a/v")->empty());
}

TEST(Metadata, OnlyTextsOfVariableLengthAreMovedWhole) {
  Metadata metadata("f");
  VariableDefinition definition = definition_of("/texts");
  definition.type = Type::text;
  define(metadata, definition);
  define(metadata, definition_of("/numbers"));
  EXPECT_TRUE(metadata.check_whole("put texts", 0).ok());
  EXPECT_EQ(metadata.check_whole("put texts", 1).code(), Code::bad_argument);
  EXPECT_EQ(metadata.check_whole("put texts", 2).message(), "put texts: \"f\" has no variable number 2");
  EXPECT_EQ(metadata.check_whole("put texts", -1).code(), Code::bad_argument);
}

TEST(Metadata, OpenedCatalogIsIndexed) {
  Catalog catalog;
  catalog.groups = {{"/", {}}, {"/a", {}}};
  catalog.variables.resize(2);
  catalog.variables[0].path = "/a/v";
  catalog.variables[1].path = "/w";
  catalog.variables[1].is_inline = true;
  catalog.links = {{"/link", "/a/v"}};
  catalog.dimensions = {{"/x", 3}};
  catalog.unsupported = {"/strange: an external link"};
  Metadata metadata("f");
  define(metadata, definition_of("/old"));
  metadata.take(catalog);
  EXPECT_EQ(metadata.catalog(), catalog);
  EXPECT_EQ(metadata.find_variable("link").value(), 0);
  EXPECT_EQ(metadata.variable_at("/w"), 1);
  EXPECT_EQ(metadata.variable_at("/old"), std::nullopt);
  EXPECT_EQ(metadata.kind_of("/a"), ObjectKind::group);
  EXPECT_EQ(metadata.kind_of("/x"), ObjectKind::dimension);
  EXPECT_EQ(metadata.kind_of("/strange"), ObjectKind::other);
  EXPECT_EQ(metadata.kind_of("/strang"), ObjectKind::nothing);
  EXPECT_TRUE(metadata.may_grow());
}

TEST(Metadata, HeldVariableGetsAPlace) {
  Catalog catalog;
  catalog.groups = {{"/", {}}};
  catalog.variables.resize(2);
  catalog.variables[1].is_inline = true;
  Metadata metadata("f");
  metadata.take(catalog);
  metadata.set_content(1, {std::byte{7}});
  EXPECT_EQ(metadata.variable(1).content, std::vector{std::byte{7}});
  metadata.give_place(1, 64);
  EXPECT_FALSE(metadata.variable(1).is_inline);
  EXPECT_EQ(metadata.variable(1).placement.offset, 64);
}

TEST(Metadata, VariableGrowsAlone) {
  Metadata metadata("f");
  VariableDefinition definition = definition_of("/v", {2, 3});
  definition.extendible = true;
  define(metadata, definition);
  definition.path = "/w";
  define(metadata, definition);
  EXPECT_EQ(metadata.records(), 2);
  metadata.lengthen(1, 7);
  metadata.grow_as_one(0);  // which the format does not ask for
  EXPECT_EQ(metadata.variable(0).shape.front(), 2);
  EXPECT_EQ(metadata.variable(1).shape.front(), 7);
  EXPECT_EQ(metadata.variable(1).placement.bytes, 7 * 3 * 4);
  EXPECT_EQ(metadata.records(), 7);
}

TEST(Metadata, VariablesGrowAsOne) {
  Metadata metadata("f");
  metadata.set_traits({.grows_as_one = true});
  VariableDefinition definition = definition_of("/v", {2, 3});
  definition.extendible = true;
  define(metadata, definition);
  definition.path = "/w";
  define(metadata, definition);
  const int fixed = define(metadata, definition_of("/fixed", {2}));
  metadata.lengthen(1, 7);
  metadata.grow_as_one(0);
  EXPECT_EQ(metadata.variable(0).shape, (std::vector<int64_t>{7, 3}));
  EXPECT_EQ(metadata.variable(0).placement.bytes, 7 * 3 * 4);
  EXPECT_EQ(metadata.variable(fixed).shape.front(), 2);
  definition.path = "/x";
  const int behind = define(metadata, definition);
  EXPECT_EQ(metadata.grow_as_one(static_cast<size_t>(behind)), 7 * 3 * 4 - metadata.variable(fixed).placement.bytes);
  EXPECT_EQ(metadata.variable(behind).shape.front(), 7);
  definition.path = "/y";
  definition.shape.front() = 9;
  (void)metadata.grow_as_one(static_cast<size_t>(define(metadata, definition)));
  EXPECT_EQ(metadata.variable(0).shape.front(), 9);
}

}  // namespace
}  // namespace windrow::test
