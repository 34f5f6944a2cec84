// SPDX-License-Identifier: BSD-3-Clause
#include "filling/undefined_elements.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace windrow {
namespace {

class UndefinedElementsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < k_variables; ++i)
      catalog_.variables.emplace_back().path = fmt::format("/v{}", i);
    write_state_.grow(k_variables);
  }
  void move(std::initializer_list<size_t> variables) {
    write_state_.set_moving(
        [&](size_t i) { return std::find(variables.begin(), variables.end(), i) != variables.end(); });
  }
  Status fail(bool in_place) {
    return UndefinedElements(catalog_, write_state_, in_place)
        .add_names({Code::io, "the disk failed", 3}, &VariableState::moving);
  }

  static constexpr int k_variables = 12;
  Catalog catalog_;
  WriteState write_state_;
};

TEST_F(UndefinedElementsTest, NamesAreAddedToTheMessage) {
  move({2, 5});
  const Status status = fail(true);
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_EQ(status.rank(), 3);
  EXPECT_EQ(status.message(), "the disk failed; undefined now: \"/v2\", \"/v5\"");
}

TEST_F(UndefinedElementsTest, AFailureThatTouchedNothingKeepsItsMessage) {
  EXPECT_EQ(fail(true).message(), "the disk failed");
  EXPECT_EQ(fail(false).message(), "the disk failed");
}

TEST_F(UndefinedElementsTest, EarlierFailuresAreNamedInAFileChangedInPlaceOnly) {
  move({2});
  (void)fail(true);
  move({5});
  EXPECT_EQ(fail(true).message(), "the disk failed; undefined now: \"/v2\", \"/v5\"");
  EXPECT_EQ(fail(false).message(), "the disk failed; undefined now: \"/v5\"");
}

TEST_F(UndefinedElementsTest, OnlyTheFirstEightAreNamed) {
  write_state_.set_moving([](size_t) { return true; });
  const std::string message = fail(false).message();
  EXPECT_NE(message.find("\"/v7\" and 4 more"), std::string::npos) << message;
  EXPECT_EQ(message.find("/v8"), std::string::npos) << message;
}

TEST_F(UndefinedElementsTest, AFailedSyncLeavesUndefinedWhatWasWrittenSinceTheLast) {
  write_state_[1].unsynced = true;
  const UndefinedElements undefined(catalog_, write_state_, true);
  EXPECT_EQ(undefined.end_sync({Code::out_of_memory, "no memory"}).message(), "no memory");
  EXPECT_EQ(undefined.end_sync({Code::io, "the disk failed"}).message(), "the disk failed; undefined now: \"/v1\"");
  EXPECT_TRUE(undefined.end_sync({}).ok());
  EXPECT_FALSE(write_state_[1].unsynced);
  EXPECT_EQ(undefined.end_sync({Code::io, "the disk failed"}).message(), "the disk failed; undefined now: \"/v1\"");
}

TEST_F(UndefinedElementsTest, AFailedSyncOfANewFileLeavesNothing) {
  write_state_[1].unsynced = true;
  EXPECT_EQ(UndefinedElements(catalog_, write_state_, false).end_sync({Code::io, "the disk failed"}).message(),
            "the disk failed");
}

}  // namespace
}  // namespace windrow
