// SPDX-License-Identifier: BSD-3-Clause
// A variable with which a file would be longer than it may be is refused by its definition, however many are there.
#include <sys/resource.h>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_tib = int64_t{1} << 40;

class DefinitionSize : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = 2 * k_tib;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("a.raw").c_str(), nullptr, &file_));
  }
  void TearDown() override {
    EXPECT_WINDROW_OK(windrow_discard(file_));
    setrlimit(RLIMIT_FSIZE, &before_);
  }
  int define(int64_t bytes) {
    const std::string name = "v" + std::to_string(defined_++);
    int variable = -1;
    return windrow_define_variable(file_, name.c_str(), WINDROW_INT8, 1, &bytes, &variable);
  }

  SharedFolder folder_;
  rlimit before_{};
  windrow_file* file_ = nullptr;
  int defined_ = 0;
};

TEST_F(DefinitionSize, counts_what_was_defined_before) {
  for (int i = 0; i < 10; ++i)
    ASSERT_WINDROW_OK(define(8));
  ASSERT_WINDROW_OK(define(k_tib / 2));
  ASSERT_WINDROW_OK(define(k_tib));
  EXPECT_NE(define(k_tib), WINDROW_OK);
  EXPECT_NE(std::string(windrow_error_message()).find("a chunked variable takes space"), std::string::npos);
  ASSERT_WINDROW_OK(define(8));
}

TEST_F(DefinitionSize, counts_many_that_are_small_for_themselves) {
  for (int i = 0; i < 63; ++i)
    ASSERT_WINDROW_OK(define(k_tib / 32)) << i;
  EXPECT_NE(define(k_tib / 16), WINDROW_OK);
}

}  // namespace
