// SPDX-License-Identifier: BSD-3-Clause
// Workload: what each of any number of ranks holds of a file, told by rules, so that nothing is as long as there are
// ranks; or by lists, as a trace has them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// What a rank holds, or several together: the same elements of every variable.
struct HeldElements {
  Pieces elements;
  int64_t element_bytes = 1;
  PieceView bytes() const noexcept { return {elements, element_bytes}; }
};

enum class Division {
  rows,    // consecutive rows of the first dimension, as even as can be
  grid,    // blocks of all dimensions, one to a rank of a grid of ranks
  cyclic,  // `block` elements in turn: rank r has those of number r, r + ranks, ...
  same,    // every rank wants everything
  lists,   // as `lists` say
};

// All variables have one shape, and lie one behind the other from the file's first byte on.
struct Workload {
  Division division = Division::rows;
  bool reading = false;
  int ranks = 1;
  std::vector<int64_t> shape = {};
  int64_t element_bytes = 8;
  int64_t variables = 1;
  std::vector<int64_t> rank_grid = {};  // [shape] of grid
  int64_t block = 1;                    // of cyclic
  int64_t points = 0,
          load = 0;  // of lists of points: how many there are, and elements of a variable for each; 0: they are none
  std::vector<Pieces> lists = {};  // [ranks] of lists: elements, without places in memory

  int64_t elements() const noexcept;
  int64_t variable_bytes() const noexcept { return elements() * element_bytes; }
  int64_t bytes() const noexcept { return variable_bytes() * variables; }  // of the file
};

// Fills what is left open: a grid of ranks that is as even as can be, as MPI_Dims_create makes one. bad_argument: no
// elements, or more than 64 bits can count; a grid that is not of so many ranks; lists that are not of the shape.
Status complete(Workload& workload);

HeldElements held_by(const Workload& workload, int rank);

// By the ranks [first, last) together: maximal pieces. O(dimensions), but of lists.
HeldElements held_by_all(const Workload& workload, int first, int last);

// "grid of 8x8x4 ranks, 1024x1024x512 elements of 4 bytes, 2 variables".
std::string workload_text(const Workload& workload);

}  // namespace windrow
