// SPDX-License-Identifier: BSD-3-Clause
// A partitioned mesh: each rank holds the nodes of its part by number, and two ranks hold those at a boundary. It is
// written to one HDF5 file in the numbering of the mesh, for any partition, and read back in plain rows.
//   mpirun -n 4 mesh [FILE]
#include <cstdio>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

constexpr int64_t k_nodes = 1009, k_levels = 5;

double field_at(int64_t node, int64_t level) {
  return static_cast<double>(node) + static_cast<double>(level) / 16;
}

int64_t run(const char* path, int ranks, int rank) {
  // A closed ring: this part owns the nodes [begin, end) and has a copy of the next part's first node. Its own order is
  // backwards.
  const int64_t begin = k_nodes * rank / ranks, end = k_nodes * (rank + 1) / ranks;
  std::vector<int64_t> list;
  std::vector<unsigned char> owned;
  std::vector<double> field;
  for (int64_t node = end; node >= begin; --node) {
    list.push_back(node % k_nodes);
    owned.push_back(node != end);
    for (int64_t level = 0; level < k_levels; ++level)
      field.push_back(field_at(list.back(), level));
  }

  auto out = windrow::File::create(MPI_COMM_WORLD, path);
  const int variable = out.define_variable<double>("mesh/potential", {k_nodes, k_levels});  // makes the group too
  const auto points = windrow::Decomposition::points(MPI_COMM_WORLD, k_nodes, list, owned);
  out.put(variable, points, field);  // local: queued. More variables may follow ...
  out.close();                       // ... and all move together here, or at flush()

  auto in = windrow::File::open(MPI_COMM_WORLD, path);
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, k_nodes);
  const auto [first, mine] = rows.my_rows();
  std::vector<double> read(static_cast<size_t>(mine * k_levels));
  in.read(in.find_variable("mesh/potential"), rows, read);
  in.close();
  int64_t wrong = 0, i = first * k_levels;
  for (double value : read) {
    wrong += value != field_at(i / k_levels, i % k_levels) ? 1 : 0;
    ++i;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "mesh.h5";
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
      std::fprintf(stderr, "mesh: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("mesh: wrote and read %s on %d ranks, %lld values differ\n", path, ranks,
                static_cast<long long>(wrong));
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
