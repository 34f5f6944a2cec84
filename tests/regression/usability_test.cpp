// SPDX-License-Identifier: BSD-3-Clause
// First steps of users: names of files in upper case, numbers in messages, misspelt environment variables.
#include <gmock/gmock.h>

#include <numeric>

#include "../capi/report.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using testing::Not;

// One row of four a rank; the file's report as text.
std::string write_file(const std::string& path) {
  windrow_file* file = nullptr;
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file));
  if (file == nullptr)
    return "";
  const int64_t shape[2] = {size_of(), 4}, start[2] = {rank_of(), 0}, count[2] = {1, 4};
  int32_t values[4];
  std::iota(values, values + 4, 4 * rank_of());
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 2, shape, &variable));
  EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, values));
  const char* text = "";
  EXPECT_WINDROW_OK(windrow_report(file, "text", &text));
  const std::string report = text;
  EXPECT_WINDROW_OK(windrow_close(file));
  return report;
}

void expect_written(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
  const int64_t start[2] = {rank_of(), 0}, count[2] = {1, 4};
  int32_t values[4] = {};
  EXPECT_WINDROW_OK(windrow_read_block(file, 0, start, count, values));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(values[i], 4 * rank_of() + i);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST(NamesOfFiles, end_in_small_letters_or_capitals) {
  const SharedFolder folder;
  std::vector<std::string> names{"A.RAW", "B.Raw"};
  if (windrow_has("hdf5") != 0)
    names.insert(names.end(), {"C.H5", "D.HDF5", "E.Nc4"});
  if (windrow_has("netcdf") != 0)
    names.insert(names.end(), {"F.NC", "G.CDF", "H.Nc"});
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    write_file(folder.file(name));
    expect_written(folder.file(name));
  }
}

TEST(NamesOfFiles, of_sidecars_in_capitals_are_found) {
  const SharedFolder folder;
  write_file(folder.file("RUN.RAW"));
  if (rank_of() == 0)
    std::filesystem::rename(folder.file("RUN.RAW.json"), folder.file("RUN.RAW.JSON"));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_written(folder.file("RUN.RAW"));
}

TEST(Messages, count_one_thing_as_one) {
  const SharedFolder folder;
  const std::string report = write_file(folder.file("v.raw"));
  EXPECT_THAT(report,
              HasSubstr(size_of() == 1 ? "flush of 1 rank:" : "flush of " + std::to_string(size_of()) + " ranks:"));
  if (size_of() == 1) {
    EXPECT_THAT(report, HasSubstr(" in 1 request\n"));
  }
  EXPECT_THAT(report, Not(testing::ContainsRegex("[^0-9.]1 (requests|messages|ranks|bytes)")));
}

TEST(Messages, count_as_fortran_does_where_a_binding_asks_for_it) {
  const int64_t shape[2] = {8, 4}, start[2] = {7, 0}, count[2] = {2, 4};
  const auto message = [&] {
    windrow_decomposition* none = nullptr;
    EXPECT_EQ(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &none), WINDROW_BAD_ARGUMENT);
    return std::string(windrow_error_message());
  };
  EXPECT_THAT(message(), HasSubstr("block of dimension 0 ends at 9 but the shape is 8"));
  EXPECT_EQ(windrow_set_numbering(WINDROW_NUMBERING_FORTRAN), WINDROW_NUMBERING_C);
  EXPECT_THAT(message(), HasSubstr("block of dimension 2 ends at 9 but the shape is 8"));
  EXPECT_EQ(windrow_set_numbering(99), WINDROW_NUMBERING_FORTRAN);
  EXPECT_EQ(windrow_set_numbering(WINDROW_NUMBERING_C), WINDROW_NUMBERING_FORTRAN);
  EXPECT_THAT(message(), HasSubstr("block of dimension 0 "));
}

TEST(Environment, with_a_misspelt_option_is_warned_of) {
  const SharedFolder folder;
  const auto warnings = [](const std::string& report) {
    return report.substr(std::min(report.find("warning"), report.size()));
  };
  const std::string before = warnings(write_file(folder.file("a.raw")));
  EXPECT_EQ(before, "");
  setenv("WINDROW_STRATGY", "two-phase", 1);
  setenv("WINDROW_ABOUT_NOTHING", "1", 1);
  const std::string report = write_file(folder.file("b.raw"));
  EXPECT_THAT(report, HasSubstr("WINDROW_STRATGY: there is no option of this name; did you mean WINDROW_STRATEGY?"));
  EXPECT_THAT(report, HasSubstr("WINDROW_ABOUT_NOTHING: there is no option of this name\n"));
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, folder.file("b.raw").c_str(), WINDROW_READ, nullptr, &file));
  const char* text = "";
  EXPECT_WINDROW_OK(windrow_explain(file, "text", &text));
  EXPECT_THAT(text, HasSubstr("did you mean WINDROW_STRATEGY?"));
  EXPECT_EQ(report_of(file)["warnings"].size(), 2U);
  EXPECT_WINDROW_OK(windrow_close(file));
  unsetenv("WINDROW_STRATGY");
  unsetenv("WINDROW_ABOUT_NOTHING");
}

// How many points this rank writes of a mesh where one rank has many short rows of its own, and all have a long one in
// common.
int64_t written_by_this_rank(const Options& options) {
  std::vector<int64_t> list;
  for (int64_t i = 0; rank_of() == 0 && i < 100; ++i)
    list.push_back(2 * i);
  for (int64_t i = 0; i < 100000; ++i)
    list.push_back(1000 + i);
  windrow_decomposition* mesh = nullptr;
  EXPECT_WINDROW_OK(windrow_points_with(MPI_COMM_WORLD, 200000, static_cast<int64_t>(list.size()), list.data(), nullptr,
                                        options, &mesh));
  int64_t count = -1, intervals = -1;
  EXPECT_WINDROW_OK(windrow_decomposition_owned(mesh, "balanced", 0, nullptr, &count, &intervals));
  windrow_decomposition_free(mesh);
  return count;
}

TEST(Points, have_the_same_writers_whatever_file_is_open) {
  const SharedFolder folder;
  const std::string machine = folder.file("machine.json");  // where each interval takes very long
  if (rank_of() == 0)
    std::ofstream(machine)
        << R"({"windrow machine": 1, "name": "slow", "memory": {"piece_s": 0.001}, "storage": {"request_s": 0.01}})";
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t before = written_by_this_rank({});
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(
      windrow_create(MPI_COMM_WORLD, folder.file("a.raw").c_str(), Options({{"machine", machine}}), &file));
  EXPECT_EQ(written_by_this_rank({}), before);
  EXPECT_WINDROW_OK(windrow_discard(file));
  if (size_of() > 1) {
    EXPECT_NE(written_by_this_rank(Options({{"machine", machine}})), before);
  }
}

}  // namespace
