// SPDX-License-Identifier: BSD-3-Clause
// Tetrahedra from a mesh file of gmsh, formats 2 and 4.1 in ASCII. Other elements (points, lines, faces) are passed
// over.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace windrow::mesh {

struct TetrahedralMesh {
  std::vector<std::array<double, 3>> nodes;  // only those that a tetrahedron uses, in the order of their gmsh tags
  std::vector<std::array<int64_t, 4>> tetrahedra;  // numbers in `nodes`
};

// Gmsh's file is binary or of another format than 2 or 4.1.
struct OtherMsh : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws std::runtime_error. Source: https://gmsh.info/doc/texinfo/gmsh.html, "MSH file format".
TetrahedralMesh read_msh(const std::string& path);

}  // namespace windrow::mesh
