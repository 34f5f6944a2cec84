// SPDX-License-Identifier: BSD-3-Clause
// Writes the text in the subset that all readers support: both of VTK (ParaView) and VisIt's.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "xdmf/xdmf.hpp"

namespace windrow {
namespace {

std::string escaped(std::string_view text) {
  return with_entities(text, "&apos;");
}

struct Number {
  std::string_view type;
  int precision;
};

// The older reader has no unsigned 64-bit integers, but converts what it reads, so signed ones show all values below
// 2^63.
Number number_of(Type type) {
  switch (type) {
    case Type::int8:
      return {"Char", 1};
    case Type::uint8:
      return {"UChar", 1};
    case Type::int16:
      return {"Short", 2};
    case Type::uint16:
      return {"UShort", 2};
    case Type::int32:
      return {"Int", 4};
    case Type::uint32:
      return {"UInt", 4};
    case Type::int64:
    case Type::uint64:
      return {"Int", 8};
    case Type::float32:
      return {"Float", 4};
    default:
      return {"Float", 8};  // others were refused by check_grid() and check_field()
  }
}

std::string_view topology_of(const ViewerGrid& grid) {
  const bool flat = grid.nodes.size() == 2;
  switch (grid.kind) {
    case GridKind::uniform:
      return flat ? "2DCoRectMesh" : "3DCoRectMesh";
    case GridKind::rectilinear:
      return flat ? "2DRectMesh" : "3DRectMesh";
    case GridKind::curvilinear:
      return flat ? "2DSMesh" : "3DSMesh";
    case GridKind::mesh:
      break;
  }
  switch (grid.cell) {
    case Cell::triangle:
      return "Triangle";
    case Cell::quadrilateral:
      return "Quadrilateral";
    case Cell::tetrahedron:
      return "Tetrahedron";
    case Cell::pyramid:
      return "Pyramid";
    case Cell::wedge:
      return "Wedge";
    case Cell::hexahedron:
      return "Hexahedron";
    case Cell::mixed:
      break;
  }
  return "Mixed";
}

std::string_view attribute_of(int64_t components) {
  switch (components) {
    case 1:
      return "Scalar";
    case 6:
      return "Tensor6";
    case 9:
      return "Tensor";
    default:
      return "Vector";  // of any length: VTK treats a "Matrix" as one component per column, and drops points
  }
}

class Writer {
 public:
  Writer(const Catalog& catalog, std::string_view file_name) : catalog_(catalog), file_name_(escaped(file_name)) {}

  void open(std::string_view element) {
    line(fmt::format("<{}>", element));
    ++depth_;
  }
  void close(std::string_view name) {
    --depth_;
    line(fmt::format("</{}>", name));
  }
  void line(std::string_view text) {
    out_.append(2 * depth_, ' ');
    out_ += text;
    out_ += '\n';
  }
  const Variable& variable(int number) const { return catalog_.variables[static_cast<size_t>(number)]; }
  void data(int number) {
    const Variable& from = variable(number);
    const auto [type, precision] = number_of(from.type);
    line(fmt::format("<DataItem Format=\"HDF\" Dimensions=\"{}\" NumberType=\"{}\" Precision=\"{}\">{}:{}</DataItem>",
                     fmt::join(from.shape, " "), type, precision, file_name_, escaped(from.path)));
  }
  void numbers(std::span<const double> values) {
    line(fmt::format("<DataItem Format=\"XML\" Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\">{}</DataItem>",
                     values.size(), fmt::join(values, " ")));
  }
  std::string take() { return std::move(out_); }

 private:
  const Catalog& catalog_;
  std::string file_name_, out_;
  size_t depth_ = 0;
};

void write_geometry(Writer& writer, const ViewerGrid& grid) {
  const bool flat = grid.nodes.size() == 2;
  std::string_view type;
  switch (grid.kind) {
    case GridKind::uniform:
      type = flat ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ";
      break;
    case GridKind::rectilinear:
      type = flat ? "VXVY" : "VXVYVZ";
      break;
    case GridKind::curvilinear:
    case GridKind::mesh:
      type = writer.variable(grid.coordinates.front()).shape.back() == 2 ? "XY" : "XYZ";
      break;
  }
  writer.open(fmt::format("Geometry GeometryType=\"{}\"", type));
  if (grid.kind == GridKind::uniform) {
    // Slowest first, like the dimensions, in spite of the name of the type.
    writer.numbers(grid.origin);
    writer.numbers(grid.spacing);
  }
  for (size_t i = grid.coordinates.size(); i-- > 0;)
    writer.data(grid.coordinates[i]);  // x, the fastest, first
  writer.close("Geometry");
}

void write_grid(Writer& writer, const ViewerGrid& grid) {
  writer.open(fmt::format("Grid Name=\"{}\" GridType=\"Uniform\"", escaped(grid.name)));
  if (grid.time)
    writer.line(fmt::format("<Time Value=\"{}\"/>", *grid.time));
  if (grid.kind == GridKind::mesh) {
    writer.open(fmt::format("Topology TopologyType=\"{}\" NumberOfElements=\"{}\"", topology_of(grid), grid.cells));
    writer.data(grid.connectivity);
    writer.close("Topology");
  } else {
    writer.line(fmt::format("<Topology TopologyType=\"{}\" Dimensions=\"{}\"/>", topology_of(grid),
                            fmt::join(grid.nodes, " ")));
  }
  write_geometry(writer, grid);
  for (const GridField& field : grid.fields) {
    const std::vector<int64_t>& shape = writer.variable(field.variable).shape;
    writer.open(fmt::format("Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"{}\"", escaped(field.name),
                            attribute_of(shape.size() > grid.nodes.size() ? shape.back() : 1),
                            field.center == Center::node ? "Node" : "Cell"));
    writer.data(field.variable);
    writer.close("Attribute");
  }
  writer.close("Grid");
}

}  // namespace

std::string arguments_of(const ViewerGrid& grid) {
  return fmt::format("{}|{}:{}|{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(grid.kind), grid.name.size(), grid.name,
                     grid.time ? fmt::format("{}", *grid.time) : "none", fmt::join(grid.nodes, ","),
                     fmt::join(grid.origin, ","), fmt::join(grid.spacing, ","), fmt::join(grid.coordinates, ","),
                     static_cast<int>(grid.cell), grid.connectivity, grid.cells);
}

std::string arguments_of(int grid, const GridField& field) {
  return fmt::format("{}|{}:{}|{}|{}", grid, field.name.size(), field.name, static_cast<int>(field.center),
                     field.variable);
}

std::string xdmf_text(std::span<const ViewerGrid> grids, const Catalog& catalog, std::string_view file_name) {
  Writer writer(catalog, file_name);
  writer.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
  writer.open("Xdmf Version=\"3.0\"");
  writer.open("Domain");
  std::vector<const ViewerGrid*> series;
  for (size_t first = 0; first < grids.size(); ++first) {
    const std::string& name = grids[first].name;
    const auto same_name = [&](const ViewerGrid& grid) { return grid.name == name; };
    if (std::any_of(grids.begin(), grids.begin() + static_cast<std::ptrdiff_t>(first), same_name))
      continue;  // already written with the first
    if (!grids[first].time) {
      write_grid(writer, grids[first]);
      continue;
    }
    series.clear();
    for (const ViewerGrid& grid : grids)
      if (same_name(grid))
        series.push_back(&grid);
    std::sort(series.begin(), series.end(),
              [](const ViewerGrid* a, const ViewerGrid* b) { return *a->time < *b->time; });
    writer.open(fmt::format("Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\"", escaped(name)));
    for (const ViewerGrid* grid : series)
      write_grid(writer, *grid);
    writer.close("Grid");
  }
  writer.close("Domain");
  writer.close("Xdmf");
  return writer.take();
}

}  // namespace windrow
