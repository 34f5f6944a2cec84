// SPDX-License-Identifier: BSD-3-Clause
// Random accesses to a file.
#pragma once

#include "file.hpp"

namespace mpiio_test {

// In etypes of the rank's view.
int64_t random_offset(Random& random, const File& file, int rank);

// The accesses of one step. They do not conflict with each other.
class RandomAccesses {
 public:
  RandomAccesses(Random& random, const File& file) : random_(random), file_(file), claims_(file.model) {}

  // For `by_pointer` the access is at the rank's position if possible. The caller must seek for others.
  Access make(int rank, bool writing, bool by_pointer);

 private:
  void set_memory(const View& view, Access& access);

  Random& random_;
  const File& file_;
  Claims claims_;
  int64_t next_offset_ = 0;
};

}  // namespace mpiio_test
