// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "define.hpp"
#include "metadata/metadata.hpp"

namespace windrow::test {
namespace {

using Names = std::vector<std::string>;

VariableDefinition growing(std::string path, std::vector<int64_t> shape) {
  VariableDefinition definition = definition_of(std::move(path), std::move(shape));
  definition.extendible = true;
  return definition;
}

TEST(Dimensions, PathOfADimensionIsFreeForItsVariable) {
  Metadata metadata("f");
  define(metadata, definition_of("/v", {3}));
  EXPECT_TRUE(define_dimension(metadata, "/a/x", 3).ok());
  EXPECT_EQ(metadata.kind_of("/a"), ObjectKind::group);
  EXPECT_EQ(metadata.kind_of("/a/x"), ObjectKind::dimension);
  EXPECT_EQ(define_dimension(metadata, "/a/x", 3).code(), Code::exists);
  EXPECT_EQ(define_dimension(metadata, "/a", 3).code(), Code::exists);
  EXPECT_TRUE(define_dimension(metadata, "/v", 3).ok());
  EXPECT_TRUE(name_dimensions(metadata, define(metadata, definition_of("/w", {5})), {"w"}).ok());
  EXPECT_EQ(define_dimension(metadata, "/w", 5).code(), Code::exists);
}

TEST(Dimensions, MissingOneIsMadeBesideTheVariable) {
  Metadata metadata("f");
  const int variable = define(metadata, definition_of("/a/v", {3, 4}));
  ASSERT_TRUE(name_dimensions(metadata, variable, {"x", "/b/y"}).ok());
  EXPECT_EQ(metadata.variable(variable).dimensions, (Names{"/a/x", "/b/y"}));
  ASSERT_NE(metadata.dimension_at("/a/x"), nullptr);
  EXPECT_EQ(metadata.dimension_at("/a/x")->length, 3);
  EXPECT_EQ(metadata.dimension_at("/b/y")->length, 4);
  EXPECT_EQ(metadata.kind_of("/b"), ObjectKind::group);
}

TEST(Dimensions, NameIsLookedForInTheGroupsAbove) {
  Metadata metadata("f");
  ASSERT_TRUE(define_dimension(metadata, "/x", 3).ok());
  const int variable = define(metadata, definition_of("/a/b/v", {3}));
  ASSERT_TRUE(name_dimensions(metadata, variable, {"x"}).ok());
  EXPECT_EQ(metadata.variable(variable).dimensions, Names{"/x"});
  EXPECT_EQ(metadata.catalog().dimensions.size(), 1U);
}

TEST(Dimensions, LengthsHaveToAgree) {
  Metadata metadata("f");
  ASSERT_TRUE(define_dimension(metadata, "/x", 3).ok());
  const int variable = define(metadata, definition_of("/v", {4, 4}));
  EXPECT_EQ(name_dimensions(metadata, variable, {"x", ""}).code(), Code::bad_argument);
  EXPECT_EQ(name_dimensions(metadata, variable, {"y"}).code(), Code::bad_argument);
  EXPECT_EQ(name_dimensions(metadata, 9, {"y"}).code(), Code::bad_argument);
  EXPECT_EQ(name_dimensions(metadata, variable, {"a/y", ""}).code(), Code::bad_argument);
  EXPECT_TRUE(name_dimensions(metadata, variable, {"y", ""}).ok());
  EXPECT_EQ(metadata.variable(variable).dimensions, (Names{"/y", ""}));
}

TEST(Dimensions, NamesStayAsTheyAre) {
  Metadata metadata("f");
  const int variable = define(metadata, definition_of("/v", {4}));
  ASSERT_TRUE(name_dimensions(metadata, variable, {"x"}).ok());
  EXPECT_TRUE(name_dimensions(metadata, variable, {"x"}).ok());
  const Status status = name_dimensions(metadata, variable, {"y"});
  EXPECT_EQ(status.code(), Code::exists);
  EXPECT_EQ(status.message(), "the dimensions of \"/v\" have names already: x");
}

TEST(Dimensions, VariableOfOneDimensionNamesIt) {
  Metadata metadata("f");
  const int coordinate = define(metadata, definition_of("/x", {3})),
            variable = define(metadata, definition_of("/v", {3}));
  ASSERT_TRUE(name_dimensions(metadata, variable, {"x"}).ok());
  EXPECT_EQ(metadata.variable(variable).dimensions, Names{"/x"});
  EXPECT_EQ(metadata.variable(coordinate).dimensions, Names{"/x"});
  EXPECT_TRUE(metadata.catalog().dimensions.empty());
  define(metadata, definition_of("/y", {2, 2}));
  EXPECT_EQ(name_dimensions(metadata, define(metadata, definition_of("/w", {2})), {"y"}).code(), Code::bad_argument);
}

TEST(Dimensions, VariableTakesTheDimensionOfItsName) {
  Metadata metadata("f");
  for (const auto& [path, length] : {std::pair("/a", 1), {"/x", 3}, {"/y", 4}, {"/z", 5}})
    ASSERT_TRUE(define_dimension(metadata, path, length).ok());
  ASSERT_TRUE(name_dimensions(metadata, define(metadata, definition_of("/x", {3})), {"x"}).ok());
  EXPECT_EQ(metadata.dimension_at("/x"), nullptr);
  for (const auto& [path, length] : {std::pair("/a", 1), {"/y", 4}, {"/z", 5}}) {
    ASSERT_NE(metadata.dimension_at(path), nullptr);
    EXPECT_EQ(metadata.dimension_at(path)->length, length);
  }
}

TEST(Dimensions, NameThatMeansAnotherIsShownAsPath) {
  Metadata metadata("f");
  ASSERT_TRUE(define_dimension(metadata, "/x", 3).ok());
  const int variable = define(metadata, definition_of("/a/v", {3}));
  ASSERT_TRUE(name_dimensions(metadata, variable, {"x"}).ok());
  EXPECT_EQ(metadata.dimension_names(metadata.variable(variable)), Names{"x"});
  ASSERT_TRUE(define_dimension(metadata, "/a/x", 7).ok());
  EXPECT_EQ(metadata.dimension_names(metadata.variable(variable)), Names{"/x"});
}

TEST(Dimensions, GrowWithTheirLongestVariable) {
  Metadata metadata("f");
  const int first = define(metadata, growing("/v", {2, 3})), second = define(metadata, growing("/w", {5, 3}));
  ASSERT_TRUE(name_dimensions(metadata, first, {"time", ""}).ok());
  ASSERT_TRUE(name_dimensions(metadata, second, {"time", ""}).ok());
  EXPECT_EQ(metadata.dimension_at("/time")->length, 5);
  metadata.lengthen(first, 4);
  EXPECT_EQ(metadata.dimension_at("/time")->length, 5);
  metadata.lengthen(first, 9);
  EXPECT_EQ(metadata.dimension_at("/time")->length, 9);
  metadata.set_traits({.grows_as_one = true});
  metadata.grow_as_one(0);
  EXPECT_EQ(metadata.variable(second).shape.front(), 9);
}

TEST(Dimensions, OneThatIsFixedLeadsNoRecords) {
  Metadata metadata("f");
  ASSERT_TRUE(define_dimension(metadata, "/fixed", 3).ok());
  ASSERT_TRUE(define_dimension(metadata, "/endless", 0).ok());
  EXPECT_EQ(name_dimensions(metadata, define(metadata, growing("/v", {5})), {"fixed"}).code(), Code::bad_argument);
  EXPECT_TRUE(name_dimensions(metadata, define(metadata, growing("/w", {2})), {"fixed"}).ok());
  EXPECT_TRUE(name_dimensions(metadata, define(metadata, growing("/u", {5})), {"endless"}).ok());
  EXPECT_EQ(metadata.dimension_at("/endless")->length, 5);
}

TEST(Dimensions, UnlimitedOneHasTheRecordsOfTheFile) {
  Metadata metadata("f");
  metadata.set_traits({.grows_as_one = true});
  ASSERT_TRUE(define_dimension(metadata, "/time", 0).ok());
  define(metadata, definition_of("/time", {2}));
  ASSERT_TRUE(name_dimensions(metadata, define(metadata, growing("/v", {3})), {"time"}).ok());
  EXPECT_EQ(metadata.dimension_at("/time")->length, 3);
}

}  // namespace
}  // namespace windrow::test
