// SPDX-License-Identifier: BSD-3-Clause
// Subfiling as other libraries ask for it: at a variable of a file that is one so far, by a largest size of a file; no
// empty subfiles, no tiny parts.
#include <algorithm>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 64;
constexpr int64_t k_shape[2] = {k_rows, 16};

class SubfilingOptions : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (windrow_has(GetParam() == "h5" ? "hdf5" : GetParam() == "nc" ? "netcdf" : "raw") == 0)
      GTEST_SKIP() << "not built in";
  }
  std::string path() const { return folder_.file("a." + GetParam()); }
  windrow_file* create(const KeyValues& options = {}) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(options), &file));
    return file;
  }
  windrow_file* open(int mode = WINDROW_READ) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), mode, nullptr, &file));
    return file;
  }
  static int define(windrow_file* file, const char* name, const KeyValues& options, int expected = WINDROW_OK) {
    int variable = -1;
    const int code = windrow_define_variable_with(file, name, WINDROW_FLOAT64, 2, k_shape, Options(options), &variable);
    EXPECT_EQ(code, expected) << name << ": " << windrow_error_message();
    return variable;
  }
  // Each rank has its rows; values identify their elements.
  static std::vector<double> rows_of_this_rank(int64_t* start, int64_t* count) {
    start[0] = k_rows * rank_of() / size_of();
    count[0] = k_rows * (rank_of() + 1) / size_of() - start[0];
    start[1] = 0;
    count[1] = k_shape[1];
    std::vector<double> data(static_cast<size_t>(count[0] * count[1]));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<double>(start[0] * k_shape[1]) + static_cast<double>(i);
    return data;
  }
  static void write(windrow_file* file, int variable) {
    int64_t start[2], count[2];
    const std::vector<double> data = rows_of_this_rank(start, count);
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data.data()));
  }
  static void expect_written(windrow_file* file, const char* name) {
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    int64_t start[2], count[2];
    const std::vector<double> expected = rows_of_this_rank(start, count);
    std::vector<double> read(expected.size() + 1);
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, read.data()));
    read.pop_back();
    EXPECT_TRUE(read == expected) << name;
  }
  static std::string split_of(windrow_file* file, const char* name) {
    windrow_variable_info info{};
    info.size = sizeof info;
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
    return info.split;
  }
  static std::string problems(windrow_file* file) {
    const char* text = "";
    EXPECT_WINDROW_OK(windrow_check_subfiles(file, &text));
    return text;
  }
  // Of the files in the folders of sets: how many, and the largest.
  std::pair<int, int64_t> subfiles_found() const {
    MPI_Barrier(MPI_COMM_WORLD);
    int files = 0;
    int64_t largest = 0;
    for (const std::string& name : folder_.names()) {
      if (!is_set_in_use(folder_.file(name)))
        continue;
      for (const auto& entry : std::filesystem::directory_iterator(folder_.file(name))) {
        if (entry.path().extension() == ".json")
          continue;
        ++files;
        largest = std::max(largest, static_cast<int64_t>(entry.file_size()));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return {files, largest};
  }
  SharedFolder folder_;
};

// Gao et al., figure 6: the file is created without a hint, and a variable is defined with one.
TEST_P(SubfilingOptions, at_a_variable_make_the_file_a_set) {
  const std::vector<std::pair<KeyValues, std::string>> ways{
      {{{"subfiling", "enable"}, {"subfiling_nfiles", "4"}}, "4x1"},
      {{{"subfiling_enabled", "enable"}, {"subfiling_nfiles", "4"}}, "4x1"},
      {{{"pnetcdf_subfiling", "enable"}, {"nc_num_subfiles", "3"}}, "3x1"},
      {{{"files", "subfiles(4)"}}, "4x1"},
      {{{"files", "subfiles(4)"}, {"split", "1"}}, "1x4"},
      {{{"split_parts", "2x2"}}, "2x2"},
      {{{"strategy", "subfiling"}}, size_of() == 1 ? "" : std::to_string(size_of()) + "x1"}};
  for (const auto& [options, split] : ways) {
    SCOPED_TRACE(options.front().first + "=" + options.front().second);
    windrow_file* file = create();
    const int before = define(file, "before", {});
    write(file, before);  // it has been one file so far, and data is in it
    const int a = define(file, "a", options);
    const int after = define(file, "after", {});
    const int disabled = define(file, "disabled", {{"subfiling", "disable"}});
    for (const int each : {a, after, disabled})
      write(file, each);
    ASSERT_WINDROW_OK(windrow_close(file));
    file = open();
    for (const char* name : {"before", "a", "after", "disabled"})
      expect_written(file, name);
    EXPECT_EQ(split_of(file, "a"), split);
    for (const char* name : {"before", "after", "disabled"})
      EXPECT_EQ(split_of(file, name), "") << name;
    EXPECT_EQ(problems(file), "");
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

TEST_P(SubfilingOptions, that_cannot_be_are_refused_with_what_to_do) {
  windrow_file* file = create();
  const auto refused = [&](const KeyValues& options, const std::string& words) {
    define(file, "v", options, WINDROW_BAD_ARGUMENT);
    EXPECT_NE(std::string(windrow_error_message()).find(words), std::string::npos) << windrow_error_message();
  };
  refused({{"split", "0"}}, "add files=subfiles(N)");
  refused({{"subfiling", "enable"}}, "subfiling_nfiles does not give");
  refused({{"files", "subfiles(4)"}, {"split", "2"}}, "split");
  refused({{"files", "subfiles(100)"}, {"split", "0"}}, "cannot be cut into 100 parts");
  refused({{"subfile_bytes", "1MiB"}}, "the call that creates the file");
  write(file, define(file, "v", {{"files", "subfiles(2)"}}));
  define(file, "w", {{"files", "subfiles(4)"}}, WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("has 2"), std::string::npos) << windrow_error_message();
  ASSERT_WINDROW_OK(windrow_close(file));
  file = create();
  write(file, define(file, "one", {}));
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(WINDROW_UPDATE);
  define(file, "v", {{"files", "subfiles(2)"}}, WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("is a single file"), std::string::npos)
      << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(SubfilingOptions, of_file_and_variables_may_be_the_same) {
  const KeyValues options{{"files", "subfiles(3)"}};
  windrow_file* file = create(options);
  write(file, define(file, "v", options));
  int scalar = -1;
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, "scalar", WINDROW_INT32, 0, nullptr, Options(options), &scalar));
  define(file, "one", {{"files", "one"}});
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open();
  EXPECT_EQ(split_of(file, "v"), "3x1");
  EXPECT_EQ(split_of(file, "one"), "");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(SubfilingOptions, make_no_empty_subfiles_and_no_tiny_parts) {
  windrow_file* file = create({{"files", "subfiles(8)"}});
  const int64_t five = 5;
  int small = -1, asked = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "small", WINDROW_FLOAT64, 1, &five, &small));
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, "asked", WINDROW_FLOAT64, 1, &five,
                                                 Options({{"files", "subfiles(4)"}}), &asked));
  EXPECT_EQ(windrow_subfile_count(file), 4) << "in which variables have parts";
  ASSERT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(subfiles_found().first, 4);
  file = open();
  EXPECT_EQ(split_of(file, "small"), "") << "not 2+1+1+1";
  EXPECT_EQ(split_of(file, "asked"), "4");
  EXPECT_EQ(windrow_subfile_count(file), 4);
  EXPECT_EQ(problems(file), "");
  EXPECT_WINDROW_OK(windrow_close(file));
  // More of them are made once a variable has parts there; what is refused leaves none.
  file = open(WINDROW_UPDATE);
  define(file, "asked", {{"split_parts", "6x1"}}, WINDROW_EXISTS);
  EXPECT_EQ(subfiles_found().first, 4);
  write(file, define(file, "more", {{"split_parts", "6x1"}}));
  ASSERT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(subfiles_found().first, 6);
  file = open();
  expect_written(file, "more");
  EXPECT_EQ(problems(file), "");
  EXPECT_WINDROW_OK(windrow_close(file));
  // Nothing to split: no subfiles.
  file = create({{"files", "subfiles(8)"}});
  EXPECT_WINDROW_OK(windrow_define_variable(file, "small", WINDROW_FLOAT64, 1, &five, &small));
  ASSERT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(subfiles_found().first, 0);
  for (const std::string& name : folder_.names())
    EXPECT_FALSE(name.find(".subfiles-") != std::string::npos && is_set_in_use(folder_.file(name))) << name;
  MPI_Barrier(MPI_COMM_WORLD);
  file = open();
  EXPECT_EQ(windrow_subfile_count(file), 0);
  EXPECT_EQ(problems(file), "");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(SubfilingOptions, bound_the_size_of_files) {
  constexpr int64_t k_limit = int64_t{256} << 10, k_mib = int64_t{1} << 17;  // elements of a MiB
  windrow_file* file = create({{"subfile_bytes", std::to_string(k_limit)}});
  int small = -1, large = -1;
  const int64_t few = 100, most = k_mib;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "small", WINDROW_FLOAT64, 1, &few, &small));
  EXPECT_EQ(windrow_subfile_count(file), 0);
  EXPECT_WINDROW_OK(windrow_define_variable(file, "large", WINDROW_FLOAT64, 1, &most, &large));
  EXPECT_GE(windrow_subfile_count(file), 5);
  const std::vector<double> data(static_cast<size_t>(k_mib), 1.5);
  const int64_t start = 0, count = rank_of() == 0 ? k_mib : 0;
  EXPECT_WINDROW_OK(windrow_write_block(file, large, &start, &count, data.data()));
  // The files are full by now.
  int more = -1;
  EXPECT_EQ(windrow_define_variable(file, "more", WINDROW_FLOAT64, 1, &most, &more), WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("expected_bytes"), std::string::npos) << windrow_error_message();
  ASSERT_WINDROW_OK(windrow_close(file));
  EXPECT_LE(subfiles_found().second, k_limit);
  file = create({{"subfile_bytes", std::to_string(k_limit)}, {"expected_bytes", "3MiB"}});
  for (const char* name : {"a", "b"})
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_FLOAT64, 1, &most, &large));
  ASSERT_WINDROW_OK(windrow_close(file));
  EXPECT_LE(subfiles_found().second, k_limit);
  EXPECT_GE(subfiles_found().first, 10);
}

INSTANTIATE_TEST_SUITE_P(Formats, SubfilingOptions, testing::Values("h5", "nc", "raw"));

// The base file of a netCDF set has no arrays for other programs.
TEST(SubfilingReferences, are_made_for_netcdf_sets) {
  if (windrow_has("netcdf") == 0)
    GTEST_SKIP() << "built without netCDF";
  SharedFolder folder;
  for (const bool split : {true, false}) {
    for (const std::string wish : {"auto", "none"}) {
      windrow_file* file = nullptr;
      int variable = -1;
      ASSERT_WINDROW_OK(
          windrow_create(MPI_COMM_WORLD, folder.file("a.nc").c_str(), Options({{"references", wish}}), &file));
      EXPECT_WINDROW_OK(windrow_define_variable_with(file, "v", WINDROW_FLOAT64, 2, k_shape,
                                                     Options({{"files", split ? "subfiles(2)" : "one"}}), &variable));
      ASSERT_WINDROW_OK(windrow_close(file));
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_EQ(std::filesystem::exists(folder.file("a.nc.kerchunk.json")), split && wish == "auto");
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

}  // namespace
