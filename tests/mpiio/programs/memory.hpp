// SPDX-License-Identifier: BSD-3-Clause
// The memory of an access on the rank that moves it, and what it must have afterwards.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "model.hpp"

namespace mpiio_test {

class Memory {
 public:
  Memory(const Access& access, uint64_t seed);

  void* buffer() { return access_.at_bottom ? MPI_BOTTOM : origin(); }
  MPI_Datatype type() const { return access_.at_bottom ? absolute_.get() : access_.memory.get(); }
  unsigned char& expected(int64_t number) { return expected_[index(number)]; }
  // Of the access's byte `number`, for a writer on another rank too: contents do not depend on addresses.
  static unsigned char value_of(const Access& access, uint64_t seed, int64_t number);
  // The place of the first byte that is not as expected; -1: there is none.
  int64_t difference() const;
  // Of data bytes below `count` alone.
  int64_t difference_below(int64_t count) const;
  std::string values_at(int64_t place) const;

 private:
  size_t index(int64_t number) const;
  void* origin();

  const Access& access_;
  int64_t lowest_;
  std::vector<unsigned char> bytes_, expected_;
  Type absolute_;
};

}  // namespace mpiio_test
