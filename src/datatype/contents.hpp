// SPDX-License-Identifier: BSD-3-Clause
// What MPI tells about a datatype: its constructor with the arguments, in the order of MPI_Type_get_contents.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// The handles that MPI returns with the contents. Those of types that are not predefined are freed.
class TypeHandles {
 public:
  TypeHandles() noexcept = default;
  explicit TypeHandles(size_t count) : types_(count, MPI_DATATYPE_NULL) {}
  TypeHandles(TypeHandles&& other) noexcept : types_(std::exchange(other.types_, {})) {}
  TypeHandles& operator=(TypeHandles&& other) noexcept {
    std::swap(types_, other.types_);
    return *this;
  }
  TypeHandles(const TypeHandles&) = delete;
  TypeHandles& operator=(const TypeHandles&) = delete;
  ~TypeHandles();

  std::vector<MPI_Datatype>& raw() noexcept { return types_; }
  const std::vector<MPI_Datatype>& raw() const noexcept { return types_; }

 private:
  std::vector<MPI_Datatype> types_;
};

// Whatever the constructor was, the arguments are those of the one with int counts and byte displacements as addresses.
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int64_t> integers;
  std::vector<int64_t> addresses;
  TypeHandles types;
};

// The type is valid, committed or not. Predefined types have no contents.
Result<TypeContents> contents_of(MPI_Datatype type);

// Puts the arguments of a constructor with large counts, `large`, where those with int counts are. Also replaces the
// constructors that had all displacements as integers (MPI-1, in Fortran).
void normalize(TypeContents& contents, const std::vector<int64_t>& large);

}  // namespace windrow
