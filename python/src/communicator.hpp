// SPDX-License-Identifier: BSD-3-Clause
// MPI as Python sees it: a communicator, and the word between the ranks that each collective call begins with.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace windrow_python {

// What the ranks told each other before a call.
struct Verdict {
  int rank = -1;           // the lowest that has a problem; -1: none has
  bool abandoned = false;  // a rank has left the file: nobody goes on with it
  std::string message;     // the same on every rank
};

// A communicator that somebody else owns; `duplicate` makes one that is to be freed.
class Communicator {
 public:
  Communicator() = default;
  // "self", "world", or the number of mpi4py's Comm.py2f(). MPI is initialised where nobody has done it, and then finalized when Python ends.
  static Communicator named(const std::string& name);
  static Communicator from_fortran(int64_t handle);

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  Communicator duplicate() const;             // Collective.
  void free();                                // Collective; nothing happens after MPI_Finalize.
  std::shared_ptr<const bool> watch() const;  // Becomes false when the owner frees the communicator.

  // Collective. Ranks that are in different calls, or of which one has a problem, all learn it, before any of them waits for another in a call
  // that this one will not make.
  Verdict agree(const std::string& call, const std::string& problem, bool abandon = false) const;
  // The same, for a rank that ends: nothing when the others have not come in time. Then the communicator is of no more use.
  std::optional<Verdict> agree_within(double seconds, const std::string& call, const std::string& problem,
                                      bool abandon) const;
  bool any(bool mine) const;  // Collective.
  // Collective. The text of the lowest rank that has one; "": none has.
  std::string first(const std::string& text) const;
  // Collective. How many the ranks before this one have, and how many all have.
  std::pair<int64_t, int64_t> place(int64_t count) const;

 private:
  static constexpr double k_forever = std::numeric_limits<double>::infinity();
  explicit Communicator(MPI_Comm comm);
  Verdict verdict_of(const std::array<int64_t, 4>& all, const std::string& call, const std::string& problem) const;
  std::string from_rank(int root, const std::string& text) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

// Whether this process is one of several that were started together.
int world_size();

// What MPI calls itself; another text in mpi4py means that it was built for another MPI.
std::string mpi_library_version();

}  // namespace windrow_python
