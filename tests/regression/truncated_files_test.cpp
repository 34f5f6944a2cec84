// SPDX-License-Identifier: BSD-3-Clause
// Files that were cut short, of every format and in sets: opened for an update nothing in them gets longer or is lost,
// and what can be read stays so when something is defined in them.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>

#include "../capi/checked.hpp"
#include "../stride.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 40, k_columns = 5;
using Bytes = std::map<std::string, std::string>;            // by path
using Values = std::map<std::string, std::vector<int32_t>>;  // by variable

struct Kind {
  std::string ending;
  KeyValues options;
};

class Truncated : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam().ending == ".h5" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path() const { return folder_.file("file" + GetParam().ending); }

  // Elements are their row and column, a number for each variable added; all ranks write.
  static int write(windrow_file* file, const char* name, int32_t number) {
    const int64_t shape[2] = {k_rows, k_columns}, each = k_rows / size_of();
    const int64_t begin = rank_of() * each, end = rank_of() + 1 == size_of() ? k_rows : begin + each;
    const int64_t start[2] = {begin, 0}, count[2] = {end - begin, k_columns};
    std::vector<int32_t> data;
    for (int64_t i = begin * k_columns; i < end * k_columns; ++i)
      data.push_back(number + static_cast<int32_t>(i));
    int variable = -1;
    const int code = windrow_define_variable(file, name, WINDROW_INT32, 2, shape, &variable);
    return code != WINDROW_OK ? code : windrow_write_block(file, variable, start, count, data.data());
  }
  void make() const {
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(GetParam().options), &file));
    EXPECT_WINDROW_OK(write(file, "one", 1000));
    EXPECT_WINDROW_OK(write(file, "two", 2000));
    if (GetParam().ending != ".raw")
      put_records(file);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  static void put_records(windrow_file* file) {
    const int64_t shape[2] = {0, k_columns}, row[1] = {k_columns};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, "grows", WINDROW_INT32, 2, shape,
                                                   Options{{"extendible", "true"}}, &variable));
    windrow_decomposition* same = nullptr;
    EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 1, row, nullptr, nullptr, &same));
    const Decomposition owned(same);
    for (int32_t record = 0; record < 7; ++record) {
      const std::vector<int32_t> data(k_columns, 3000 + record);
      EXPECT_WINDROW_OK(windrow_put_record(file, variable, record, same, data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
    }
  }

  // All files in the folder and below, except reference files, which are written again. Rank 0's list, for all.
  Bytes all_bytes() const {
    Bytes bytes;
    if (rank_of() == 0)
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
        if (entry.is_regular_file() && !entry.path().string().ends_with(".kerchunk.json"))
          bytes[entry.path().string()] = bytes_of_file(entry.path().string());
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
  }
  void put_back(const Bytes& bytes) const {
    if (rank_of() == 0) {
      for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
        std::filesystem::remove_all(entry.path());
      for (const auto& [name, content] : bytes) {
        std::filesystem::create_directories(std::filesystem::path(name).parent_path());
        std::ofstream(name, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // What can be read, on every rank.
  Values readable() const {
    Values values;
    windrow_file* file = nullptr;
    const int opened = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file);
    expect_same_everywhere(opened);
    if (opened != WINDROW_OK)
      return values;
    windrow_decomposition* all = nullptr;
    EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
    const Decomposition owned(all);
    for (const char* name : {"one", "two", "grows"}) {
      int variable = -1;
      if (windrow_find_variable(file, name, &variable) != WINDROW_OK)
        continue;
      std::vector<int32_t> data(k_rows * k_columns, -1);
      const int code = windrow_read(file, variable, all, data.data());
      expect_same_everywhere(code);
      if (code == WINDROW_OK)
        values[name] = data;
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    return values;
  }

  // Each file of the set cut at some places, in turn.
  void for_each_cut(const std::function<void(const std::string&)>& work) {
    make();
    const Bytes whole = all_bytes();
    int files = static_cast<int>(whole.size());
    MPI_Bcast(&files, 1, MPI_INT, 0, MPI_COMM_WORLD);
    constexpr int k_cuts = 12;
    for (int file = 0; file < files; ++file)
      for (int cut = (file + 2) % stride(); cut < k_cuts; cut += stride()) {
        Bytes now = whole;
        std::string said = "cut " + std::to_string(cut) + " of file " + std::to_string(file);
        if (rank_of() == 0) {
          auto& [name, content] = *std::next(now.begin(), file);
          content.resize(cut == 0 ? content.size() - std::min<size_t>(content.size(), 1)
                                  : content.size() * static_cast<size_t>(k_cuts - cut) / k_cuts);
          said += ": " + name + ", " + std::to_string(content.size()) + " bytes";
        }
        put_back(now);
        SCOPED_TRACE(said);
        work(said);
        if (failed_anywhere())
          return;
      }
  }
  SharedFolder folder_;
};

TEST_P(Truncated, files_stay_as_they_are_when_they_are_opened_for_an_update) {
  for_each_cut([this](const std::string&) {
    const Bytes before = all_bytes();
    windrow_file* file = nullptr;
    const int opened = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file);
    expect_same_everywhere(opened);
    EXPECT_TRUE(opened == WINDROW_OK || opened == WINDROW_BAD_FILE) << windrow_error_message();
    if (opened == WINDROW_OK)
      expect_same_everywhere(windrow_close(file));
    EXPECT_TRUE(all_bytes() == before);
  });
}

TEST_P(Truncated, files_lose_nothing_more_when_something_is_defined_in_them) {
  for_each_cut([this](const std::string&) {
    const Values before = readable();
    windrow_file* file = nullptr;
    if (windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file) == WINDROW_OK) {
      const int written = write(file, "more", 9000);
      expect_same_everywhere(written);
      expect_same_everywhere(windrow_close(file));
    }
    const Values after = readable();
    for (const auto& [name, values] : before)
      EXPECT_TRUE(after.contains(name) && after.at(name) == values) << name;
    for (const auto& [name, values] : after)
      EXPECT_TRUE(before.contains(name)) << name << ": what was missing is read as something else";
  });
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  return (info.param.options.empty() ? "one" : "set") + info.param.ending.substr(1);
}

INSTANTIATE_TEST_SUITE_P(formats, Truncated,
                         testing::Values(Kind{".raw", {}}, Kind{".nc", {}}, Kind{".h5", {}},
                                         Kind{".raw", {{"files", "subfiles(3)"}}},
                                         Kind{".nc", {{"files", "subfiles(3)"}}},
                                         Kind{".h5", {{"files", "subfiles(3)"}}}),
                         name_of);

}  // namespace
