// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a request of MPI that other ranks have to do something for.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include "comm/backoff.hpp"

namespace windrow {

// Of the machine. Looked up once: the system reads a file for it.
inline long online_cores() noexcept {
  static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? cores : 1;
}

inline long ranks_per_core(int ranks_of_machine) noexcept {
  return ranks_of_machine / online_cores();
}

// MPI spins while it waits. Where the ranks of a machine outnumber its cores, those that wait here would take them from
// those that still work (16 ranks a core, messages compressed: 5 s a flush instead of 0.3); elsewhere a sleep would
// only delay the others.
inline int wait_for(MPI_Request* request, int ranks_of_machine) noexcept {
  if (ranks_of_machine <= online_cores())
    return MPI_Wait(request, MPI_STATUS_IGNORE);
  int done = 0;
  for (Backoff backoff;; backoff.wait())
    if (const int rc = MPI_Test(request, &done, MPI_STATUS_IGNORE); rc != MPI_SUCCESS || done != 0)
      return rc;
}

}  // namespace windrow
