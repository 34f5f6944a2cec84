// SPDX-License-Identifier: BSD-3-Clause
// Definitions without an open file: metadata on every rank, and an HDF5 format on rank 0.
#include "definitions/define_protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../temporary_folder.hpp"
#include "definitions/variable_definitions.hpp"

namespace windrow {
namespace {

using testing::HasSubstr;

Attribute attribute_of(std::string name, int32_t value) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = Type::int32;
  attribute.data.resize(sizeof(value));
  std::memcpy(attribute.data.data(), &value, sizeof(value));
  return attribute;
}

VariableDefinition variable_of(std::string path, std::vector<int64_t> shape) {
  VariableDefinition definition;
  definition.path = std::move(path);
  definition.type = Type::float64;
  definition.shape = std::move(shape);
  return definition;
}

class DefineProtocolTest : public testing::Test {
 protected:
  DefineProtocolTest() : comm_(Comm::of(MPI_COMM_WORLD).value()), metadata_("f.h5"), allocator_(*comm_, metadata_) {}
  void SetUp() override {
    if (std::ranges::find(format_names(), "hdf5") == format_names().end())
      GTEST_SKIP() << "built without HDF5";
    if (comm_->rank() == 0) {
      folder_ = std::make_unique<test::TemporaryFolder>();
      auto format = open_format("hdf5", folder_->path("f.h5"), FormatMode::create, {});
      EXPECT_TRUE(format.ok()) << format.status().message();
      format_ = std::move(format).value();
      metadata_.set_traits(format_->traits());
    }
    write_state_.grow(1000);
  }
  DefineProtocol::Parts parts() {
    return {.comm = *comm_, .metadata = metadata_, .allocator = allocator_, .format = format_.get(), .set = set_};
  }
  DefineProtocol protocol() { return DefineProtocol(parts()); }
  Status define(std::vector<VariableDefinition> definitions) {
    VariableDefinitions made(parts(), write_state_, definitions);
    Status local = made.check();
    if (local.ok())
      made.reserve();
    Status verdict = made.compare(std::move(local), true);
    return verdict.ok() ? made.make() : verdict;
  }
  bool is_last() const { return comm_->rank() == comm_->size() - 1; }

  std::shared_ptr<Comm> comm_;
  Metadata metadata_;
  SpaceAllocator allocator_;
  WriteState write_state_;
  SubfileSet set_{*comm_, FormatMode::create, metadata_.catalog(), write_state_};
  std::unique_ptr<test::TemporaryFolder> folder_;
  std::unique_ptr<Format> format_;
};

TEST_F(DefineProtocolTest, AllRanksEnterWhatRankZeroHasMade) {
  ASSERT_TRUE(protocol().define_group("/a/b", {}).ok());
  ASSERT_TRUE(protocol().define_link("/c/link", "/a/b", {}).ok());
  EXPECT_EQ(metadata_.kind_of("/a/b"), ObjectKind::group);
  EXPECT_EQ(metadata_.kind_of("/c"), ObjectKind::group);
  EXPECT_EQ(metadata_.resolve("/c/link").value(), "/a/b");
}

TEST_F(DefineProtocolTest, ArgumentsThatDifferAreRefusedOnAllRanks) {
  if (comm_->size() == 1)
    GTEST_SKIP() << "one rank";
  const Status status = protocol().define_group(is_last() ? "/b" : "/a", {});
  EXPECT_EQ(status.code(), Code::bad_argument);
  EXPECT_THAT(status.message(), HasSubstr("the paths of the group"));
  EXPECT_EQ(metadata_.kind_of("/a"), ObjectKind::nothing);
}

TEST_F(DefineProtocolTest, AnErrorOfOneRankEndsTheCallOnAll) {
  const Status status = protocol().define_group("/a", is_last() ? Status{Code::bad_state, "not now"} : Status{});
  EXPECT_EQ(status.code(), Code::bad_state);
  EXPECT_EQ(metadata_.kind_of("/a"), ObjectKind::nothing);
  EXPECT_TRUE(protocol().define_group("/a", {}).ok());
}

TEST_F(DefineProtocolTest, RankZerosAttributeCounts) {
  ASSERT_TRUE(protocol().put_attribute("/", attribute_of("n", 7 + comm_->rank()), {}).ok());
  ASSERT_EQ(metadata_.attributes_of("/")->size(), 1U);
  EXPECT_EQ(metadata_.attributes_of("/")->front().data, attribute_of("n", 7).data);
  ASSERT_TRUE(protocol().delete_attribute("/", "n", {}).ok());
  EXPECT_TRUE(metadata_.attributes_of("/")->empty());
}

TEST_F(DefineProtocolTest, AnAttributeNeedsAName) {
  EXPECT_EQ(protocol().put_attribute("/", attribute_of("", 1), {}).message(), "an attribute of \"/\" needs a name");
}

TEST_F(DefineProtocolTest, FewAndManyVariablesAreMadeInTheirOrder) {
  std::vector<VariableDefinition> few, many;
  for (int i = 0; i < 3; ++i)
    few.push_back(variable_of("/few/v" + std::to_string(i), {4}));
  for (int i = 0; i < 450; ++i)
    many.push_back(variable_of("/many/v" + std::to_string(i), {4}));
  ASSERT_TRUE(define(std::move(few)).ok());
  ASSERT_TRUE(define(std::move(many)).ok());
  ASSERT_EQ(metadata_.catalog().variables.size(), 453U);
  EXPECT_EQ(metadata_.find_variable("/few/v2").value(), 2);
  EXPECT_EQ(metadata_.find_variable("/many/v449").value(), 452);
  EXPECT_GT(metadata_.variable(452).placement.offset, metadata_.variable(0).placement.offset);
  EXPECT_TRUE(write_state_[452].never_written);
}

TEST_F(DefineProtocolTest, ARefusedCallMakesNothing) {
  const std::vector<VariableDefinition> twice{variable_of("/g/v", {4}), variable_of("/g/v", {4})};
  EXPECT_EQ(define(twice).code(), Code::exists);
  EXPECT_TRUE(metadata_.catalog().variables.empty());
  EXPECT_EQ(metadata_.kind_of("/g"), ObjectKind::nothing);
}

TEST_F(DefineProtocolTest, WhatTheFormatRefusesIsWithdrawnOnAllRanks) {
  if (format_) {  // rank 0's format has a group that its catalog does not have
    ASSERT_TRUE(format_->define_group("/taken").ok());
  }
  std::vector<VariableDefinition> definitions{variable_of("/first", {4}), variable_of("/taken", {4})};
  EXPECT_FALSE(define(std::move(definitions)).ok());
  ASSERT_EQ(metadata_.catalog().variables.size(), 1U);
  EXPECT_EQ(metadata_.variable(0).path, "/first");
}

TEST_F(DefineProtocolTest, DimensionsNameVariables) {
  ASSERT_TRUE(define({variable_of("/v", {4, 5})}).ok());
  ASSERT_TRUE(protocol().define_dimension("/y", 4, {}).ok());
  ASSERT_TRUE(protocol().name_dimensions(0, {"y", "x"}, {}).ok());
  EXPECT_EQ(metadata_.kind_of("/y"), ObjectKind::dimension);
  EXPECT_EQ(metadata_.dimension_names(metadata_.variable(0)), (std::vector<std::string>{"y", "x"}));
}

}  // namespace
}  // namespace windrow
