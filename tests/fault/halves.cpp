// SPDX-License-Identifier: BSD-3-Clause
// Two communicators of one host that ask for shared memory at once, more together than there is: halves MEBIBYTES. Each
// rank fills what its half was given. Prints how many halves were refused.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "comm/shared_segment.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, half_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &half_rank);
  const int64_t bytes = std::atoll(argv[1]) << 20;
  windrow::SharedSegment segment;
  MPI_Barrier(MPI_COMM_WORLD);
  auto given = segment.reserve(half, bytes);
  int failed = given.ok() ? 0 : 1, refused = given.ok() && !given.value() && half_rank == 0 ? 1 : 0;
  MPI_Barrier(MPI_COMM_WORLD);  // both have the answer before either uses it
  if (given.ok() && given.value())
    std::memset(segment.base_of(half_rank), 17, static_cast<size_t>(bytes));
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("refused %d\n", refused);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
