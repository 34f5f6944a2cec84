// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a case share on one rank: who takes part, random numbers, and messages.
#pragma once

#include <mpi.h>

#include <string>

#include "types.hpp"

namespace mpiio_test {

struct Arguments {
  std::string folder;
  int first = 0, cases = 100;
  bool strict = false, verbose = false;
};

// Written at once, so that lines of several ranks do not mix.
void print(const std::string& line);

int class_of(int code);

class Case {
 public:
  Case(int number, MPI_Comm comm, const Arguments& arguments);

  const int number;
  const MPI_Comm comm;
  const Arguments& arguments;
  Random random;  // the same on all ranks
  int rank = 0, ranks = 1;

  void begin_step(const std::string& path, const std::string& what);
  const std::string& what() const { return what_; }
  // Of the memory of rank 0 in this step. Other ranks add their number.
  uint64_t seed() const { return static_cast<uint64_t>(step_ * 31 + 1000 * number); }
  bool has_failed() const { return failed_; }

  void fault(const std::string& text);
  void expect(int64_t given, int64_t expected, const std::string& text);
  void expect_success(int code, const std::string& text);
  // What the standard leaves to MPI.
  void result(const std::string& text) const;
  // With --verbose.
  void tell(const std::string& text) const;

 private:
  int step_ = 0, faults_ = 0;
  bool failed_ = false;
  std::string what_;
};

}  // namespace mpiio_test
