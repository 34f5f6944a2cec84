// SPDX-License-Identifier: BSD-3-Clause
// Checks the variables of a grid before anything is written.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "xdmf/xdmf.hpp"

namespace windrow {
namespace {

bool is_floating(Type type) {
  return type == Type::float32 || type == Type::float64;
}

// Nodes of one cell; 0 for mixed cells and for other numbers.
int64_t corners_of(Cell cell) {
  switch (cell) {
    case Cell::triangle:
      return 3;
    case Cell::quadrilateral:
    case Cell::tetrahedron:
      return 4;
    case Cell::pyramid:
      return 5;
    case Cell::wedge:
      return 6;
    case Cell::hexahedron:
      return 8;
    case Cell::mixed:
      break;
  }
  return 0;
}

Status bad(const ViewerGrid& grid, std::string_view what) {
  return {Code::bad_argument, fmt::format("the grid \"{}\": {}", grid.name, what)};
}

// The variable if XDMF supports its type, or why not.
Result<const Variable*> find(std::string_view use, int number, const Catalog& catalog) {
  if (number < 0 || static_cast<size_t>(number) >= catalog.variables.size())
    return Status{Code::bad_argument, fmt::format("{}: there is no variable number {}", use, shown_index(number))};
  const Variable& variable = catalog.variables[static_cast<size_t>(number)];
  if (variable.type < Type::int8 || variable.type > Type::float64)
    return Status{Code::unsupported,
                  fmt::format("{}: \"{}\" cannot be shown: {}", use, readable(variable.path),
                              variable.type == Type::none ? variable.unsupported : type_name(variable.type))};
  if (variable.extendible)  // the text would have an outdated shape
    return Status{Code::unsupported, fmt::format("{}: \"{}\" is extendible; a grid needs variables with a fixed shape",
                                                 use, readable(variable.path))};
  if (Status status = check_reference("the variable", variable.path); !status.ok())
    return status;
  return &variable;
}

std::string shape_text(const Variable& variable) {
  return fmt::format("\"{}\" has the shape [{}]", variable.path, fmt::join(variable.shape, ", "));
}

// A floating-point variable of coordinates.
Result<const Variable*> find_coordinates(const ViewerGrid& grid, int number, const Catalog& catalog) {
  auto found = find(fmt::format("the coordinates of \"{}\"", grid.name), number, catalog);
  if (found.ok() && !is_floating(found.value()->type))
    return bad(grid, fmt::format("the coordinates \"{}\" are {}, not float32 or float64", found.value()->path,
                                 type_name(found.value()->type)));
  return found;
}

Status check_dimensions(const ViewerGrid& grid) {
  const size_t dimensions = grid.nodes.size();
  if (dimensions != 2 && dimensions != 3)
    return bad(grid, fmt::format("it has {}; it must have 2 or 3", counted(dimensions, "dimension")));
  for (size_t i = 0; i < dimensions; ++i)
    if (grid.nodes[i] < 2)
      return bad(grid, fmt::format("dimension {} has {}; it needs at least 2", shown_dimension(i, dimensions),
                                   counted(grid.nodes[i], "node")));
  return {};
}

Status check_uniform(const ViewerGrid& grid) {
  if (Status status = check_dimensions(grid); !status.ok())
    return status;
  if (grid.origin.size() != grid.nodes.size() || grid.spacing.size() != grid.nodes.size())
    return bad(grid, "origin and spacing need a number for each dimension");
  for (size_t i = 0; i < grid.nodes.size(); ++i) {
    if (!std::isfinite(grid.origin[i]))
      return bad(
          grid, fmt::format("the origin of dimension {} is {}", shown_dimension(i, grid.nodes.size()), grid.origin[i]));
    if (!std::isfinite(grid.spacing[i]) || grid.spacing[i] <= 0)
      return bad(grid, fmt::format("the spacing of dimension {} is {}; it must be greater than 0",
                                   shown_dimension(i, grid.nodes.size()), grid.spacing[i]));
  }
  return {};
}

Status fill_rectilinear(ViewerGrid& grid, const Catalog& catalog) {
  grid.nodes.clear();
  for (int number : grid.coordinates) {
    auto found = find_coordinates(grid, number, catalog);
    if (!found.ok())
      return found.status();
    if (found.value()->shape.size() != 1)
      return bad(grid, fmt::format("{}; the coordinates along a dimension must have one dimension",
                                   shape_text(*found.value())));
    grid.nodes.push_back(found.value()->shape.front());
  }
  return check_dimensions(grid);
}

Status fill_curvilinear(ViewerGrid& grid, const Catalog& catalog) {
  auto found = find_coordinates(grid, grid.coordinates.front(), catalog);
  if (!found.ok())
    return found.status();
  const std::vector<int64_t>& shape = found.value()->shape;
  const int64_t places = shape.empty() ? 0 : shape.back();
  if (places != 3 && !(places == 2 && shape.size() == 3))
    return bad(grid, fmt::format("{}; coordinates must be nodes of each dimension x 3, or x 2 for two dimensions",
                                 shape_text(*found.value())));
  grid.nodes.assign(shape.begin(), shape.end() - 1);
  return check_dimensions(grid);
}

Status fill_mesh(ViewerGrid& grid, const Catalog& catalog) {
  const int64_t corners = corners_of(grid.cell);
  if (corners == 0 && grid.cell != Cell::mixed)
    return bad(grid, fmt::format("{} is not a kind of cell", static_cast<int>(grid.cell)));
  auto nodes = find_coordinates(grid, grid.coordinates.front(), catalog);
  if (!nodes.ok())
    return nodes.status();
  const std::vector<int64_t>& places = nodes.value()->shape;
  if (places.size() != 2 || (places[1] != 2 && places[1] != 3))
    return bad(grid, fmt::format("{}; coordinates must be nodes x 2 or nodes x 3", shape_text(*nodes.value())));
  grid.nodes = {places[0]};
  auto cells = find(fmt::format("the connectivity of \"{}\"", grid.name), grid.connectivity, catalog);
  if (!cells.ok())
    return cells.status();
  if (is_floating(cells.value()->type))
    return bad(grid, fmt::format("the connectivity \"{}\" is {}, not integers", cells.value()->path,
                                 type_name(cells.value()->type)));
  const std::vector<int64_t>& shape = cells.value()->shape;
  if (grid.cell == Cell::mixed) {
    if (shape.size() != 1)
      return bad(
          grid, fmt::format("{}; the connectivity of mixed cells must have one dimension", shape_text(*cells.value())));
    // Each cell has at least a kind and three nodes.
    if (grid.cells < 0 || grid.cells > shape[0] / 4)
      return bad(grid, fmt::format("{}; it cannot hold {}", shape_text(*cells.value()), counted(grid.cells, "cell")));
    return {};
  }
  if (shape.size() != 2 || shape[1] != corners)
    return bad(grid, fmt::format("{}; the connectivity must be cells x {}", shape_text(*cells.value()), corners));
  grid.cells = shape[0];
  return {};
}

Status check_series(const ViewerGrid& grid, std::span<const ViewerGrid> others) {
  for (const ViewerGrid& other : others) {
    if (other.name != grid.name)
      continue;
    if (other.kind != grid.kind || other.nodes.size() != grid.nodes.size())
      return bad(grid, "another kind of grid has that name");
    if (!other.time || !grid.time)
      return {Code::exists, fmt::format("there is already a grid \"{}\", and not both have a time", grid.name)};
    if (*other.time == *grid.time)
      return {Code::exists, fmt::format("there is already a grid \"{}\" at the time {}", grid.name, *grid.time)};
  }
  return {};
}

}  // namespace

Status check_text(std::string_view what, std::string_view text) {
  if (text.empty())
    return {Code::bad_argument, fmt::format("{} needs a name", what)};
  // XML 1.0, section 2.2: neither control characters nor these two are allowed, even escaped.
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  const bool none = text.find("\xef\xbf\xbe") != text.npos || text.find("\xef\xbf\xbf") != text.npos;
  if (is_utf8(text) && !control && !none)
    return {};
  return {Code::bad_argument,
          fmt::format("{} \"{}\": an XML name must be UTF-8 without control characters", what, readable(text))};
}

Status check_reference(std::string_view what, std::string_view name) {
  if (Status status = check_text(what, name); !status.ok())
    return status;
  if (name.find_first_of(":|") == name.npos)
    return {};
  return {Code::unsupported,
          fmt::format("{} \"{}\" cannot be used in XDMF, whose readers split names at ':' and '|'", what, name)};
}

Status check_grid(ViewerGrid& grid, std::span<const ViewerGrid> others, const Catalog& catalog) {
  if (Status status = check_text("the grid", grid.name); !status.ok())
    return status;
  if (grid.time && !std::isfinite(*grid.time))
    return bad(grid, fmt::format("the time is {}", *grid.time));
  Status status;
  switch (grid.kind) {
    case GridKind::uniform:
      status = check_uniform(grid);
      break;
    case GridKind::rectilinear:
      status = fill_rectilinear(grid, catalog);
      break;
    case GridKind::curvilinear:
      status = fill_curvilinear(grid, catalog);
      break;
    case GridKind::mesh:
      status = fill_mesh(grid, catalog);
      break;
  }
  return status.ok() ? check_series(grid, others) : status;
}

namespace {

// The values at the nodes or cells of a grid.
std::vector<int64_t> shape_of_field(const ViewerGrid& grid, Center center) {
  std::vector<int64_t> shape = grid.nodes;
  if (center == Center::node)
    return shape;
  if (grid.kind == GridKind::mesh)
    return {grid.cells};
  for (int64_t& nodes : shape)
    --nodes;
  return shape;
}

// Whether a shape is the wanted one, or that x components.
bool is_field_shape(const std::vector<int64_t>& shape, const std::vector<int64_t>& wanted) noexcept {
  if (shape.size() < wanted.size() || !std::equal(wanted.begin(), wanted.end(), shape.begin()))
    return false;
  const size_t more = shape.size() - wanted.size();
  return more == 0 || (more == 1 && shape.back() >= 1);
}

}  // namespace

Status check_field(const ViewerGrid& grid, const GridField& field, const Catalog& catalog) {
  if (Status status = check_text("the field", field.name); !status.ok())
    return status;
  if (field.center != Center::node && field.center != Center::cell)
    return {Code::bad_argument,
            fmt::format("the field \"{}\": {} is neither nodes nor cells", field.name, static_cast<int>(field.center))};
  for (const GridField& other : grid.fields)
    if (other.name == field.name && other.center == field.center)
      return {Code::exists, fmt::format("the grid \"{}\" already has a field \"{}\" there", grid.name, field.name)};
  auto found = find(fmt::format("the field \"{}\"", field.name), field.variable, catalog);
  if (!found.ok())
    return found.status();
  const std::vector<int64_t> wanted = shape_of_field(grid, field.center);
  if (!is_field_shape(found.value()->shape, wanted))
    return {Code::bad_argument,
            fmt::format("the field \"{}\": {}; at the {} of \"{}\" it must be [{}], or that x components", field.name,
                        shape_text(*found.value()), field.center == Center::node ? "nodes" : "cells", grid.name,
                        fmt::join(wanted, ", "))};
  return {};
}

}  // namespace windrow
