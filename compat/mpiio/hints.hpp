// SPDX-License-Identifier: BSD-3-Clause
// Hints of a program that have a meaning for Windrow. Local.
#pragma once

#include <mpi.h>

#include <string>

namespace mpiio {

struct Hints {
  bool is_off = false;          // windrow=off
  bool writes_are_off = false;  // romio_cb_write=disable: the program wants independent writes
  bool reads_are_off = false;
  std::string writers;  // cb_nodes
  std::string buffer;   // cb_buffer_size
};

// Adds what `info` says. MPI_INFO_NULL is allowed. May throw std::bad_alloc.
void read_hints(MPI_Info info, Hints& hints);

}  // namespace mpiio
