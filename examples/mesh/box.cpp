// SPDX-License-Identifier: BSD-3-Clause
#include "box.hpp"

namespace windrow::mesh {

TetrahedralMesh transistor_box() {
  const std::array<std::vector<double>, 3> planes{
      {{0, 1, 1.6, 2, 2.4, 2.8, 3, 3.25, 3.6, 4.25, 4.9, 5.25, 5.5, 5.75, 6.2, 6.8, 7.5, 8.2, 8.7, 9, 9.4, 10.2, 12},
       {0, 1.2, 1.7, 2, 2.4, 3, 3.3, 3.5, 3.75, 4.2, 5, 5.8, 6.25, 6.5, 6.7, 7, 7.6, 8, 8.3, 8.8, 10},
       {-6, -5, -4.2, -3.6, -3.1, -2.7, -2.4, -2.2, -2, -1.7, -1.4, -1.2, -1.1, -1, -0.85, -0.6, -0.3, 0}}};
  const std::array<size_t, 3> sizes{planes[0].size(), planes[1].size(), planes[2].size()};
  const auto number = [&](size_t x, size_t y, size_t z) {
    return static_cast<int64_t>((z * sizes[1] + y) * sizes[0] + x);
  };
  // Each path along the axes from a box's first corner to its last has the four corners of a tetrahedron.
  constexpr size_t k_paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  TetrahedralMesh mesh;
  for (size_t z = 0; z < sizes[2]; ++z)
    for (size_t y = 0; y < sizes[1]; ++y)
      for (size_t x = 0; x < sizes[0]; ++x) {
        mesh.nodes.push_back({planes[0][x], planes[1][y], planes[2][z]});
        if (x + 1 == sizes[0] || y + 1 == sizes[1] || z + 1 == sizes[2])
          continue;
        for (const auto& path : k_paths) {
          std::array<size_t, 3> at{x, y, z};
          std::array<int64_t, 4> corners{number(x, y, z)};
          for (size_t step = 0; step < 3; ++step) {
            ++at[path[step]];
            corners[step + 1] = number(at[0], at[1], at[2]);
          }
          mesh.tetrahedra.push_back(corners);
        }
      }
  return mesh;
}

}  // namespace windrow::mesh
