// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes of a case, for the peers that take them.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "case.hpp"

namespace bench {

// Owns a datatype.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype raw) : raw_(raw) { MPI_Type_commit(&raw_); }
  Datatype(Datatype&& other) noexcept : raw_(std::exchange(other.raw_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Datatype() {
    if (raw_ != MPI_DATATYPE_NULL)
      MPI_Type_free(&raw_);
  }
  MPI_Datatype get() const { return raw_; }

 private:
  MPI_Datatype raw_;
};

MPI_Datatype element_datatype(ElementType type);

// One box in another, C order.
Datatype subarray(const std::vector<int64_t>& shape, const std::vector<int64_t>& count,
                  const std::vector<int64_t>& start, MPI_Datatype element);

// Bytes at displacements; equal lengths are passed in the shorter form.
Datatype indexed(const std::vector<MPI_Aint>& displacements, const std::vector<int>& lengths);

// The share's box of memory, or its block in the file, of one variable of a block share.
Datatype memory_subarray(const Case& data, const Variable& variable);
Datatype file_subarray(const Case& data, const Variable& variable);

}  // namespace bench
