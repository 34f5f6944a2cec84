// SPDX-License-Identifier: BSD-3-Clause
// What docs/moving.md says of h5py: rows of a table and a choice of its rows, written and read back.   mpirun -n 4 h5py [FILE]
#include <cstdio>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

void write_rows(MPI_Comm comm, const char* path, int64_t rows, int64_t count, const std::vector<double>& values) {
  auto file = windrow::File::create(comm, path);
  const int temperature = file.define_variable<double>("temperature", {rows, 8});
  file.put_attribute("temperature", "units", "K");
  const auto mine = windrow::Decomposition::rows(comm, rows, count);  // once; for all variables and steps
  file.write(temperature, mine, values);
  file.close();  // the file appears
}

std::vector<double> read_chosen(MPI_Comm comm, const char* path, int64_t rows, const std::vector<int64_t>& chosen) {
  auto file = windrow::File::open(comm, path);
  const auto points = windrow::Decomposition::points(comm, rows, chosen);  // in any order, other ones on each rank
  std::vector<double> values(chosen.size() * 8);
  file.read(file.find_variable("temperature"), points, values);
  file.close();
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "h5py.h5";
  int ranks = 0, rank = 0, wrong = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int64_t rows = 3 * ranks, first = 3 * rank;
  std::vector<double> values;
  for (int64_t i = first * 8; i < (first + 3) * 8; ++i) values.push_back(static_cast<double>(i));
  try {
    write_rows(MPI_COMM_WORLD, path, rows, 3, values);
    const std::vector<int64_t> chosen{rows - 1 - rank, rank};
    const std::vector<double> read = read_chosen(MPI_COMM_WORLD, path, rows, chosen);
    for (size_t i = 0; i < read.size(); ++i) wrong += read[i] != static_cast<double>(chosen[i / 8] * 8 + static_cast<int64_t>(i % 8)) ? 1 : 0;
  } catch (const windrow::Error& error) {
    if (error.rank() == rank || error.rank() < 0) std::fprintf(stderr, "h5py: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("h5py: wrote and read %s on %d ranks, %d values differ\n", path, ranks, wrong);
  MPI_Finalize();
  return wrong != 0 ? 1 : 0;
}
