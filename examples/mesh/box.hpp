// SPDX-License-Identifier: BSD-3-Clause
// A mesh without a mesh generator.
#pragma once

#include "msh.hpp"

namespace windrow::mesh {

// The box of transistor.geo, cut by planes that are near at the junctions into smaller boxes, and each of these into
// six tetrahedra: 8694 nodes, numbered along x first.
TetrahedralMesh transistor_box();

}  // namespace windrow::mesh
