// SPDX-License-Identifier: BSD-3-Clause
// MPI as Python sees it: communicators of the program.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

namespace windrow_python {

class AgreementComm;

// An attribute of a communicator of the program.
struct Kept {
  std::shared_ptr<bool> is_there = std::make_shared<bool>(true);  // false when the owner has freed the communicator
  std::shared_ptr<AgreementComm> agreements;                      // none before the first call
};

// A communicator that the program owns.
class Communicator {
 public:
  Communicator() = default;
  // "self", "world", or the number of mpi4py's Comm.py2f(). If MPI is not initialised, this does it, and MPI is
  // finalized when Python ends.
  static Communicator named(const std::string& name);
  static Communicator from_fortran(int64_t handle);

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  Kept& kept() const;

 private:
  explicit Communicator(MPI_Comm comm);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

// Throws if the MPI call `what` has failed.
void check_mpi(int code, const char* what);

bool is_finalized();

// Whether this process is one of several that were started together.
int world_size();

// The name of the MPI library. mpi4py was built for another MPI if it has another text.
std::string mpi_library_version();

}  // namespace windrow_python
