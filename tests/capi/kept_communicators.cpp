// SPDX-License-Identifier: BSD-3-Clause
// A program that never frees its communicators, which share ranks and have shared memory for files: it comes to its
// end. Where MPI frees that memory in MPI_Finalize, it goes by each process's own numbers, and two processes may be in
// different windows then and wait for each other.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "mistakes.hpp"

namespace {

using windrow_test::mistakes;

// A column for each rank, by one writer: the others' elements go through shared memory.
void write_on(MPI_Comm comm, const std::string& path) {
  constexpr int64_t k_rows = 5000;
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int64_t shape[2] = {k_rows, size}, start[2] = {0, rank}, count[2] = {k_rows, 1};
  const std::vector<double> values(k_rows, 1.0 + rank);
  windrow_options* options = nullptr;
  CHECK(windrow_options_create(&options) == WINDROW_OK);
  CHECK(windrow_options_set(options, "domains", "even") == WINDROW_OK);
  windrow_file* file = nullptr;
  CHECK(windrow_create(comm, path.c_str(), options, &file) == WINDROW_OK);
  int variable = -1;
  CHECK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, shape, &variable) == WINDROW_OK);
  CHECK(windrow_write_block(file, variable, start, count, values.data()) == WINDROW_OK);
  CHECK(windrow_close(file) == WINDROW_OK);
  windrow_options_free(options);
}

MPI_Comm of_ranks(int first, int last, int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank >= first && rank <= last ? 0 : MPI_UNDEFINED, rank, &comm);
  return comm;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char folder[64] = "/tmp/windrow kept XXXXXX";
  if (rank == 0 && mkdtemp(folder) == nullptr)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string base = std::string(folder) + "/";

  // Rank 1 has two windows more than rank 0, and has them no longer when the last come: those get the low numbers
  // there, and high ones on rank 0.
  MPI_Comm upper = of_ranks(1, size - 1, rank), early = of_ranks(0, 1, rank), late = of_ranks(0, 1, rank);
  if (upper != MPI_COMM_NULL)
    write_on(upper, base + "upper.raw");
  if (early != MPI_COMM_NULL)
    write_on(early, base + "early.raw");
  if (upper != MPI_COMM_NULL)
    MPI_Comm_free(&upper);
  if (late != MPI_COMM_NULL)
    write_on(late, base + "late.raw");
  write_on(MPI_COMM_WORLD, base + "all.raw");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    CHECK(std::filesystem::remove_all(folder) > 4);
  MPI_Finalize();
  return mistakes == 0 ? 0 : 1;
}
