// SPDX-License-Identifier: BSD-3-Clause
#include "allocation/space_allocator.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace windrow {
namespace {

Variable variable_of(std::string path, std::vector<int64_t> shape, bool extendible) {
  Variable variable;
  variable.path = std::move(path);
  variable.type = Type::float64;
  variable.shape = std::move(shape);
  variable.extendible = extendible;
  variable.placement = {.offset = 0, .bytes = 8};
  return variable;
}

TEST(CheckGrowth, ALengthThatNoFileHasIsRefused) {
  const Variable variable = variable_of("/v", {1, 1000}, true);
  EXPECT_TRUE(check_growth(variable, int64_t{1} << 40, true).ok());
  EXPECT_EQ(check_growth(variable, int64_t{1} << 60, true).message(),
            "\"/v\" with 1152921504606846976 records exceeds the maximum size of a file");
}

TEST(CheckGrowth, ASetWithoutRoomIsNamed) {
  EXPECT_EQ(check_growth(variable_of("/v", {1, 2}, true), 5, false).message(),
            "\"/v\" with 5 records exceeds the maximum size of a set of subfiles");
}

// Keeps what it is asked for.
class FakeFormat final : public Format {
 public:
  std::vector<std::pair<std::string, int64_t>> extended;
  std::vector<int64_t> cuts;
  Status failure;

  Status extend(const std::string& path, std::span<const int64_t> shape) override {
    extended.emplace_back(path, shape.front());
    return failure;
  }
  Status cut(int64_t records) override {
    cuts.push_back(records);
    return {};
  }
  Result<int64_t> give_place(const std::string&) override { return 4096; }
  Status define_group(const std::string&) override { return {}; }
  Result<Placement> define_variable(const VariableDefinition&) override { return Placement{}; }
  Status undefine(const std::string&, int64_t) override { return {}; }
  Status put_attribute(const std::string&, const Attribute&) override { return {}; }
  Status delete_attribute(const std::string&, const std::string&) override { return {}; }
  Status define_link(const SoftLink&) override { return {}; }
  Status define_dimension(const Dimension&) override { return {}; }
  Status name_dimensions(const std::string&, const std::vector<std::string>&) override { return {}; }
  Result<std::vector<std::string>> read_texts(const std::string&) override { return std::vector<std::string>(); }
  Status write_texts(const std::string&, const std::vector<std::string>&) override { return {}; }
  Result<Catalog> catalog() override { return Catalog{}; }
  Status flush() override { return {}; }
  Status close() override { return {}; }
};

class SpaceAllocatorTest : public testing::Test {
 protected:
  SpaceAllocatorTest()
      : comm_(Comm::of(MPI_COMM_WORLD).value()),
        metadata_("f.h5"),
        allocator_(*comm_, metadata_),
        file_("no such file", false, {}) {
    Catalog catalog;
    catalog.groups.push_back({.path = "/", .attributes = {}});
    catalog.variables = {variable_of("/fixed", {4}, false), variable_of("/a", {2}, true), variable_of("/b", {3}, true),
                         variable_of("/unwritten", {5}, false)};
    catalog.variables[3].is_inline = true;
    catalog.variables[3].placement = {.offset = -1, .bytes = 40};
    metadata_.take(std::move(catalog));
    allocator_.reserve(6);  // memory for definitions that were refused too
  }
  SpaceAllocator::Formats formats() {
    return {.base = comm_->rank() == 0 ? &format_ : nullptr, .set = set_, .file = file_};
  }
  void want(size_t variable, int64_t number) {
    allocator_.start_wanted()[variable] = number;
    ASSERT_TRUE(allocator_.agree_on_wanted({}).ok());
  }
  Status extend() {
    return allocator_.extend(formats(), [this](int variable) { entered_.push_back(variable); });
  }

  std::shared_ptr<Comm> comm_;
  Metadata metadata_;
  SpaceAllocator allocator_;
  WriteState write_state_;
  SubfileSet set_{*comm_, FormatMode::update, metadata_.catalog(), write_state_};
  DataFile file_;
  FakeFormat format_;
  std::vector<int> entered_;
};

TEST_F(SpaceAllocatorTest, TheLongestWishOfAllRanksCounts) {
  const std::span<int64_t> wanted = allocator_.start_wanted();
  ASSERT_EQ(wanted.size(), 4U);
  wanted[0] = 9;
  wanted[1] = 3 + comm_->rank();
  wanted[2] = 3;
  ASSERT_TRUE(allocator_.agree_on_wanted({}).ok());
  EXPECT_TRUE(allocator_.any_grows());
  ASSERT_TRUE(extend().ok());
  const int64_t records = 2 + comm_->size();
  if (comm_->rank() == 0) {
    EXPECT_EQ(format_.extended, (std::vector<std::pair<std::string, int64_t>>{{"/a", records}}));
  }
  EXPECT_EQ(entered_, std::vector<int>{1});
  EXPECT_EQ(metadata_.variable(1).shape.front(), records);
  EXPECT_FALSE(allocator_.any_grows());
}

TEST_F(SpaceAllocatorTest, WhatTheFormatRefusesIsLongerOnNoRank) {
  want(1, 7);
  format_.failure = {Code::no_space, "no space"};
  EXPECT_EQ(extend().code(), Code::no_space);
  EXPECT_TRUE(entered_.empty());
  EXPECT_EQ(metadata_.variable(1).shape.front(), 2);
}

TEST_F(SpaceAllocatorTest, WishesAreForgottenBeforeTheNext) {
  want(1, 7);
  (void)allocator_.start_wanted();
  ASSERT_TRUE(allocator_.agree_on_wanted({}).ok());
  EXPECT_FALSE(allocator_.any_grows());
}

TEST_F(SpaceAllocatorTest, AFirstPutGivesAPlace) {
  want(3, 1);
  ASSERT_TRUE(allocator_.give_places(formats().base).ok());
  EXPECT_EQ(metadata_.variable(3).placement.offset, 4096);
  EXPECT_EQ(allocator_.wanted()[3], 0);
}

TEST_F(SpaceAllocatorTest, InterleavedRecordsThatAreLeftOverAreCutOnce) {
  metadata_.set_traits({.places_late = true, .grows_as_one = true});
  allocator_.start(false, true);
  EXPECT_FALSE(allocator_.is_unplaced());
  ASSERT_TRUE(allocator_.cut_leftovers(formats()).ok());
  want(1, 7);
  ASSERT_TRUE(extend().ok());
  ASSERT_TRUE(allocator_.cut_leftovers(formats()).ok());
  if (comm_->rank() == 0) {
    EXPECT_EQ(format_.cuts, (std::vector<int64_t>{3, 3}));
  }
}

TEST_F(SpaceAllocatorTest, ANewFileOfLateAllocationIsUnplaced) {
  metadata_.set_traits({.places_late = true});
  allocator_.start(true, false);
  EXPECT_TRUE(allocator_.is_unplaced());
  allocator_.mark_placed();
  EXPECT_FALSE(allocator_.is_unplaced());
  allocator_.mark_unplaced();
  EXPECT_TRUE(allocator_.is_unplaced());
}

}  // namespace
}  // namespace windrow
