// SPDX-License-Identifier: BSD-3-Clause
// The communicators of files: the same ranks in the same order as in those that programs open files on.
#pragma once

#include <mpi.h>

#include <memory>

namespace mpiio {

// A duplicate, for this library alone. It is freed with the last file that uses it, unless later files may use it.
struct Communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  bool is_kept = false;
};

// Collective over `user`, an intracommunicator of several ranks. Returns nullptr on all ranks if one rank has no core,
// or if MPI fails. Files that are opened by the same ranks one after another use the same duplicate. With
// MPI_THREAD_MULTIPLE each file has its own, because threads may be in calls on several files.
std::shared_ptr<Communicator> communicator_for(MPI_Comm user);

// Collective. Frees the duplicate if no other file may use it.
void leave(std::shared_ptr<Communicator>& held) noexcept;

}  // namespace mpiio
