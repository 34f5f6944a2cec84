// SPDX-License-Identifier: BSD-3-Clause
// One flush overwrites a half of each chunk in more subfiles than a rank keeps open. Each call of the storage in turn
// is the last one, or finds no space. The other halves are then readable, and a lack of space or of descriptors is
// reported.
#include <fmt/format.h>
#include <sys/resource.h>

#include "../capi/checked.hpp"
#include "../stride.hpp"
#include "failing_storage.h"

namespace {

using namespace windrow_test;

constexpr int64_t k_columns = 60, k_half = k_columns / 2;
constexpr const char* k_failures[] = {"nothing", "freeze", "tear", "kill", "io", "no space"};

// The second edition is longer when compressed, so that the chunks move.
int64_t value_of(int edition, int64_t place) {
  return edition == 0 ? place : static_cast<int64_t>(static_cast<uint64_t>(place + 1) * 0x9e3779b97f4a7c15u >> 8);
}

// The process has at most this many descriptors; as before at its end.
class Descriptors {
 public:
  explicit Descriptors(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class ManySubfiles : public testing::Test {
 protected:
  std::string path() const { return folder_.file("work") + "/a.h5"; }

  // One row in each subfile.
  void make(int64_t rows) {
    rows_ = rows;
    std::filesystem::create_directory(folder_.file("work"));
    const Options options{{"files", fmt::format("subfiles({})", rows)},
                          {"filters", "deflate:1"},
                          {"chunks", fmt::format("1x{}", k_columns)}};
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    const int64_t shape[2] = {rows, k_columns};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 2, shape, &variable));
    EXPECT_WINDROW_OK(write(file, 0, rows, k_columns));
    ASSERT_WINDROW_OK(windrow_close(file));
    std::filesystem::rename(folder_.file("work"), folder_.file("kept"));
  }
  void copy() {
    std::filesystem::remove_all(folder_.file("work"));
    std::filesystem::copy(folder_.file("kept"), folder_.file("work"), std::filesystem::copy_options::recursive);
  }
  int write(windrow_file* file, int edition, int64_t rows, int64_t columns) {
    const int64_t start[2] = {0, 0}, count[2] = {rows, columns};
    std::vector<int64_t> data;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        data.push_back(value_of(edition, row * k_columns + column));
    int variable = -1;
    const int found = windrow_find_variable(file, "v", &variable);
    return found != WINDROW_OK ? found : windrow_write_block(file, variable, start, count, data.data());
  }
  int overwrite() {
    windrow_file* file = nullptr;
    int worst = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file);
    if (worst != WINDROW_OK)
      return worst;
    worst = write(file, 1, rows_, k_half);
    return std::max(worst, windrow_close(file));
  }
  // Rows whose second half is lost, or, if `overwritten`, whose first half is not new.
  std::string faults(bool overwritten) {
    windrow_file* file = nullptr;
    if (windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file) != WINDROW_OK)
      return windrow_error_message();
    std::string found;
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, "v", &variable));
    for (int64_t row = 0; row < rows_; ++row) {
      std::vector<int64_t> data(k_columns);
      const int64_t start[2] = {row, 0}, count[2] = {1, k_columns};
      if (windrow_read_block(file, variable, start, count, data.data()) != WINDROW_OK)
        found += fmt::format("row {}: {}\n", row, windrow_error_message());
      else
        for (int64_t i = overwritten ? 0 : k_half; i < k_columns; ++i)
          if (data[static_cast<size_t>(i)] != value_of(i < k_half ? 1 : 0, row * k_columns + i)) {
            found += fmt::format("row {}: element {} is {}\n", row, i, data[static_cast<size_t>(i)]);
            break;
          }
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    return found;
  }
  void sweep() {
    copy();
    failing_start(folder_.file("work").c_str(), FAILING_IO, 0, nullptr);
    EXPECT_WINDROW_OK(overwrite());
    const long calls = failing_stop();
    EXPECT_EQ(faults(true), "");
    int turn = 0;
    for (long nth = 1; nth <= calls; ++nth)
      for (const failing_kind failure : {FAILING_FREEZE, FAILING_TEAR, FAILING_NO_SPACE}) {
        if (turn++ % stride() != 0)
          continue;
        copy();
        int frozen = 0;
        failing_start(folder_.file("work").c_str(), failure, nth, &frozen);
        const int code = overwrite();
        (void)failing_stop();
        EXPECT_EQ(faults(failure == FAILING_NO_SPACE && code == WINDROW_OK), "")
            << k_failures[failure] << " at call " << nth << " of " << calls << ", code " << code;
        if (HasFailure())
          return;
      }
  }

  SharedFolder folder_;
  int64_t rows_ = 0;
};

TEST_F(ManySubfiles, LoseNothingThatIsNotOverwritten) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "without HDF5";
  make(35);
  sweep();
}

TEST_F(ManySubfiles, LoseNothingWithFewDescriptors) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "without HDF5";
  make(12);
  const Descriptors few(60);
  sweep();
}

// The flush changes nothing, and a smaller one succeeds.
TEST_F(ManySubfiles, ReportALackOfDescriptors) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "without HDF5";
  make(70);
  const Descriptors few(60);
  copy();
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
  EXPECT_EQ(write(file, 1, rows_, k_half), WINDROW_IO);
  EXPECT_NE(std::string(windrow_error_message()).find("too many open files"), std::string::npos)
      << windrow_error_message();
  EXPECT_WINDROW_OK(write(file, 1, 3, k_half));
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(faults(false), "");
  rows_ = 3;
  EXPECT_EQ(faults(true), "");
}

}  // namespace
