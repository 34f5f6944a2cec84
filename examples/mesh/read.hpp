// SPDX-License-Identifier: BSD-3-Clause
// A mesh from a file of any kind that is read here.
#pragma once

#include <string>

#include "metis_files.hpp"
#include "msh.hpp"

namespace windrow::mesh {

// .msh is gmsh's, .mesh METIS's, with a file of coordinates or ""; "box" is transistor_box(); all others, and gmsh's
// binary files, go through meshio. Throws std::runtime_error.
TetrahedralMesh read_mesh(const std::string& path, const std::string& coordinates);

}  // namespace windrow::mesh
