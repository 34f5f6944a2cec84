// SPDX-License-Identifier: BSD-3-Clause
// Reads in turn beside what else lies in the memory that ranks of a host share, and of files with much nothing between their variables.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "../fault/scene.hpp"
#include "report.hpp"

namespace {

std::atomic<int> write_delay_us{0};

ssize_t write_slowly(int file, const iovec* parts, int count, off_t offset) {
  if (write_delay_us > 0) ::usleep(static_cast<useconds_t>(write_delay_us));
  return ::syscall(SYS_pwritev, file, parts, count, offset, 0);
}

}  // namespace

// In place of the C library's, for the whole program with its libraries.
extern "C" __attribute__((visibility("default"))) ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) { return write_slowly(file, parts, count, offset); }
extern "C" __attribute__((visibility("default"))) ssize_t pwritev64(int file, const iovec* parts, int count, off_t offset) { return write_slowly(file, parts, count, offset); }

namespace {

using namespace windrow_test;
using nlohmann::json;

KeyValues in_turn(const char* buffer) {
  return {{"file_system", "local"}, {"access", "contiguous"}, {"direct_bytes", "1GiB"}, {"buffer", buffer}, {"buffers", "4"}};
}

// Each rank some columns of a matrix of `rows` rows.
struct Columns {
  explicit Columns(int64_t row_count) : rows(row_count), shape{row_count, 4 * size_of()}, data(static_cast<size_t>(rows * 4)), read(data.size()) {
    const int64_t start[2] = {0, 4 * rank_of()}, count[2] = {rows, 4};
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
    decomposition.reset(made);
  }
  void set(int64_t seed) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < 4; ++column) data[static_cast<size_t>(row * 4 + column)] = (row * shape[1] + 4 * rank_of() + column) * 16 + seed;
    std::fill(read.begin(), read.end(), -1);
  }

  int64_t rows;
  int64_t shape[2];
  Decomposition decomposition;
  std::vector<int64_t> data, read;
};

class Turns : public testing::Test {
 protected:
  void SetUp() override {
    if (ranks_per_host() < size_of()) GTEST_SKIP() << "messages come from other hosts";
    if (size_of() < 2) GTEST_SKIP() << "nobody to take turns with";
  }
  std::string path(const char* name) const { return folder_.file(name); }
  SharedFolder folder_;
};

// The words of who reads lie where the other file's windows still wait to be written, in buffers that are longer.
TEST_F(Turns, leave_alone_what_another_file_still_has_to_write) {
  Columns columns(100'000 / size_of());
  columns.set(0);
  const std::vector<int64_t> standing = columns.data;
  int variable = -1;
  windrow_file* reading = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("read.raw").c_str(), nullptr, &reading));
  ASSERT_WINDROW_OK(windrow_define_variable(reading, "a", WINDROW_INT64, 2, columns.shape, &variable));
  ASSERT_WINDROW_OK(windrow_write(reading, variable, columns.decomposition.get(), columns.data.data()));
  ASSERT_WINDROW_OK(windrow_close(reading));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path("read.raw").c_str(), WINDROW_READ, Options(in_turn("64KiB")), &reading));
  int read_variable = -1;
  ASSERT_WINDROW_OK(windrow_find_variable(reading, "a", &read_variable));
  for (int64_t round = 1; round <= 3; ++round) {
    windrow_file* writing = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("written.raw").c_str(), Options{{"file_system", "local"}, {"direct_bytes", "1GiB"}, {"buffer", "1MiB"}, {"buffers", "4"}}, &writing));
    ASSERT_WINDROW_OK(windrow_define_variable(writing, "a", WINDROW_INT64, 2, columns.shape, &variable));
    columns.set(round);
    ASSERT_WINDROW_OK(windrow_put(writing, variable, columns.decomposition.get(), columns.data.data()));
    write_delay_us = 50'000;
    ASSERT_WINDROW_OK(windrow_flush_begin(writing));
    ASSERT_WINDROW_OK(windrow_read(reading, read_variable, columns.decomposition.get(), columns.read.data()));
    write_delay_us = 0;
    EXPECT_EQ(columns.read, standing);
    EXPECT_EQ(report_of(reading)["plans"][0]["in_turn"], true);
    EXPECT_EQ(report_of(reading)["plans_made"], round == 1 ? 1 : 0);
    ASSERT_WINDROW_OK(windrow_flush_end(writing));
    ASSERT_WINDROW_OK(windrow_close(writing));
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path("written.raw").c_str(), WINDROW_READ, nullptr, &writing));
    ASSERT_WINDROW_OK(windrow_find_variable(writing, "a", &variable));
    ASSERT_WINDROW_OK(windrow_read(writing, variable, columns.decomposition.get(), columns.read.data()));
    EXPECT_EQ(columns.read, columns.data) << "what was written";
    ASSERT_WINDROW_OK(windrow_close(writing));
  }
  EXPECT_WINDROW_OK(windrow_close(reading));
}

// 64 GiB lie between two variables, sixteen million windows: nobody takes a turn for those.
TEST_F(Turns, are_not_taken_for_windows_of_nothing) {
  Columns columns(2'000);
  const int64_t between = int64_t{8} << 30;  // of 8 bytes
  int variables[3] = {-1, -1, -1};
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("sparse.raw").c_str(), nullptr, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "a", WINDROW_INT64, 2, columns.shape, &variables[0]));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "nothing", WINDROW_INT64, 1, &between, &variables[1]));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "z", WINDROW_INT64, 2, columns.shape, &variables[2]));
  for (const int v : {0, 2}) {
    columns.set(v);
    ASSERT_WINDROW_OK(windrow_write(file, variables[v], columns.decomposition.get(), columns.data.data()));
  }
  ASSERT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path("sparse.raw").c_str(), WINDROW_READ, Options(in_turn("4096")), &file));
  for (int flush = 0; flush < 3; ++flush) {
    Columns last(2'000);
    columns.set(0);
    last.set(2);
    for (const int v : {0, 2}) {
      ASSERT_WINDROW_OK(windrow_find_variable(file, v == 0 ? "a" : "z", &variables[v]));
      ASSERT_WINDROW_OK(windrow_get(file, variables[v], columns.decomposition.get(), v == 0 ? columns.read.data() : last.read.data()));
    }
    ASSERT_WINDROW_OK(windrow_flush(file));
    EXPECT_EQ(columns.read, columns.data);
    EXPECT_EQ(last.read, last.data);
    const json report = report_of(file);
    EXPECT_EQ(report["plans"][0]["in_turn"], true);
    EXPECT_EQ(report["rounds"], report["read_requests"]);
    EXPECT_EQ(report["read_requests"], report["plans"][0]["expected"]["read_requests"]);
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Turns, are_not_told_of_where_ranks_share_no_memory) {
  Columns columns(2'000);
  columns.set(0);
  int variable = -1;
  windrow_file* file = nullptr;
  KeyValues options = in_turn("64KiB");
  options.push_back({"shared_memory", "false"});
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("apart.raw").c_str(), Options(options), &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "a", WINDROW_INT64, 2, columns.shape, &variable));
  ASSERT_WINDROW_OK(windrow_write(file, variable, columns.decomposition.get(), columns.data.data()));
  ASSERT_WINDROW_OK(windrow_read(file, variable, columns.decomposition.get(), columns.read.data()));
  EXPECT_EQ(columns.read, columns.data);
  const json report = report_of(file);
  EXPECT_EQ(report["plans"][0]["in_turn"], false);
  EXPECT_EQ(report["writers"], 1);
  EXPECT_GT(report["messages"], 0);
  EXPECT_WINDROW_OK(windrow_close(file));
}

}  // namespace
