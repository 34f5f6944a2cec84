// SPDX-License-Identifier: BSD-3-Clause
// windrow-demo-write FILE PARTS STRATEGY [quiet]: the checkpoint, by as many ranks as the mesh has parts.
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "demo.hpp"

namespace {

constexpr size_t k_columns = 100;

// A text of the library, indented; long lines are wrapped with more indentation.
void print_indented(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string margin = "     ";
    while (margin.size() + line.size() > k_columns) {
      const size_t cut = line.rfind(' ', k_columns - margin.size());
      if (cut == std::string::npos || cut < k_columns / 2)
        break;
      std::printf("%s%s\n", margin.c_str(), line.substr(0, cut).c_str());
      line.erase(0, cut + 1);
      margin = "                ";
    }
    std::printf("%s%s\n", margin.c_str(), line.c_str());
  }
}

int write(const std::vector<std::string>& words) {
  if (words.size() < 3)
    throw std::runtime_error("usage: windrow-demo-write FILE PARTS STRATEGY [quiet]");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const demo::Checkpoint checkpoint(MPI_COMM_WORLD, words[1]);
  MPI_Barrier(MPI_COMM_WORLD);

  const double start = MPI_Wtime();
  auto file = windrow::File::create(MPI_COMM_WORLD, words[0], {{"strategy", words[2]}});
  checkpoint.fill(file);
  const std::string plan = file.explain(), report = file.report();
  file.close();
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

  if (rank == 0 && words.size() < 4) {
    const double megabytes = static_cast<double>(checkpoint.bytes()) / 1e6;
    std::printf("   5 variables, %.1f MB in %.3f s from create to close: %.0f MB/s\n\n", megabytes, seconds,
                megabytes / seconds);
    print_indented(plan);
    std::printf("\n");
    print_indented(report);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return demo::run_program(argc, argv, "windrow-demo-write", write);
}
