// SPDX-License-Identifier: BSD-3-Clause
// Fails on rank 1 alone, to prove that such a failure is reported, and that it fails the program.
#include <gtest/gtest.h>
#include <mpi.h>

TEST(FailingRank, fails_on_rank_1) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_NE(rank, 1);
}
