// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a copy, and results that all of them share.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace copying {

struct Ranks {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
};

// Collective. Calls `inspect` on rank 0 only, and returns or throws its result on all ranks. The result is a problem as
// text, or "".
std::string problem_on_root(const Ranks& ranks, const std::function<std::string()>& inspect);

// Collective. Whether `mine` is true on every rank.
bool all_agree(const Ranks& ranks, bool mine);

}  // namespace copying
