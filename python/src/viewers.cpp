// SPDX-License-Identifier: BSD-3-Clause
// Descriptions for viewers: grids, meshes and the fields on them.
#include "bindings.hpp"

namespace windrow_python {
namespace {

// Collective. Returns the number of the grid that `describe` defines.
template <class Describe>
int described(File& file, const std::string& problem, Describe&& describe) {
  return without_gil([&] {
    int grid = -1;
    file.together("xdmf", problem, [&](windrow_file* handle) { return describe(handle, &grid); });
    return grid;
  });
}

int uniform_grid(File& file, const std::string& name, double time, const Numbers& nodes,
                 const std::vector<double>& origin, const std::vector<double>& spacing, const std::string& problem) {
  return described(file, problem, [&](windrow_file* handle, int* grid) {
    return windrow_xdmf_uniform_grid(handle, name.c_str(), time, static_cast<int>(nodes.size()), nodes.data(),
                                     origin.data(), spacing.data(), grid);
  });
}

int rectilinear_grid(File& file, const std::string& name, double time, const std::vector<int>& coordinates,
                     const std::string& problem) {
  return described(file, problem, [&](windrow_file* handle, int* grid) {
    return windrow_xdmf_rectilinear_grid(handle, name.c_str(), time, static_cast<int>(coordinates.size()),
                                         coordinates.data(), grid);
  });
}

int curvilinear_grid(File& file, const std::string& name, double time, int coordinates, const std::string& problem) {
  return described(file, problem, [&](windrow_file* handle, int* grid) {
    return windrow_xdmf_curvilinear_grid(handle, name.c_str(), time, coordinates, grid);
  });
}

int mesh(File& file, const std::string& name, double time, int cell, int connectivity, int64_t cells, int coordinates,
         const std::string& problem) {
  return described(file, problem, [&](windrow_file* handle, int* grid) {
    return windrow_xdmf_mesh(handle, name.c_str(), time, cell, connectivity, cells, coordinates, grid);
  });
}

void field(File& file, int grid, const std::string& name, int center, int variable, const std::string& problem) {
  without_gil([&] {
    file.together("xdmf field", problem, [&](windrow_file* handle) {
      return windrow_xdmf_field(handle, grid, name.c_str(), center, variable);
    });
  });
}

}  // namespace

void bind_viewers(nb::class_<File, OpenFile>& file) {
  file.def("xdmf_uniform_grid", &uniform_grid)
      .def("xdmf_rectilinear_grid", &rectilinear_grid)
      .def("xdmf_curvilinear_grid", &curvilinear_grid)
      .def("xdmf_mesh", &mesh)
      .def("xdmf_field", &field);
}

}  // namespace windrow_python
