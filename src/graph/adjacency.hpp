// SPDX-License-Identifier: BSD-3-Clause
// Computes the neighbours of each mesh node from the cells. Pure. windrow_mesh_neighbours in windrow.h has the rules
// for users.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// Lists of numbers, stored consecutively: list i is numbers[offsets[i]] up to numbers[offsets[i + 1]].
struct Lists {
  std::vector<int64_t> offsets;
  std::vector<int64_t> numbers;
};

// edges: nodes that share an edge of a cell. cells: all nodes of a cell, as in the matrix of a finite element method.
// Both are the same for triangles and tetrahedra.
enum class Neighbourhood {
  edges,
  cells
};

// `kind`: enum windrow_cell of all cells. If cells are mixed, each cell's kind precedes its nodes in `connectivity`.
// The neighbours of a node ascend; a node in no cell has none. O(cells log(cells of a node)). bad_argument: an invalid
// kind, length or node number; the message names the cell.
Result<Lists> neighbours_of(int64_t nodes, int kind, std::span<const int64_t> connectivity,
                            Neighbourhood neighbourhood);

}  // namespace windrow
