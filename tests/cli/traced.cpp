// SPDX-License-Identifier: BSD-3-Clause
// A program to trace: writes FILE in STEPS flushes, with WIDTH columns a rank, and reads it; rank 0 prints
// windrow_report() after each flush, a line each.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

void print_report(windrow::File& file, int rank) {
  const char* report = "";
  windrow::check(windrow_report(file.get(), "json", &report));
  std::string text = report;
  for (char& c : text)
    if (c == '\n')
      c = ' ';
  if (rank == 0)
    std::printf("%s\n", text.c_str());
}

void run(const char* path, int steps, int64_t width) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int64_t k_rows = 200;
  const std::vector<int64_t> shape{k_rows, width * size}, start{0, width * rank}, count{k_rows, width};
  std::vector<double> data(static_cast<size_t>(k_rows * width), 0.5 + rank);
  const auto columns = windrow::Decomposition::block(MPI_COMM_WORLD, shape, start, count);
  const char* names[] = {"temperature <b>of</b> \"sea\" & 'air'",
                         "a very long name of a group/and of a variable whose name is long as well, as some are in "
                         "models of the climate, é"};
  {
    windrow::File file = windrow::File::create(MPI_COMM_WORLD, path);
    std::vector<int> variables;
    for (const char* name : names)
      variables.push_back(file.define_variable<double>(name, shape));
    for (int step = 0; step < steps; ++step) {
      for (const int variable : variables)
        file.put(variable, columns, data);
      file.flush();
      print_report(file, rank);
    }
    file.close();
  }
  windrow::File file = windrow::File::open(MPI_COMM_WORLD, path);
  if (steps > 0) {
    file.get(file.find_variable(names[0]), columns, data);
    file.flush();
    print_report(file, rank);
  }
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return MPI_Finalize();
}
