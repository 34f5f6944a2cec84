// SPDX-License-Identifier: BSD-3-Clause
// Random programs of MPI-IO beside a model of their files: programs FOLDER [--cases N] [--first N] [--strict]
// [--verbose]. It knows MPI alone. The model finds faults of MPI too. Shapes in which the MPIs have faults are left out
// or not judged: "Known" in comments says which.
//
// Known: collective buffering moves other bytes with some views, in OMPIO 4.1 and in ROMIO of MPICH 4.0. compare.py
// tells both to let each rank move its own.
//
// A case is a program of a few ranks. Each launch runs many, some at the same time on different ranks. Faults begin
// with "FAULT". Lines that begin with "result" are what the standard leaves to MPI: they must be the same with and
// without another library.
//
// --strict: reads past the end of the file are judged. Known: ROMIO of MPICH 4.0 and Open MPI's OMPIO 4.1 tell more
// bytes than the file has where the view or the memory has holes, and some fill the rest of the memory.
#include <mpi.h>

#include <numeric>

#include "program.hpp"

namespace {

using namespace mpiio_test;

// The cases of a round are on all ranks together, as far as there are as many. Sizes of cases follow a table, so that a
// case is the same in every launch that has enough ranks.
constexpr int k_rounds[][4] = {{9}, {4, 5}, {2, 3, 4}, {8, 1}, {6, 3}, {7, 2}, {2, 2, 2, 3}, {5, 4}, {3, 3, 3}};

bool run_round(int round, int first_case, const Arguments& arguments) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // The order of ranks in a case is not that of the launch.
  std::vector<int> order(static_cast<size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  Random random(static_cast<uint64_t>(round) + 5);
  for (size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[static_cast<size_t>(random(0, static_cast<int64_t>(i)))]);
  const auto place = std::find(order.begin(), order.end(), rank) - order.begin();
  int number = -1, begin = 0, next = first_case;
  for (const int size : k_rounds[static_cast<size_t>(round) % std::size(k_rounds)]) {
    if (size == 0)
      break;
    const bool wanted = next >= arguments.first && next < arguments.first + arguments.cases && begin + size <= ranks;
    if (wanted && place >= begin && place < begin + size)
      number = next;
    begin += wanted ? size : 0;
    ++next;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, number < 0 ? MPI_UNDEFINED : number, static_cast<int>(place), &comm);
  if (comm == MPI_COMM_NULL)
    return true;
  const bool good = Program(number, comm, arguments).run();
  MPI_Comm_free(&comm);
  return good;
}

Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    if (word == "--cases" && i + 1 < count)
      arguments.cases = std::atoi(values[++i]);
    else if (word == "--first" && i + 1 < count)
      arguments.first = std::atoi(values[++i]);
    else if (word == "--strict")
      arguments.strict = true;
    else if (word == "--verbose")
      arguments.verbose = true;
    else
      arguments.folder = word;
  }
  return arguments;
}

}  // namespace

int main(int count, char** values) {
  MPI_Init(&count, &values);
  const Arguments arguments = read_arguments(count, values);
  int rank = 0, good = 1, all_good = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int next = 0;
  for (int round = 0; next < arguments.first + arguments.cases; ++round) {
    const auto& sizes = k_rounds[static_cast<size_t>(round) % std::size(k_rounds)];
    const int cases = static_cast<int>(std::count_if(std::begin(sizes), std::end(sizes), [](int n) { return n > 0; }));
    if (next + cases > arguments.first)
      good = run_round(round, next, arguments) && good == 1 ? 1 : 0;
    next += cases;
  }
  MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (const auto& [name, number] : counted_calls())
    print("calls " + name + " " + std::to_string(number));
  if (rank == 0)
    print(all_good == 1 ? "all cases are right" : "there are faults");
  MPI_Finalize();
  return all_good == 1 ? 0 : 1;
}
