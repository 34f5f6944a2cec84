// SPDX-License-Identifier: BSD-3-Clause
// Who takes part in a copy, and verdicts that reach every rank.
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

// What `inspect`, called on rank 0 alone, returns or throws: "" or what is wrong. Collective.
std::string problem_on_root(const Ranks& ranks, const std::function<std::string()>& inspect);

// Whether it is true on every rank. Collective.
bool all_agree(const Ranks& ranks, bool mine);

}  // namespace copying
