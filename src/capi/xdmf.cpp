// SPDX-License-Identifier: BSD-3-Clause
// Grids, meshes and fields for viewers.
#include <cmath>

#include "capi/handles.hpp"

using windrow::GridKind;
using windrow::ViewerGrid;

namespace {

constexpr int k_most_dimensions = 3;  // maximum of a grid in XDMF

Status check_dimensions(int ndims) {
  if (ndims == 2 || ndims == k_most_dimensions)
    return {};
  return {Code::bad_argument, "the ndims of a grid is " + std::to_string(ndims) + "; it must be 2 or 3"};
}

// The arguments of all grids.
struct GridArguments {
  GridKind kind;
  const char* name;
  double time;
  int* number;
};

// `fill` handles the arguments of a kind. With a local error the collective call is still made.
template <class Fill>
int define_grid(windrow_file* file, const GridArguments& from, Fill&& fill) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    ViewerGrid grid;
    Status local = guard([&]() -> Status {
      if (from.name == nullptr || from.number == nullptr)
        return null_argument(from.name == nullptr ? "the name of the grid" : "grid");
      grid.kind = from.kind;
      grid.name = from.name;
      if (!std::isnan(from.time))
        grid.time = from.time;
      return fill(grid);
    });
    auto defined = file->file->define_grid(std::move(grid), std::move(local));
    if (!defined.ok())
      return defined.status();
    *from.number = defined.value();
    return {};
  });
}

}  // namespace

extern "C" {

int windrow_xdmf_uniform_grid(windrow_file* file, const char* name, double time, int ndims, const int64_t* nodes,
                              const double* origin, const double* spacing, int* grid) {
  return define_grid(file, {GridKind::uniform, name, time, grid}, [&](ViewerGrid& filled) -> Status {
    if (Status status = check_dimensions(ndims); !status.ok())
      return status;
    if (nodes == nullptr)
      return null_argument("the nodes of the grid");
    if (origin == nullptr || spacing == nullptr)
      return null_argument(origin == nullptr ? "the origin of the grid" : "the spacing of the grid");
    filled.nodes.assign(nodes, nodes + ndims);
    filled.origin.assign(origin, origin + ndims);
    filled.spacing.assign(spacing, spacing + ndims);
    return {};
  });
}

int windrow_xdmf_rectilinear_grid(windrow_file* file, const char* name, double time, int ndims, const int* coordinates,
                                  int* grid) {
  return define_grid(file, {GridKind::rectilinear, name, time, grid}, [&](ViewerGrid& filled) -> Status {
    if (Status status = check_dimensions(ndims); !status.ok())
      return status;
    if (coordinates == nullptr)
      return null_argument("the coordinates of the grid");
    filled.coordinates.assign(coordinates, coordinates + ndims);
    return {};
  });
}

int windrow_xdmf_curvilinear_grid(windrow_file* file, const char* name, double time, int coordinates, int* grid) {
  return define_grid(file, {GridKind::curvilinear, name, time, grid}, [&](ViewerGrid& filled) -> Status {
    filled.coordinates = {coordinates};
    return {};
  });
}

int windrow_xdmf_mesh(windrow_file* file, const char* name, double time, int cell, int connectivity, int64_t cells,
                      int coordinates, int* grid) {
  return define_grid(file, {GridKind::mesh, name, time, grid}, [&](ViewerGrid& filled) -> Status {
    filled.cell = static_cast<windrow::Cell>(cell);
    filled.connectivity = connectivity;
    filled.cells = cell == WINDROW_MIXED_CELLS ? cells : 0;
    filled.coordinates = {coordinates};
    return {};
  });
}

int windrow_xdmf_field(windrow_file* file, int grid, const char* name, int center, int variable) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    windrow::GridField field;
    Status local = guard([&]() -> Status {
      if (name == nullptr)
        return null_argument("the name of the field");
      field.name = name;
      field.center = static_cast<windrow::Center>(center);
      field.variable = variable;
      return {};
    });
    return file->file->define_field(grid, std::move(field), std::move(local));
  });
}

}  // extern "C"
