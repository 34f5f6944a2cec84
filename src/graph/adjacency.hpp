// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a mesh are neighbours, from its cells. Pure. The rules for users are in windrow.h, at
// windrow_mesh_neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// Lists of numbers, one behind the other: list i is numbers[offsets[i]] up to numbers[offsets[i + 1]].
struct Lists {
  std::vector<int64_t> offsets;
  std::vector<int64_t> numbers;
};

// edges: what an edge of a cell joins. cells: all nodes of a cell, as a finite element's matrix does; of triangles and
// tetrahedra that is the same.
enum class Neighbourhood {
  edges,
  cells
};

// `kind`: enum windrow_cell of all cells; for mixed ones their kinds stand before their nodes in `connectivity`. Each
// node's neighbours ascend; nodes in no cell have none. O(cells log(cells of a node)). bad_argument: a kind, a length
// or a node number that cannot be; the message names the cell.
Result<Lists> neighbours_of(int64_t nodes, int kind, std::span<const int64_t> connectivity,
                            Neighbourhood neighbourhood);

}  // namespace windrow
