// SPDX-License-Identifier: BSD-3-Clause
// Files of every format, through the C interface.
#pragma once

#include "checked.hpp"

namespace windrow_test {

class Files : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path(const std::string& name = "file") const { return folder_.file(name + GetParam()); }

  windrow_file* create(const std::string& at) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, at.c_str(), nullptr, &file));
    return file;
  }
  windrow_file* open(const std::string& at, int mode = WINDROW_READ) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), mode, nullptr, &file));
    return file;
  }
  // A variable of three numbers a rank: number, number + 1, ...
  static int define(windrow_file* file, const char* name) {
    const int64_t shape[1] = {3 * size_of()};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_INT32, 1, shape, &variable));
    return variable;
  }
  static std::vector<int32_t> numbers(int32_t from) {
    return {from + 3 * rank_of(), from + 3 * rank_of() + 1, from + 3 * rank_of() + 2};
  }
  static void write(windrow_file* file, int variable, int32_t from) {
    const int64_t start[1] = {3 * rank_of()}, count[1] = {3};
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, numbers(from).data()));
  }
  static void expect_numbers(windrow_file* file, const char* name, int32_t from) {
    const int64_t start[1] = {3 * rank_of()}, count[1] = {3};
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    std::vector<int32_t> read(3, -1);
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, read.data()));
    EXPECT_EQ(read, numbers(from)) << name;
  }
  void make(const std::string& at, int32_t from) const {
    windrow_file* file = create(at);
    write(file, define(file, "v"), from);
    write(file, define(file, "w"), from + 1000);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  void expect_made(const std::string& at, int32_t from) const {
    windrow_file* file = open(at);
    expect_numbers(file, "v", from);
    expect_numbers(file, "w", from + 1000);
    EXPECT_WINDROW_OK(windrow_close(file));
  }

  SharedFolder folder_;
};

}  // namespace windrow_test
