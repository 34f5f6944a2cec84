// SPDX-License-Identifier: BSD-3-Clause
// A 3-d grid, cut into one block per rank, each with a layer of ghost cells around it; written to one HDF5 file and
// read back in another cut, as a restart on another machine would.   mpirun -n 4 grid [FILE]
#include <array>
#include <cstdio>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

using Index = std::array<int64_t, 3>;

double value_at(int64_t z, int64_t y, int64_t x) {
  return static_cast<double>(z * 10000 + y * 100 + x);
}

int64_t run(const char* path, int ranks, int rank) {
  std::array<int, 3> cut{};
  MPI_Dims_create(ranks, 3, cut.data());

  // This rank's block [start, start + count), and the box in its memory: the block and one ghost cell on each side.
  const Index shape{30, 20, 10}, ghost{1, 1, 1};
  const Index place{rank / (cut[1] * cut[2]), rank / cut[2] % cut[1], rank % cut[2]};
  Index start{}, count{}, box{};
  for (size_t d = 0; d < 3; ++d) {
    start[d] = shape[d] * place[d] / cut[d];
    count[d] = shape[d] * (place[d] + 1) / cut[d] - start[d];
    box[d] = count[d] + 2;
  }
  std::vector<double> values;
  for (int64_t z = -1; z <= count[0]; ++z)
    for (int64_t y = -1; y <= count[1]; ++y)
      for (int64_t x = -1; x <= count[2]; ++x)
        values.push_back(value_at(start[0] + z, start[1] + y, start[2] + x));

  // Write: the ghost cells stay in memory, only the blocks reach the file.
  auto out = windrow::File::create(MPI_COMM_WORLD, path);
  const int variable = out.define_variable<double>("temperature", shape);
  out.put_attribute("temperature", "units", "K");
  const auto blocks = windrow::Decomposition::block(MPI_COMM_WORLD, shape, start, count, box, ghost);
  out.write(variable, blocks, values);  // put and flush; the blocks serve the next time step too
  out.close();

  // Read: the same array in slabs along its slowest dimension, divided by the library.
  auto in = windrow::File::open(MPI_COMM_WORLD, path);
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, shape[0]);
  const auto [first, slabs] = rows.my_rows();
  std::vector<double> slab(static_cast<size_t>(slabs * shape[1] * shape[2]));
  in.read(in.find_variable("temperature"), rows, slab);
  in.close();
  int64_t wrong = 0, i = first * shape[1] * shape[2];
  for (double value : slab) {
    wrong += value != value_at(i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]) ? 1 : 0;
    ++i;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "grid.h5";
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int64_t wrong = 1;
  try {
    wrong = run(path, ranks, rank);
  } catch (const windrow::Error& error) {
    // A collective call throws on every rank, and the one that the error came from prints. A local call throws on this
    // rank alone, while the others wait: so the job ends.
    if (error.rank() == rank || error.rank() < 0)
      std::fprintf(stderr, "grid: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("grid: wrote and read %s on %d ranks, %lld values differ\n", path, ranks,
                static_cast<long long>(wrong));
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
