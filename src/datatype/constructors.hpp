// SPDX-License-Identifier: BSD-3-Clause
// The data of MPI's type constructors. Displacements and strides are bytes here. The bounds of a new type are those
// that MPI tells. No MPI here.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/type_map.hpp"

namespace windrow {

// As for the functions of type_map.hpp: Code::bad_argument if the bytes do not fit into 64 bits.
Result<TypeData> vector_type(const TypeMap& type, int64_t count, int64_t block, int64_t stride);
Result<TypeData> indexed_type(const TypeMap& type, const std::vector<int64_t>& counts,
                              const std::vector<int64_t>& displacements);
Result<TypeData> struct_type(const std::vector<TypeMap>& types, const std::vector<int64_t>& counts,
                             const std::vector<int64_t>& displacements);

// One dimension of an array. Its local indices are blocks of `block` indices, from `first` on, at each multiple of
// `cycle`.
struct ArrayDimension {
  int64_t size = 0;
  int64_t first = 0;
  int64_t block = 0;
  int64_t cycle = 0;
  int64_t end = 0;  // no local index is higher
};
// The local elements of an array, the first dimension of which varies slowest. Loops over the dimensions; one whose
// last block is shorter is a loop over the whole blocks and the last.
Result<TypeData> array_type(const TypeMap& type, const std::vector<ArrayDimension>& dimensions);

enum class Distribution {
  none,
  block,
  cyclic
};

// MPI_Type_create_darray: ranks are numbered in C order.
struct DistributedArray {
  int64_t ranks = 1, rank = 0;
  std::vector<int64_t> sizes;               // [dimensions]
  std::vector<Distribution> distributions;  // [dimensions]
  std::vector<int64_t> blocks;              // [dimensions] 0: the default
  std::vector<int64_t> processes;           // [dimensions]
};
// In the order of the arguments; array_type() wants them reversed for the order of Fortran.
std::vector<ArrayDimension> dimensions_of(const DistributedArray& array);

}  // namespace windrow
