// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_folder.hpp"
#include "storage/faulty/fault_plan.hpp"
#include "storage/store.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

class FaultyStore : public testing::Test {
 protected:
  Result<std::unique_ptr<Store>> open(const std::string& fault, int rank = 0) {
    return open_store(folder_.path("file"), StoreMode::create, {.kind = "faulty", .fault = fault, .rank = rank});
  }
  TemporaryFolder folder_;
  const std::vector<std::byte> bytes_ = std::vector<std::byte>(1000, std::byte{3});
};

}  // namespace

TEST_F(FaultyStore, fails_once_after_the_given_number_of_calls) {
  auto store = open("operation=write,after=2,error=no_space");
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_TRUE(store.value()->write_at(0, bytes_).ok());
  EXPECT_TRUE(store.value()->write_at(1000, bytes_).ok());
  const Status third = store.value()->write_at(2000, bytes_);
  EXPECT_EQ(third.code(), Code::no_space);
  EXPECT_THAT(third.message(), HasSubstr("write of 1.0 kB at offset 2000 of \""));
  EXPECT_THAT(third.message(), HasSubstr("no space left on device"));
  EXPECT_TRUE(store.value()->write_at(2000, bytes_).ok());
  EXPECT_EQ(store.value()->counters().write_requests, 4);
  EXPECT_EQ(store.value()->counters().bytes_written, 3000);
}

TEST_F(FaultyStore, fails_each_kind_of_operation) {
  std::vector<std::byte> back(1000);
  EXPECT_EQ(open("operation=open,error=no_permission").status().code(), Code::no_permission);
  auto reading = open("operation=read,error=io");
  ASSERT_TRUE(reading.value()->write_at(0, bytes_).ok());
  EXPECT_EQ(reading.value()->read_at(0, back).code(), Code::io);
  EXPECT_TRUE(reading.value()->read_at(0, back).ok());
  auto resizing = open("operation=resize,error=no_space");
  EXPECT_EQ(resizing.value()->resize(10).code(), Code::no_space);
  EXPECT_EQ(resizing.value()->size().value(), 0);
  auto syncing = open("operation=sync,error=io");
  EXPECT_EQ(syncing.value()->sync().code(), Code::io);
  EXPECT_TRUE(syncing.value()->sync().ok());
}

TEST_F(FaultyStore, continues_a_short_write) {
  auto store = open("operation=write,error=short");
  const std::vector<std::byte> other(501, std::byte{8});
  const std::vector<ConstSlice> slices{{bytes_.data(), 1000}, {other.data(), 501}, {bytes_.data(), 7}};
  ASSERT_TRUE(store.value()->write_slices_at(5, slices).ok());
  EXPECT_EQ(store.value()->counters().write_requests, 2) << "the short one and its continuation";
  EXPECT_EQ(store.value()->counters().bytes_written, 1508);
  std::vector<std::byte> expected(bytes_);
  expected.insert(expected.end(), other.begin(), other.end());
  expected.insert(expected.end(), bytes_.begin(), bytes_.begin() + 7);
  std::vector<std::byte> back(1508);
  ASSERT_TRUE(store.value()->read_at(5, back).ok());
  EXPECT_EQ(back, expected);
}

TEST_F(FaultyStore, continues_a_short_read) {
  auto store = open("operation=read,error=short,after=0");
  ASSERT_TRUE(store.value()->write_at(0, bytes_).ok());
  std::vector<std::byte> back(1000);
  ASSERT_TRUE(store.value()->read_at(0, back).ok());
  EXPECT_EQ(back, bytes_);
  EXPECT_EQ(store.value()->counters().read_requests, 2);
}

TEST_F(FaultyStore, fails_on_its_rank_only) {
  const std::string fault = "rank=1,operation=write,error=io";
  EXPECT_TRUE(open(fault, 0).value()->write_at(0, bytes_).ok());
  EXPECT_EQ(open(fault, 1).value()->write_at(0, bytes_).code(), Code::io);
  EXPECT_EQ(open("operation=write,error=io", 3).value()->write_at(0, bytes_).code(), Code::io)
      << "no rank is every rank";
}

TEST_F(FaultyStore, names_the_field_that_is_wrong) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"operation=write,error=io,colour=red", "colour"},
      {"operation=fly,error=io", "operation"},
      {"operation=write,error=magic", "error"},
      {"operation=write,error=io,after=-1", "after"},
      {"operation=write,error=io,after=3x", "after"},
      {"operation=write,error=io,after=99999999999999999999", "after"},
      {"operation=write,error=io,rank=", "rank"},
      {"operation=write,error=io,rank=-1", "rank"},
      {"operation=write,operation=read,error=io", "operation: given twice"},
      {"operation=write", "error: missing"},
      {"error=io", "operation: missing"},
      {"operation=sync,error=short", "error"},
      {"operation=open,error=io,after=1", "after"},
      {"operation", "operation"},
      {"operation=write,,error=io", "\"\""},
      {"operation=write,error=io,", "\"\""},
  };
  for (const auto& [fault, field] : mistakes) {
    const auto store = open(fault);
    ASSERT_FALSE(store.ok()) << fault;
    EXPECT_EQ(store.status().code(), Code::bad_argument) << fault;
    EXPECT_THAT(store.status().message(), HasSubstr(field)) << fault;
  }
}

}  // namespace windrow::test
