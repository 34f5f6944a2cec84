// SPDX-License-Identifier: BSD-3-Clause
// XDMF: describes variables of a file to viewers as grids, meshes and fields (https://www.xdmf.org). Made from a
// catalog; uses no MPI and no files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

enum class GridKind {
  uniform,
  rectilinear,
  curvilinear,
  mesh
};

// Same numbers as enum windrow_cell and enum windrow_center (windrow.h). Those of cells are XDMF's own, and are stored
// in the connectivity of mixed cells.
enum class Cell : int {
  triangle = 4,
  quadrilateral = 5,
  tetrahedron = 6,
  pyramid = 7,
  wedge = 8,
  hexahedron = 9,
  mixed = 112
};
enum class Center : int {
  node = 0,
  cell = 1
};

// Variables are indexes in the catalog.
struct GridField {
  std::string name;
  Center center = Center::node;
  int variable = 0;
};

struct ViewerGrid {
  GridKind kind = GridKind::uniform;
  std::string name;
  std::optional<double> time;
  // per dimension, slowest first; mesh: one number. Set by the caller for a uniform grid only
  std::vector<int64_t> nodes;
  std::vector<double> origin, spacing;  // uniform: [dimensions]
  std::vector<int> coordinates;         // rectilinear: one per dimension; curvilinear and mesh: one
  Cell cell = Cell::tetrahedron;        // mesh, like the following
  int connectivity = 0;
  int64_t cells = 0;  // set by the caller for mixed cells only
  std::vector<GridField> fields;
};

// Checks that the variables fit the grid, and that it is consistent with the other grids. Fills in nodes and cells from
// the variables. Never returns not_found: a bad number is bad_argument.
Status check_grid(ViewerGrid& grid, std::span<const ViewerGrid> others, const Catalog& catalog);
Status check_field(const ViewerGrid& grid, const GridField& field, const Catalog& catalog);

// Checks text for the file: UTF-8 without control characters. `what` is for the message.
Status check_text(std::string_view what, std::string_view text);

// The same for a name in a reference "file:/path": without ':' and '|', at which readers split.
Status check_reference(std::string_view what, std::string_view name);

// All arguments as one text, to be compared between ranks.
std::string arguments_of(const ViewerGrid& grid);
std::string arguments_of(int grid, const GridField& field);

// The whole text. Grids of one name are a time series. `file_name`: of the HDF5 file, without its folder, so that both
// can be moved.
std::string xdmf_text(std::span<const ViewerGrid> grids, const Catalog& catalog, std::string_view file_name);

}  // namespace windrow
