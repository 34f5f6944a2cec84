// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes of all constructors against MPI_Pack and MPI_Unpack. The ranks share the seeds.
#include <gtest/gtest.h>

#include "../stride.hpp"
#include "packed.hpp"
#include "random_types.hpp"

namespace windrow {
namespace {

constexpr uint64_t k_types = 10'000;

class Pack : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }

  // Calls body(seed) for the seeds of this rank, until a failure. WINDROW_TEST_SEED: this one alone.
  template <class Body>
  void for_each_seed(Body&& body) {
    if (const char* seed = std::getenv("WINDROW_TEST_SEED"))
      return body(static_cast<uint64_t>(std::atoll(seed)));
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const auto step = static_cast<uint64_t>(size * test_stride());
    for (uint64_t seed = static_cast<uint64_t>(1 + rank * test_stride()); seed <= k_types && !HasFailure();
         seed += step)
      body(seed);
  }

  static int test_stride() { return windrow_test::stride(); }

  void TearDown() override {
    EXPECT_GT(made_, 0);
    EXPECT_LT(refused_, 1 + made_ / 20);
  }
  int made_ = 0, refused_ = 0;  // types
};

TEST_F(Pack, copies_the_bytes_of_random_types) {
  for_each_seed([this](uint64_t seed) {
    test::RandomTypes types(seed);
    const MPI_Datatype type = types.make(static_cast<int>(types.random()(1, 4)), false, MPI_DATATYPE_NULL);
    const int64_t count = types.random()(0, 5);
    EXPECT_EQ(test::pack_difference(type, count), "") << "seed " << seed << ": " << count << " " << types.text(type);
    made_ += types.made();
    refused_ += types.refused();
  });
}

TEST_F(Pack, copies_the_bytes_through_random_views) {
  for_each_seed([this](uint64_t seed) {
    test::RandomTypes types(seed);
    const MPI_Datatype memory = types.make(static_cast<int>(types.random()(0, 3)), false, MPI_DATATYPE_NULL);
    const MPI_Datatype etype = types.named();
    const MPI_Datatype filetype = types.make(static_cast<int>(types.random()(0, 4)), true, etype);
    int size = 0;
    MPI_Type_size(etype, &size);
    const test::MpiView view{types.random()(0, 20), size, filetype};
    const int64_t count = types.random()(0, 5), offset = types.random()(0, 60);
    EXPECT_EQ(test::view_difference(view, offset, memory, count), "")
        << "seed " << seed << ": " << count << " " << types.text(memory) << " from etype " << offset << " on of "
        << types.text(filetype) << " at " << view.displacement;
    made_ += types.made();
    refused_ += types.refused();
  });
}

}  // namespace
}  // namespace windrow
