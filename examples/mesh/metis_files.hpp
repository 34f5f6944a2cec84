// SPDX-License-Identifier: BSD-3-Clause
// METIS's own text files: meshes, which have no places of the nodes, and graphs, which have neither places nor
// tetrahedra.
#pragma once

#include <string>
#include <vector>

#include "msh.hpp"

namespace windrow::mesh {

// A file called .mesh that is not Medit's, which is called so too.
bool is_metis_mesh(const std::string& path);

// Of a mesh file, all of whose elements must be tetrahedra. `coordinates`: a text of three numbers for each node, in
// order; "" for none: then all nodes are at 0. Throws std::runtime_error, as all here.
// Source: METIS 5 manual, "Mesh file" (4.1.2) and "Graph file" (4.1.1).
TetrahedralMesh read_metis_mesh(const std::string& path, const std::string& coordinates);

// Neighbours of node n: neighbours[starts[n]] up to neighbours[starts[n + 1]]; weights are passed over.
struct NodeGraph {
  std::vector<int64_t> starts{0};
  std::vector<int64_t> neighbours;
};
NodeGraph read_metis_graph(const std::string& path);

}  // namespace windrow::mesh
