// SPDX-License-Identifier: BSD-3-Clause
// A get that a rank could not queue is an error of the flush on all ranks, also of a flush that places new variables,
// and of one whose gets can be read although the new variables cannot be placed.
#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

class RefusedRequests : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (windrow_has(GetParam()) == 0)
      GTEST_SKIP() << "not built in";
    const int64_t elements = 4 * size_of();
    ASSERT_WINDROW_OK(
        windrow_create(MPI_COMM_WORLD, folder_.file("file").c_str(), Options{{"format", GetParam()}}, &file_));
    ASSERT_WINDROW_OK(windrow_define_variable(file_, "a", WINDROW_INT32, 1, &elements, &variable_));
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, elements, WINDROW_EVEN, &made));
    right_.reset(made);
    ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, elements + 1, WINDROW_EVEN, &made));
    wrong_.reset(made);
    ASSERT_WINDROW_OK(windrow_write(file_, variable_, right_.get(), data_.data()));
    ASSERT_WINDROW_OK(windrow_sync(file_));
    int later = -1;
    ASSERT_WINDROW_OK(windrow_define_variable(file_, "b", WINDROW_INT32, 1, &elements, &later));
  }
  void TearDown() override {
    if (file_ != nullptr) {
      EXPECT_WINDROW_OK(windrow_close(file_));
    }
  }
  void expect_refused(int code, const char* message) const {
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT) << windrow_error_message();
    expect_same_everywhere(code);
    EXPECT_NE(std::string(windrow_error_message()).find(message), std::string::npos) << windrow_error_message();
  }
  bool is_last() const { return rank_of() + 1 == size_of(); }

  SharedFolder folder_;
  windrow_file* file_ = nullptr;
  int variable_ = -1;
  Decomposition right_, wrong_;
  std::vector<int32_t> data_ = std::vector<int32_t>(8, 7);
};

INSTANTIATE_TEST_SUITE_P(Formats, RefusedRequests, testing::Values("raw", "netcdf", "hdf5"));

TEST_P(RefusedRequests, of_a_read_are_an_error_on_all_ranks) {
  std::vector<int32_t> read(8, -1);
  expect_refused(windrow_read(file_, variable_, is_last() ? wrong_.get() : right_.get(), read.data()), "\"/a\"");
  EXPECT_WINDROW_OK(windrow_read(file_, variable_, right_.get(), read.data()));
  EXPECT_EQ(read[0], 7);
}

TEST_P(RefusedRequests, of_the_program_are_an_error_on_all_ranks) {
  for (const bool in_two : {false, true}) {
    std::vector<int32_t> read(8, -1);
    EXPECT_WINDROW_OK(windrow_get(file_, variable_, right_.get(), read.data()));
    if (is_last()) {
      EXPECT_EQ(windrow_refuse(file_, "no data for this step"), WINDROW_BAD_ARGUMENT);
    }
    expect_refused(in_two ? windrow_flush_begin(file_) : windrow_flush(file_), "no data for this step");
  }
}

TEST_P(RefusedRequests, are_an_error_of_the_explanation_and_then_of_the_flush) {
  if (is_last()) {
    EXPECT_EQ(windrow_refuse(file_, "no data for this step"), WINDROW_BAD_ARGUMENT);
  }
  const char* text = nullptr;
  expect_refused(windrow_explain(file_, "text", &text), "no data for this step");
  expect_refused(windrow_flush(file_), "no data for this step");
}

}  // namespace
