// SPDX-License-Identifier: BSD-3-Clause
// Waits for an MPI request that depends on other ranks.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include "comm/backoff.hpp"

namespace windrow {

// Of the machine. Cached, since the system reads a file for it.
inline long online_cores() noexcept {
  static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? cores : 1;
}

inline long ranks_per_core(int ranks_of_machine) noexcept {
  return ranks_of_machine / online_cores();
}

// MPI spins while it waits. If the ranks of a machine outnumber its cores, spinning ranks would take the cores of
// working ones (docs/internals/notes/2026-11-30-numbers-from-comments.md). Otherwise a sleep would only delay the
// others.
inline int wait_for(MPI_Request* request, int ranks_of_machine) noexcept {
  if (ranks_of_machine <= online_cores())
    return MPI_Wait(request, MPI_STATUS_IGNORE);
  int done = 0;
  for (Backoff backoff;; backoff.wait())
    if (const int rc = MPI_Test(request, &done, MPI_STATUS_IGNORE); rc != MPI_SUCCESS || done != 0)
      return rc;
}

}  // namespace windrow
