// SPDX-License-Identifier: BSD-3-Clause
// Reads the formats of meshio, a Python module: VTK, Abaqus, Medit, gmsh's binary files and about forty others.
#pragma once

#include <string>

#include "msh.hpp"

namespace windrow::mesh {

// The tetrahedra of four nodes in the file; Python runs meshio, which makes a file of gmsh of them for read_msh. Throws
// std::runtime_error: no Python that has meshio, or what meshio says. Source: https://github.com/nschloe/meshio
TetrahedralMesh read_by_meshio(const std::string& path);

}  // namespace windrow::mesh
