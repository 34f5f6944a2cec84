// SPDX-License-Identifier: BSD-3-Clause
// A user's program: each rank writes one row of a table, reads it back and compares. Argument: the file.
#include <cstdio>
#include <vector>
#include <windrow/windrow.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> written(5, rank), read(5, -1);
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, size);
  auto out = windrow::File::create(MPI_COMM_WORLD, argv[1]);
  const int variable = out.define_variable<double>("table", {size, 5});
  out.write(variable, rows, written);
  out.close();
  auto in = windrow::File::open(MPI_COMM_WORLD, argv[1]);
  in.read(in.find_variable("table"), rows, read);
  in.close();
  const bool same = read == written;
  if (same && rank == 0)
    std::printf("windrow %s: %d rows\n", windrow_version(), size);
  MPI_Finalize();
  return same ? 0 : 1;
}
