// SPDX-License-Identifier: BSD-3-Clause
#include "read.hpp"

#include <stdexcept>

#include "box.hpp"
#include "meshio.hpp"

namespace windrow::mesh {

TetrahedralMesh read_mesh(const std::string& path, const std::string& coordinates) {
  if (is_metis_mesh(path))
    return read_metis_mesh(path, coordinates);
  if (!coordinates.empty())
    throw std::runtime_error("coordinates go with a mesh file of METIS, which is called .mesh");
  if (path == "box")
    return transistor_box();
  if (path.ends_with(".graph"))
    throw std::runtime_error("\"" + path + "\": a graph has neither tetrahedra nor places of its nodes");
  if (!path.ends_with(".msh"))
    return read_by_meshio(path);
  try {
    return read_msh(path);
  } catch (const OtherMsh&) {
    return read_by_meshio(path);
  }
}

}  // namespace windrow::mesh
