// SPDX-License-Identifier: BSD-3-Clause
// Workload: what each of any number of ranks holds of a file. Described by rules, so that memory does not grow with
// ranks, or by lists from a trace. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// The elements of one or several ranks: the same for every variable.
struct HeldElements {
  Pieces elements;
  int64_t element_bytes = 1;
  PieceView bytes() const noexcept { return {elements, element_bytes}; }
};

enum class Division {
  rows,    // consecutive rows of the first dimension, as even as possible
  grid,    // blocks in all dimensions, one for each rank of a grid
  cyclic,  // `block` elements round-robin: rank r has those of number r, r + ranks, ...
  same,    // every rank wants everything
  lists,   // from `lists`
};

// All variables have one shape and are contiguous from the start of the file.
struct Workload {
  Division division = Division::rows;
  bool reading = false;
  int ranks = 1;
  std::vector<int64_t> shape = {};
  int64_t element_bytes = 8;
  int64_t variables = 1;
  std::vector<int64_t> rank_grid = {};  // [shape] for grid
  int64_t block = 1;                    // for cyclic
  int64_t points = 0,
          load = 0;  // for lists of points: their number, and elements of a variable for each; 0: no points
  std::vector<Pieces> lists = {};  // [ranks] for lists: elements, without positions in memory
  bool plain_bytes = false;        // lists of bytes of a file without variables, which is changed in place

  int64_t elements() const noexcept;
  int64_t variable_bytes() const noexcept { return elements() * element_bytes; }
  int64_t bytes() const noexcept { return variable_bytes() * variables; }  // of the file
};

// Completes missing values: a grid of ranks as even as possible, like MPI_Dims_create. bad_argument: no elements, or
// more than 64 bits can count; a grid with another number of ranks; lists outside the shape.
Status complete(Workload& workload);

HeldElements held_by(const Workload& workload, int rank);

// PlacedBytes by the ranks [first, last) together: maximal pieces. O(dimensions), except for lists.
HeldElements held_by_all(const Workload& workload, int first, int last);

// "grid of 8x8x4 ranks, 1024x1024x512 elements of 4 bytes, 2 variables".
std::string workload_text(const Workload& workload);

}  // namespace windrow
