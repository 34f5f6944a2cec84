// SPDX-License-Identifier: BSD-3-Clause
// Which flushes have details, and when lines are added to the file.
#include "reporting/recorder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../temporary_folder.hpp"

namespace windrow::test {
namespace {

using nlohmann::json;

class RecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    recorder_.emplace(*comm_, AppendedText::open(path_, k_trace_begins).value());
    ASSERT_TRUE(recorder_->start(*comm_, {}).ok());
  }
  // By plans with these numbers.
  void flush(std::initializer_list<int64_t> plans, const Status& verdict = {}) {
    FlushReport report;
    for (const int64_t id : plans)
      report.plans.push_back({.plan = {}, .forecast = {}, .cached = false, .id = id, .codec_reason = {}});
    recorder_->begin(0);
    (void)recorder_->needs_details(report, verdict);
    ASSERT_TRUE(recorder_->end(*comm_, {}, {report, {}, verdict, {}}).ok());
  }
  // For each flush in the file: the flush that has its details.
  std::vector<json> details() const {
    std::vector<json> found;
    std::ifstream stream(path_);
    for (std::string line; std::getline(stream, line);)
      if (const json parsed = json::parse(line); parsed.contains("flush"))
        found.push_back(parsed["details"]);
    return found;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("trace");
  std::shared_ptr<Comm> comm_ = Comm::of(MPI_COMM_SELF).value();
  std::optional<Recorder> recorder_;
};

TEST_F(RecorderTest, has_details_of_the_first_flush_with_the_same_plans) {
  for (const auto& plans : std::initializer_list<std::initializer_list<int64_t>>{
           {1}, {1}, {2}, {1, 2}, {2, 1}, {1, 2}, {2}, {}, {}})  // flushes without plans are not compared
    flush(plans);
  recorder_.reset();
  EXPECT_EQ(details(), (std::vector<json>{1, 1, 3, 4, 5, 4, 3, 8, 9}));
}

TEST_F(RecorderTest, has_no_more_than_1000_details) {
  for (int64_t plan = 1; plan <= 1003; ++plan)
    flush({plan});
  flush({1000});
  recorder_.reset();
  const std::vector<json> found = details();
  ASSERT_EQ(found.size(), 1004);
  EXPECT_EQ(found[999], 1000);
  EXPECT_EQ(found[1000], nullptr);
  EXPECT_EQ(found[1003], 1000);
}

TEST_F(RecorderTest, has_details_of_each_flush_that_failed_and_adds_them_at_once) {
  flush({1});
  flush({1});
  flush({1}, {Code::no_space, "no room"});
  EXPECT_EQ(details(), (std::vector<json>{1, 1, 3}));
  flush({1}, {Code::no_space, "no room"});
  flush({1});
  recorder_.reset();
  EXPECT_EQ(details(), (std::vector<json>{1, 1, 3, 4, 1}));
}

}  // namespace
}  // namespace windrow::test
