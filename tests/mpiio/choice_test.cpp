// SPDX-License-Identifier: BSD-3-Clause
// Choice: when a call goes to MPI because that is faster.
#include "mpiio/choice.hpp"

#include <gtest/gtest.h>

namespace mpiio {
namespace {

constexpr int64_t k_least = 256 << 10;  // smaller calls go to MPI at first
constexpr int64_t k_tiny = 40 << 10;
constexpr int64_t k_small = 1 << 20;  // bytes; MPI's function is tried after few calls
constexpr int64_t k_large = 64 << 20;

bool has(int64_t sizes, int64_t bytes) {
  return (sizes >> Choice::size_of(bytes) & 1) != 0;
}

bool passes(const Choice& choice, int64_t bytes) {
  return has(choice.ways(true, true, k_least).passed, bytes);
}

// Makes `calls` calls, and returns how many of them went to MPI.
int run(Choice& choice, int64_t bytes, int calls, double windrow_seconds, double mpi_seconds) {
  int passed = 0;
  for (int i = 0; i < calls; ++i) {
    const Choice::Ways ways = choice.ways(true, true, k_least);
    const bool pass = has(ways.passed, bytes);
    passed += pass ? 1 : 0;
    const double seconds_of_passed = has(ways.timed, bytes) ? mpi_seconds : -1;
    choice.add(true, true, bytes, pass, pass ? seconds_of_passed : windrow_seconds);
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
  EXPECT_EQ(choice.ways(true, true, 1).passed, 0);
  EXPECT_EQ(choice.ways(false, false, 1).passed, 0);
  EXPECT_EQ(choice.ways(true, true, k_least).passed, k_least - 1) << "all sizes below";
}

TEST(Choice, PassesFewSmallCallsWithoutTimes) {
  Choice choice;
  EXPECT_EQ(run(choice, k_tiny, 32, 1, 13), 32);
  EXPECT_EQ(choice.ways(true, true, k_least).timed, 0);
}

TEST(Choice, TakesManySmallCallsIfMpiIsSlower) {
  Choice choice;
  const int passed = run(choice, k_tiny, 500, 1, 2);
  EXPECT_GE(passed, 34);
  EXPECT_LE(passed, 40);
}

TEST(Choice, PassesManySmallCallsIfMpiIsAsFast) {
  Choice choice;
  const int passed = run(choice, k_tiny, 640, 1, 1.05);
  EXPECT_GE(passed, 627);
  EXPECT_LT(passed, 637) << "Windrow's way is tried again";
}

TEST(Choice, TimesFewPassedCalls) {
  Choice choice;
  run(choice, k_small, 100, 1, 0.5);
  int timed = 0;
  for (int i = 0; i < 640; ++i) {
    const Choice::Ways ways = choice.ways(true, true, k_least);
    timed += has(ways.timed, k_small) ? 1 : 0;
    run(choice, k_small, 1, 1, 0.5);
  }
  EXPECT_GE(timed, 20);
  EXPECT_LE(timed, 40);
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
  EXPECT_EQ(choice.ways(true, false, 1).passed, 0);
  EXPECT_EQ(choice.ways(false, true, 1).passed, 0);
  EXPECT_FALSE(passes(choice, k_large));
}

}  // namespace
}  // namespace mpiio
