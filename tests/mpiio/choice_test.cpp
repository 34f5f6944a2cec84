// SPDX-License-Identifier: BSD-3-Clause
// Choice: when a call goes to MPI because that is faster.
#include "mpiio/choice.hpp"

#include <gtest/gtest.h>

namespace mpiio {
namespace {

constexpr int64_t k_small = 1 << 20;  // bytes; MPI's function is tried after few calls
constexpr int64_t k_large = 64 << 20;

bool passes(const Choice& choice, int64_t bytes) {
  return (choice.passing(true, true) >> Choice::size_of(bytes) & 1) != 0;
}

// Makes `calls` calls, and returns how many of them went to MPI.
int run(Choice& choice, int64_t bytes, int calls, double windrow_seconds, double mpi_seconds) {
  int passed = 0;
  for (int i = 0; i < calls; ++i) {
    const bool pass = passes(choice, bytes);
    passed += pass ? 1 : 0;
    choice.add(true, true, bytes, pass, pass ? mpi_seconds : windrow_seconds);
  }
  return passed;
}

TEST(Choice, SizesArePowersOfTwo) {
  EXPECT_EQ(Choice::size_of(1), 0);
  EXPECT_EQ(Choice::size_of(k_small), 20);
  EXPECT_EQ(Choice::size_of(2 * k_small - 1), 20);
  EXPECT_EQ(Choice::size_of(INT64_MAX), Choice::k_sizes - 1);
}

TEST(Choice, TakesWhatIsNotKnown) {
  const Choice choice;
  EXPECT_EQ(choice.passing(true, true), 0);
  EXPECT_EQ(choice.passing(false, false), 0);
}

TEST(Choice, TriesMpiRarelyIfItIsSlower) {
  Choice choice;
  EXPECT_EQ(run(choice, k_small, 100, 1, 13), 3);
  Choice large;
  EXPECT_EQ(run(large, k_large, 60, 1, 13), 0);
  EXPECT_EQ(run(large, k_large, 1000, 1, 13), 3);
}

TEST(Choice, PassesIfMpiIsFaster) {
  Choice choice;
  const int passed = run(choice, k_small, 200, 1, 0.5);
  EXPECT_GE(passed, 190);
  EXPECT_LT(passed, 197) << "Windrow's way is tried again";
}

TEST(Choice, TakesIfMpiIsAsFast) {
  Choice choice;
  EXPECT_LE(run(choice, k_small, 200, 1, 0.95), 4);
}

TEST(Choice, TakesAgainWhatBecameFaster) {
  Choice choice;
  run(choice, k_small, 100, 1, 0.5);
  ASSERT_TRUE(passes(choice, k_small));
  run(choice, k_small, 100, 0.1, 0.5);
  EXPECT_FALSE(passes(choice, k_small));
}

TEST(Choice, ForgetsOldTimes) {
  Choice choice;
  run(choice, k_small, 30, 1, 3);
  run(choice, k_small, 5, 10, 3);
  EXPECT_TRUE(passes(choice, k_small)) << "Windrow's way became slower";
  Choice both;
  run(both, k_small, 30, 1, 13);
  run(both, k_small, 1000, 20, 260);
  EXPECT_FALSE(passes(both, k_small)) << "both became slower";
}

TEST(Choice, KindsOfCallsAreApart) {
  Choice choice;
  run(choice, k_small, 100, 1, 0.5);
  EXPECT_EQ(choice.passing(true, false), 0);
  EXPECT_EQ(choice.passing(false, true), 0);
  EXPECT_FALSE(passes(choice, k_large));
}

}  // namespace
}  // namespace mpiio
