// SPDX-License-Identifier: BSD-3-Clause
// A file of a case: its handle, its model, and each rank's view and position.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "model.hpp"
#include "views.hpp"

namespace mpiio_test {

struct File {
  explicit File(int64_t base) : model(base) {}
  std::string path;
  MPI_File handle = MPI_FILE_NULL;
  bool is_open = false, exists = false, is_atomic = false, is_passed = false;
  int mode = 0;
  Model model;
  Views views;
  std::vector<int64_t> positions;  // of each rank, in etypes

  bool can_write() const { return (mode & (MPI_MODE_RDWR | MPI_MODE_WRONLY)) != 0; }
  bool can_read() const { return (mode & (MPI_MODE_RDWR | MPI_MODE_RDONLY)) != 0; }
  const View& view(int rank) const { return views.of[static_cast<size_t>(rank)]; }
  int64_t position(int rank) const { return positions[static_cast<size_t>(rank)]; }
  void set_position(int rank, int64_t position) { positions[static_cast<size_t>(rank)] = position; }
};

}  // namespace mpiio_test
