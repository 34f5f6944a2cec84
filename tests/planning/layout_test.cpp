// SPDX-License-Identifier: BSD-3-Clause
// Layouts of the storage, stood for by mocks: the plan and the report say them, and domains end where stripes do.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <numeric>

#include "../capi/files.hpp"
#include "../capi/report.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t k_kib = 1024;

std::string plan_of(windrow_file* file) {
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_explain(file, "text", &text));
  return text;
}

class Layouts : public Files {
 protected:
  // A grid of columns: every rank has pieces all over the file.
  static constexpr int64_t k_rows = 4000, k_columns = 24;
  void TearDown() override {
    if (file_ != nullptr) {
      EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
    }
  }
  int create(const KeyValues& values) {
    KeyValues all{{"domains", "aligned"}, {"access", "contiguous"}};
    if (std::none_of(values.begin(), values.end(), [](const auto& each) { return each.first == "writers"; }))
      all.push_back({"writers", "3"});
    all.insert(all.end(), values.begin(), values.end());
    const Options options(all);
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file_));
    const int64_t shape[2] = {k_rows, k_columns * size_of()};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file_, "grid", WINDROW_FLOAT64, 2, shape, &variable));
    return variable;
  }
  void write(int variable) {
    std::iota(data_.begin(), data_.end(), 1e6 * rank_of());
    EXPECT_WINDROW_OK(windrow_write_block(file_, variable, start_, count_, data_.data()));
  }
  void expect_data(int variable) {
    std::vector<double> read(data_.size(), -1);
    EXPECT_WINDROW_OK(windrow_read_block(file_, variable, start_, count_, read.data()));
    EXPECT_EQ(read, data_);
  }
  // Of the last plan: its domains, without the ends of all.
  static std::vector<int64_t> cuts(const json& report) {
    std::vector<int64_t> found;
    const json& domains = report["plans"].back()["domain_bytes"];
    for (size_t i = 1; i < domains.size(); ++i)
      if (domains[i][0] < domains[i][1] && domains[i - 1][0] < domains[i - 1][1])
        found.push_back(domains[i][0]);
    return found;
  }

  windrow_file* file_ = nullptr;
  const int64_t start_[2] = {0, k_columns*rank_of()}, count_[2] = {k_rows, k_columns};
  std::vector<double> data_ = std::vector<double>(static_cast<size_t>(k_rows * k_columns));
};

}  // namespace

TEST_P(Layouts, are_told_in_plan_and_report) {
  const int variable = create({{"layout", "mock:stripe=64KiB,count=4"}});
  write(variable);
  const json report = report_of(file_);
  EXPECT_EQ(report["layout"], "mock: stripe size 64 KiB, stripe count 4 on targets 0, 1, 2, 3");
  EXPECT_THAT(plan_of(file_), HasSubstr("layout mock: stripe size 64 KiB"));
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_report(file_, "text", &text));
  EXPECT_THAT(text, HasSubstr("stripe count 4"));
  expect_data(variable);
}

TEST_P(Layouts, have_no_stripe_with_two_writers) {
  const int variable = create({{"layout", "mock:stripe=192KiB,count=5"}});
  write(variable);
  const json report = report_of(file_);
  for (const int64_t cut : cuts(report))
    EXPECT_EQ(cut % (192 * k_kib), 0) << cut;
  EXPECT_EQ(report["plans"][0]["writers"].size(), static_cast<size_t>(std::min(3, size_of())));
  if (size_of() >= 3) {
    EXPECT_GE(cuts(report).size(), 1u);
  }
  EXPECT_EQ(report["bytes_written"], k_rows * k_columns * 8 * size_of()) << "no byte twice";
  EXPECT_EQ(report["write_requests"], report["plans"][0]["expected"]["write_requests"]);
  expect_data(variable);
  for (const int64_t cut : cuts(report_of(file_)))
    EXPECT_EQ(cut % (192 * k_kib), 0) << "readers too";
}

TEST_P(Layouts, with_components_are_cut_where_the_stripes_of_each_end) {
  const int variable = create({{"layout", "mock:stripe=64KiB,count=1,until=640KiB;stripe=320KiB,count=4"}});
  write(variable);
  for (const int64_t cut : cuts(report_of(file_)))
    EXPECT_EQ(cut % (cut < 640 * k_kib ? 64 * k_kib : 320 * k_kib), 0) << cut;
  expect_data(variable);
}

TEST_P(Layouts, give_way_to_a_unit_that_is_asked_for) {
  const int variable = create({{"layout", "mock:stripe=192KiB,count=5"}, {"align", "4096"}});
  write(variable);
  const std::vector<int64_t> found = cuts(report_of(file_));
  for (const int64_t cut : found)
    EXPECT_EQ(cut % 4096, 0) << cut;
  // By set_strategy too, and back.
  ASSERT_WINDROW_OK(windrow_set_strategy(file_, Options{{"align", "0"}}));
  write(variable);
  for (const int64_t cut : cuts(report_of(file_)))
    EXPECT_EQ(cut % (192 * k_kib), 0) << cut;
  expect_data(variable);
}

TEST_P(Layouts, of_any_kind_bring_the_same_data_back) {
  for (const char* layout : {"none", "auto", "mock:stripe=1MiB,count=8", "mock:stripe=4097,count=3,targets=2",
                             "mock:stripe=1GiB,count=1", "mock:stripe=64KiB,count=2,until=100000"}) {
    SCOPED_TRACE(layout);
    const int variable = create({{"layout", layout}});
    write(variable);
    expect_data(variable);
    EXPECT_EQ(report_of(file_)["layout"] == "not known", std::string(layout) == "none");
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
    // Opening for reading plans by a layout too.
    const Options other{{"layout", "mock:stripe=128KiB,count=3"}, {"domains", "aligned"}, {"writers", "2"}};
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, other, &file_));
    expect_data(variable);
    for (const int64_t cut : cuts(report_of(file_)))
      EXPECT_EQ(cut % (128 * k_kib), 0) << cut;
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
}

TEST_P(Layouts, take_the_stripes_that_are_asked_for) {
  const int variable = create({{"layout", "mock:stripe=64KiB,count=1"}, {"stripe", "size=128KiB,count=3,first=2"}});
  write(variable);
  EXPECT_EQ(report_of(file_)["layout"], "mock: stripe size 128 KiB, stripe count 3 on targets 2, 3, 4");
  EXPECT_THAT(plan_of(file_), HasSubstr("as asked"));
  for (const int64_t cut : cuts(report_of(file_)))
    EXPECT_EQ(cut % (128 * k_kib), 0) << cut;
  expect_data(variable);
}

TEST_P(Layouts, follow_the_size_that_is_expected) {
  const int variable = create(
      {{"layout", "mock:stripe=64KiB,count=1"}, {"expected_bytes", "40GiB"}, {"writers", "7"}, {"buffer", "1MiB"}});
  write(variable);
  EXPECT_THAT(report_of(file_)["layout"].get<std::string>(), HasSubstr("stripe size 1 MiB, stripe count 7"));
  EXPECT_THAT(plan_of(file_), HasSubstr("40 GiB expected and 7 writers"));
  expect_data(variable);
}

TEST_P(Layouts, that_cannot_be_are_an_error_on_all_ranks_and_leave_no_trace) {
  for (const KeyValues& values :
       {KeyValues{{"layout", "mock:stripe=0,count=3"}},
        KeyValues{{"layout", "mock:stripe=1MiB,until=3MiB;stripe=1MiB,until=2MiB"}}, KeyValues{{"layout", "striped"}},
        KeyValues{{"stripe", "size=1000"}}, KeyValues{{"stripe", "count=0"}},
        KeyValues{{"stripe", "count=3"}, {"layout", "none"}}}) {
    const Options options(values);
    windrow_file* file = nullptr;
    EXPECT_EQ(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file), WINDROW_BAD_ARGUMENT) << values[0].second;
    EXPECT_THAT(windrow_error_message(), HasSubstr(values[0].first));
    EXPECT_EQ(file, nullptr);
    EXPECT_TRUE(folder_.names().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Layouts, testing::Values(".raw", ".h5"),
                         [](const auto& each) { return each.param.substr(1); });
