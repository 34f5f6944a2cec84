// SPDX-License-Identifier: BSD-3-Clause
// Compares what MPI did with the model.
#pragma once

#include "case.hpp"
#include "file.hpp"
#include "memory.hpp"

namespace mpiio_test {

class Comparison {
 public:
  explicit Comparison(Case& given_case) : case_(given_case) {}

  void position(const File& file, const std::string& when);
  // Collective: existence, size and bytes of the file.
  void bytes(const File& file, const std::string& when);
  // The memory and, unless it is null, the status of this rank's access.
  void moved(const File& file, const Access& access, Memory& memory, const MPI_Status* status, bool is_collective);
  // Whether what a short read tells and fills is judged: only calls that a library takes.
  bool is_judged(const File& file, bool is_collective) const;

 private:
  void contents(const File& file, const std::string& when);
  void status(const MPI_Status& status, const Type& memory, int64_t bytes);

  Case& case_;
};

}  // namespace mpiio_test
