// SPDX-License-Identifier: BSD-3-Clause
// The function of MPI for an access: a read or a write, at an offset or by the pointer. Results are error codes.
#pragma once

#include "file.hpp"
#include "memory.hpp"

namespace mpiio_test {

struct Call {
  bool is_split = false, is_large = false;
};

// The whole of a collective call, or its first half if it is split.
int start_collective(const File& file, const Access& access, Memory& memory, Call call, MPI_Status* status);
// The second half of one that is split.
int end_collective(const File& file, const Access& access, Memory& memory, MPI_Status* status);
// `waits`: by a nonblocking call and MPI_Wait.
int move_alone(const File& file, const Access& access, Memory& memory, bool waits, MPI_Status* status);

}  // namespace mpiio_test
