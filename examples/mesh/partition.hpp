// SPDX-License-Identifier: BSD-3-Clause
// Numbering and partitioning of a mesh's nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "msh.hpp"
#include "parts.hpp"

namespace windrow::mesh {

// Gives the nodes new numbers by Cuthill and McKee, so that neighbours get near numbers.
// Source: E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, Proc. 24th ACM National
// Conference, 1969.
void renumber_cuthill_mckee(TetrahedralMesh& mesh);

// Cuts the mesh by METIS (k-way, dual graph). A part holds every node that one of its tetrahedra touches, ascending; a
// node at a seam is held by several parts and owned by the one that METIS gives it, or the lowest that holds it. Throws
// std::runtime_error.
std::vector<Part> partition(const TetrahedralMesh& mesh, int parts);

}  // namespace windrow::mesh
