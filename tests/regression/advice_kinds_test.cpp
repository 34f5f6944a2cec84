// SPDX-License-Identifier: BSD-3-Clause
// Advice names a kind of flush once, however many files and variables of a time series have it.
#include <nlohmann/json.hpp>

#include <vector>

#include "../capi/report.hpp"
#include "../fault/scene.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

constexpr int64_t k_rows = 16, k_columns = 1000;

// `files` files of `variables` variables each, one flush per variable; equal except for their offsets in the file. Then
// one with another shape.
void write_series(SharedFolder& folder, const std::string& trace, int files, int variables) {
  const int64_t shape[2] = {k_rows * size_of(), k_columns}, start[2] = {k_rows * rank_of(), 0},
                count[2] = {k_rows, k_columns};
  const int64_t other[2] = {k_columns, k_rows * size_of()}, other_start[2] = {0, k_rows * rank_of()},
                other_count[2] = {k_columns, k_rows};
  const std::vector<double> values(static_cast<size_t>(k_rows * k_columns), 1.5);
  for (int i = 0; i < files; ++i) {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file("step" + std::to_string(i) + ".raw").c_str(),
                                     Options({{"trace", trace}}), &file));
    std::vector<int> numbers(static_cast<size_t>(variables));
    int last = 0;
    for (int& number : numbers)
      EXPECT_WINDROW_OK(windrow_define_variable(file, ("v" + std::to_string(&number - numbers.data())).c_str(),
                                                WINDROW_FLOAT64, 2, shape, &number));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "other", WINDROW_FLOAT64, 2, other, &last));
    for (const int number : numbers)
      EXPECT_WINDROW_OK(windrow_write_block(file, number, start, count, values.data()));
    EXPECT_WINDROW_OK(windrow_write_block(file, last, other_start, other_count, values.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

}  // namespace

TEST(Advice, names_a_kind_of_flush_once_for_all_files) {
  SharedFolder folder;
  const std::string trace = folder.file("trace.jsonl");
  constexpr int k_files = 3, k_variables = 4;
  write_series(folder, trace, k_files, k_variables);
  MPI_Barrier(MPI_COMM_WORLD);
  const char* text = nullptr;
  ASSERT_WINDROW_OK(windrow_advise(trace.c_str(), nullptr, "json", &text));
  const json kinds = json::parse(text)["kinds"];
  // One rank's rows and columns are one piece each, and so the same.
  ASSERT_EQ(kinds.size(), size_of() == 1 ? 1U : 2U) << kinds.dump();
  EXPECT_EQ(kinds[0]["files"], k_files);
  EXPECT_EQ(kinds[0]["flushes"].size(), size_of() == 1 ? k_files * (k_variables + 1) : k_files * k_variables);
  ASSERT_WINDROW_OK(windrow_advise(trace.c_str(), nullptr, "text", &text));
  EXPECT_NE(std::string(text).find(" flushes of 3 files"), std::string::npos) << text;
}

// The trace has the base file's stripes. Where the subfiles' bytes are in the line of a set these say nothing of.
TEST(Advice, deals_no_targets_of_a_set) {
  SharedFolder folder;
  constexpr int64_t k_long = 1 << 17;
  const int64_t shape[2] = {k_long, size_of()}, start[2] = {0, rank_of()}, count[2] = {k_long, 1};
  const std::vector<double> values(static_cast<size_t>(k_long), 1.5);
  for (const bool is_set : {false, true}) {
    const std::string trace = folder.file(is_set ? "set.jsonl" : "file.jsonl");
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(
        MPI_COMM_WORLD, folder.file("a.raw").c_str(),
        Options({{"trace", trace}, {"layout", "mock:stripe=64KiB,count=4"}, {"files", is_set ? "subfiles(2)" : "one"}}),
        &file));
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, shape, &variable));
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, values.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
    MPI_Barrier(MPI_COMM_WORLD);
    const char* text = nullptr;
    ASSERT_WINDROW_OK(windrow_advise(trace.c_str(), nullptr, "json", &text));
    const json kinds = json::parse(text)["kinds"];
    ASSERT_EQ(kinds.size(), 1U) << text;
    const bool has_targets =
        kinds[0].contains("alternatives") && kinds[0]["alternatives"].dump().find("target") != std::string::npos;
    EXPECT_EQ(has_targets, !is_set && size_of() > 1) << kinds[0].dump();
  }
}
