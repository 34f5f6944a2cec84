// SPDX-License-Identifier: BSD-3-Clause
// XDMF: what the variables of a file mean to a viewer, which are grids and meshes and the fields on them, as a text
// that names them (https://www.xdmf.org). Made out of a catalog; knows nothing of MPI, and neither opens nor writes a
// file.
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

// The numbers are those of enum windrow_cell and of enum windrow_center (windrow.h); a cell's is XDMF's own, which
// stands in the connectivity of mixed cells.
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

// Variables are numbers in the catalog.
struct GridField {
  std::string name;
  Center center = Center::node;
  int variable = 0;
};

struct ViewerGrid {
  GridKind kind = GridKind::uniform;
  std::string name;
  std::optional<double> time;
  std::vector<int64_t> nodes;  // of each dimension, slowest first; of a mesh: one number. Given for a uniform grid only
  std::vector<double> origin, spacing;  // uniform: [dimensions]
  std::vector<int> coordinates;         // rectilinear: one a dimension; curvilinear and mesh: one
  Cell cell = Cell::tetrahedron;        // mesh, as what follows
  int connectivity = 0;
  int64_t cells = 0;  // given for mixed cells only
  std::vector<GridField> fields;
};

// Whether the variables are what the grid needs and it goes with the grids that are there; fills in what the variables
// say: nodes, cells. not_found is never returned: a bad number is bad_argument.
Status check_grid(ViewerGrid& grid, std::span<const ViewerGrid> others, const Catalog& catalog);
Status check_field(const ViewerGrid& grid, const GridField& field, const Catalog& catalog);

// What a text in the file can say: UTF-8 without control characters. `what` is for the message.
Status check_text(std::string_view what, std::string_view text);

// The same for a name that is part of a reference "file:/path": without ':' and '|', at which readers cut.
Status check_reference(std::string_view what, std::string_view name);

// All arguments as one text, to be compared between the ranks.
std::string arguments_of(const ViewerGrid& grid);
std::string arguments_of(int grid, const GridField& field);

// The whole text. Grids of one name are a series in time. `file_name`: of the HDF5 file, without its folder, so that
// both can be moved.
std::string xdmf_text(std::span<const ViewerGrid> grids, const Catalog& catalog, std::string_view file_name);

}  // namespace windrow
