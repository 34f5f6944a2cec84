// SPDX-License-Identifier: BSD-3-Clause
#include "copy/ranks.hpp"

#include <exception>

namespace copying {

std::string problem_on_root(const Ranks& ranks, const std::function<std::string()>& inspect) {
  std::string problem;
  if (ranks.rank == 0) {
    try {
      problem = inspect();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  int length = static_cast<int>(problem.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, ranks.comm);
  problem.resize(static_cast<size_t>(length));
  MPI_Bcast(problem.data(), length, MPI_CHAR, 0, ranks.comm);
  return problem;
}

bool all_agree(const Ranks& ranks, bool mine) {
  int local = mine ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_MIN, ranks.comm);
  return all == 1;
}

}  // namespace copying
