// SPDX-License-Identifier: BSD-3-Clause
#include "allocation/space_allocator.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

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

class SpaceAllocatorTest : public testing::Test {
 protected:
  SpaceAllocatorTest() : comm_(Comm::of(MPI_COMM_WORLD).value()), metadata_("f.h5"), allocator_(*comm_, metadata_) {
    Catalog catalog;
    catalog.groups.push_back({.path = "/", .attributes = {}});
    catalog.variables = {variable_of("/fixed", {4}, false), variable_of("/a", {2}, true), variable_of("/b", {3}, true)};
    metadata_.take(std::move(catalog));
    allocator_.reserve(5);  // memory for definitions that were refused too
  }
  std::vector<std::pair<int, int64_t>> growing() const {
    std::vector<std::pair<int, int64_t>> found;
    (void)allocator_.for_each_growing([&](int variable, int64_t records) {
      found.emplace_back(variable, records);
      return Status{};
    });
    return found;
  }

  std::shared_ptr<Comm> comm_;
  Metadata metadata_;
  SpaceAllocator allocator_;
};

TEST_F(SpaceAllocatorTest, TheLongestWishOfAllRanksCounts) {
  const std::span<int64_t> wanted = allocator_.start_wanted();
  ASSERT_EQ(wanted.size(), 3U);
  wanted[0] = 9;
  wanted[1] = 3 + comm_->rank();
  wanted[2] = 3;
  ASSERT_TRUE(allocator_.agree_on_wanted({}).ok());
  const std::vector<std::pair<int, int64_t>> expected{{1, 2 + comm_->size()}};
  EXPECT_EQ(growing(), expected);
  std::vector<int> entered;
  ASSERT_TRUE(allocator_.lengthen({}, [&](int variable) { entered.push_back(variable); }).ok());
  EXPECT_EQ(entered, std::vector<int>{1});
  EXPECT_EQ(metadata_.variable(1).shape.front(), 2 + comm_->size());
  EXPECT_FALSE(allocator_.any_grows());
}

TEST_F(SpaceAllocatorTest, AfterAFailureOfOneRankNothingIsLonger) {
  allocator_.start_wanted()[1] = 7;
  ASSERT_TRUE(allocator_.agree_on_wanted({}).ok());
  const bool last = comm_->rank() == comm_->size() - 1;
  const Status status = allocator_.lengthen(last ? Status{Code::io, "no"} : Status{}, [](int) { FAIL(); });
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_EQ(metadata_.variable(1).shape.front(), 2);
}

TEST_F(SpaceAllocatorTest, WishesAreForgottenBeforeTheNext) {
  allocator_.start_wanted()[1] = 7;
  (void)allocator_.start_wanted();
  ASSERT_TRUE(allocator_.agree_on_wanted({}).ok());
  EXPECT_FALSE(allocator_.any_grows());
}

TEST_F(SpaceAllocatorTest, InterleavedRecordsMayBeLeftOverUntilTheyAreCut) {
  metadata_.set_traits({.places_late = true, .grows_as_one = true});
  allocator_.start(false, true);
  EXPECT_EQ(allocator_.first_records(), 3);
  EXPECT_FALSE(allocator_.is_unplaced());
  EXPECT_TRUE(allocator_.may_have_leftovers());
  allocator_.mark_cut();
  EXPECT_FALSE(allocator_.may_have_leftovers());
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
