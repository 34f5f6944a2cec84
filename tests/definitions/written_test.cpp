// SPDX-License-Identifier: BSD-3-Clause
// windrow_inquire_written(): what is stored of a variable, as boxes.
#include <gmock/gmock.h>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

using Numbers = std::vector<int64_t>;
using Boxes = std::vector<std::pair<Numbers, Numbers>>;  // starts and counts

class Written : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  windrow_file* create(const KeyValues& values = {}) const {
    const Options options(values);
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    return file;
  }
  windrow_file* open() const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
    return file;
  }
  static int define(windrow_file* file, const char* name, const Numbers& shape, const KeyValues& values) {
    const Options options(values);
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, WINDROW_INT32, static_cast<int>(shape.size()),
                                                   shape.data(), options, &variable));
    return variable;
  }
  // Rank 0 writes a box.
  static void write(windrow_file* file, int variable, Numbers start, Numbers count) {
    std::vector<int> data(1000, 7);
    if (rank_of() > 0)
      std::ranges::fill(count, 0);
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start.data(), count.data(), data.data()));
  }
  static Boxes written(windrow_file* file, int variable) {
    windrow_variable_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
    int64_t number = -1;
    const int64_t *starts = nullptr, *counts = nullptr;
    EXPECT_WINDROW_OK(windrow_inquire_written(file, variable, &number, &starts, &counts));
    Boxes boxes;
    for (int64_t i = 0; i < number; ++i, starts += info.ndims, counts += info.ndims)
      boxes.emplace_back(Numbers(starts, starts + info.ndims), Numbers(counts, counts + info.ndims));
    return boxes;
  }
  std::string path() const { return folder_.file("a.h5"); }
  const SharedFolder folder_;
};

TEST_F(Written, HasTheStoredChunks) {
  windrow_file* file = create();
  const int some = define(file, "some", {30, 20}, {{"chunks", "8x6"}});
  const int all = define(file, "all", {30, 20}, {{"chunks", "8x6"}});
  const int none = define(file, "none", {30, 20}, {{"chunks", "8x6"}});
  EXPECT_EQ(written(file, some), Boxes{});
  write(file, some, {1, 1}, {1, 1});
  write(file, some, {15, 7}, {2, 1});
  write(file, some, {29, 19}, {1, 1});
  write(file, all, {0, 0}, {30, 20});
  const Boxes boxes{{{0, 0}, {8, 6}}, {{8, 6}, {16, 6}}, {{24, 18}, {6, 2}}};
  const auto expect = [&] {
    EXPECT_EQ(written(file, some), boxes);
    EXPECT_EQ(written(file, all), (Boxes{{{0, 0}, {30, 20}}}));
    EXPECT_EQ(written(file, none), Boxes{});
  };
  expect();
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open();
  expect();
  ASSERT_WINDROW_OK(windrow_close(file));
}

TEST_F(Written, HasAllOfAVariableWithoutChunks) {
  windrow_file* file = create();
  const int array = define(file, "array", {3, 4}, {});
  const int scalar = define(file, "scalar", {}, {});
  const int empty = define(file, "empty", {3, 0}, {});
  const int null = define(file, "null", {}, {{"null_space", "true"}});
  EXPECT_EQ(written(file, array), (Boxes{{{0, 0}, {3, 4}}}));
  EXPECT_EQ(written(file, scalar), (Boxes{{{}, {}}}));
  EXPECT_EQ(written(file, empty), Boxes{});
  EXPECT_EQ(written(file, null), Boxes{});
  ASSERT_WINDROW_OK(windrow_close(file));
}

TEST_F(Written, HasTheStoredChunksOfEachPart) {
  windrow_file* file = create({{"files", "subfiles(3)"}});
  const int even = define(file, "even", {30, 20}, {{"chunks", "5x20"}});
  const int odd = define(file, "odd", {30, 20}, {{"chunks", "5x20"}, {"split_parts", "3+20+7x1"}});
  const int grows = define(file, "grows", {4, 30}, {{"chunks", "2x5"}, {"extendible", "true"}});
  const int plain = define(file, "plain", {30, 20}, {});
  const auto expect = [&] {
    EXPECT_EQ(written(file, even), (Boxes{{{5, 0}, {10, 20}}}));
    EXPECT_EQ(written(file, odd), (Boxes{{{0, 0}, {8, 20}}, {{28, 0}, {2, 20}}}));
    EXPECT_EQ(written(file, grows), (Boxes{{{0, 25}, {4, 5}}}));
    EXPECT_EQ(written(file, plain), (Boxes{{{0, 0}, {30, 20}}}));
  };
  EXPECT_EQ(written(file, even), Boxes{});
  write(file, even, {9, 3}, {2, 1});
  write(file, odd, {2, 3}, {2, 1});
  write(file, odd, {29, 3}, {1, 1});
  write(file, grows, {1, 29}, {2, 1});
  expect();
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open();
  expect();
  ASSERT_WINDROW_OK(windrow_close(file));
}

TEST_F(Written, RefusesWrongArgumentsOnAllRanks) {
  windrow_file* file = create();
  const int variable = define(file, "a", {3}, {{"chunks", "2"}});
  int64_t boxes = 0;
  const int64_t *starts = nullptr, *counts = nullptr;
  const bool wrong = rank_of() == size_of() - 1;
  EXPECT_EQ(windrow_inquire_written(file, variable, &boxes, &starts, wrong ? nullptr : &counts), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("NULL"));
  EXPECT_EQ(windrow_inquire_written(file, 1, &boxes, &starts, &counts), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("no variable number 1"));
  ASSERT_WINDROW_OK(windrow_close(file));
}

}  // namespace
