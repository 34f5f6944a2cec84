// SPDX-License-Identifier: BSD-3-Clause
#include "read.hpp"

#include <stdexcept>

#include "box.hpp"
#include "metis_files.hpp"

namespace windrow::mesh {

TetrahedralMesh read_mesh(const std::string& path, const std::string& coordinates) {
  if (path.ends_with(".mesh")) return read_metis_mesh(path, coordinates);
  if (!coordinates.empty()) throw std::runtime_error("coordinates go with a mesh file of METIS, which is called .mesh");
  if (path == "box") return transistor_box();
  if (path.ends_with(".msh")) return read_msh(path);
  throw std::runtime_error("\"" + path +
                           "\" is neither .msh (gmsh) nor .mesh (METIS); most others become one by "
                           "`meshio convert IN OUT.msh --output-format gmsh --ascii`");
}

}  // namespace windrow::mesh
