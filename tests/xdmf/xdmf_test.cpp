// SPDX-License-Identifier: BSD-3-Clause
// The text for each kind of grid, and what is refused.
#include "xdmf/xdmf.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace {

using namespace windrow;
using testing::HasSubstr;

// Variables by number: see the names.
Catalog example() {
  Catalog catalog;
  const auto add = [&](std::string path, Type type, std::vector<int64_t> shape) {
    Variable variable;
    variable.path = std::move(path);
    variable.type = type;
    variable.shape = std::move(shape);
    catalog.variables.push_back(std::move(variable));
  };
  add("/z", Type::float64, {2});                  // 0
  add("/y", Type::float32, {3});                  // 1
  add("/x", Type::float64, {4});                  // 2
  add("/places", Type::float64, {2, 3, 4, 3});    // 3
  add("/flat", Type::float32, {3, 4, 2});         // 4
  add("/nodes", Type::float64, {10, 3});          // 5
  add("/tetrahedra", Type::int32, {7, 4});        // 6
  add("/mixed", Type::uint64, {9});               // 7
  add("/at nodes", Type::int16, {2, 3, 4});       // 8
  add("/at cells", Type::float32, {1, 2, 3, 3});  // 9
  add("/of nodes", Type::float32, {10, 6});       // 10
  add("/of cells", Type::uint8, {7});             // 11
  add("/<&\"'>\xc3\xa9", Type::int8, {2, 3, 4});  // 12
  add("/a:b", Type::int8, {2, 3, 4});             // 13
  add("/compound", Type::none, {2, 3, 4});        // 14
  catalog.variables.back().unsupported = "compound type";
  add("/four", Type::float32, {2, 3, 4, 4});  // 15
  return catalog;
}

ViewerGrid uniform() {
  ViewerGrid grid;
  grid.name = "air";
  grid.nodes = {2, 3, 4};
  grid.origin = {0, -0.5, 1e-9};
  grid.spacing = {1, 0.1, 2};
  return grid;
}

ViewerGrid mesh() {
  ViewerGrid grid;
  grid.kind = GridKind::mesh;
  grid.name = "mesh";
  grid.connectivity = 6;
  grid.coordinates = {5};
  return grid;
}

ViewerGrid along(std::vector<int> coordinates, GridKind kind = GridKind::rectilinear) {
  ViewerGrid grid;
  grid.kind = kind;
  grid.name = "air";
  grid.coordinates = std::move(coordinates);
  return grid;
}

std::string text_of(ViewerGrid grid) {
  const Catalog catalog = example();
  const Status status = check_grid(grid, {}, catalog);
  EXPECT_TRUE(status.ok()) << status.message();
  return xdmf_text(std::span(&grid, 1), catalog, "out.h5");
}

std::string refusal(ViewerGrid grid, Code code = Code::bad_argument, std::span<const ViewerGrid> others = {}) {
  const Status status = check_grid(grid, others, example());
  EXPECT_EQ(status.code(), code) << status.message();
  return status.message();
}

TEST(Xdmf, a_uniform_grid_with_fields) {
  const Catalog catalog = example();
  ViewerGrid grid = uniform();
  grid.time = 0.1;
  ASSERT_TRUE(check_grid(grid, {}, catalog).ok());
  for (const GridField& field : {GridField{"short", Center::node, 8}, GridField{"vector", Center::cell, 9}}) {
    const Status status = check_field(grid, field, catalog);
    ASSERT_TRUE(status.ok()) << status.message();
    grid.fields.push_back(field);
  }
  EXPECT_EQ(xdmf_text(std::span(&grid, 1), catalog, "out.h5"), R"(<?xml version="1.0" encoding="UTF-8"?>
<Xdmf Version="3.0">
  <Domain>
    <Grid Name="air" GridType="Collection" CollectionType="Temporal">
      <Grid Name="air" GridType="Uniform">
        <Time Value="0.1"/>
        <Topology TopologyType="3DCoRectMesh" Dimensions="2 3 4"/>
        <Geometry GeometryType="ORIGIN_DXDYDZ">
          <DataItem Format="XML" Dimensions="3" NumberType="Float" Precision="8">0 -0.5 1e-09</DataItem>
          <DataItem Format="XML" Dimensions="3" NumberType="Float" Precision="8">1 0.1 2</DataItem>
        </Geometry>
        <Attribute Name="short" AttributeType="Scalar" Center="Node">
          <DataItem Format="HDF" Dimensions="2 3 4" NumberType="Short" Precision="2">out.h5:/at nodes</DataItem>
        </Attribute>
        <Attribute Name="vector" AttributeType="Vector" Center="Cell">
          <DataItem Format="HDF" Dimensions="1 2 3 3" NumberType="Float" Precision="4">out.h5:/at cells</DataItem>
        </Attribute>
      </Grid>
    </Grid>
  </Domain>
</Xdmf>
)");
}

// VTK's older reader takes a "Matrix" for as many components as it has columns, and drops points.
TEST(Xdmf, fields_of_any_number_of_components_are_vectors) {
  ViewerGrid grid = uniform();
  grid.fields = {GridField{"four", Center::node, 15}};
  EXPECT_NE(text_of(grid).find("<Attribute Name=\"four\" AttributeType=\"Vector\" Center=\"Node\">"),
            std::string::npos);
}

TEST(Xdmf, coordinates_from_variables) {
  const std::string rectilinear = text_of(along({0, 1, 2}));
  EXPECT_THAT(rectilinear, HasSubstr("TopologyType=\"3DRectMesh\" Dimensions=\"2 3 4\""));
  EXPECT_THAT(rectilinear, HasSubstr("GeometryType=\"VXVYVZ\""));
  EXPECT_LT(rectilinear.find("out.h5:/x"),
            rectilinear.find("out.h5:/y"));  // x first, though the grid's dimensions are z, y, x
  EXPECT_LT(rectilinear.find("out.h5:/y"), rectilinear.find("out.h5:/z"));
  EXPECT_THAT(text_of(along({1, 2})), HasSubstr("GeometryType=\"VXVY\""));
  const std::string curvilinear = text_of(along({3}, GridKind::curvilinear));
  EXPECT_THAT(curvilinear, HasSubstr("TopologyType=\"3DSMesh\" Dimensions=\"2 3 4\""));
  EXPECT_THAT(curvilinear, HasSubstr("GeometryType=\"XYZ\""));
  EXPECT_THAT(text_of(along({4}, GridKind::curvilinear)), HasSubstr("TopologyType=\"2DSMesh\" Dimensions=\"3 4\""));
  EXPECT_THAT(text_of(along({4}, GridKind::curvilinear)), HasSubstr("GeometryType=\"XY\""));
}

TEST(Xdmf, meshes) {
  EXPECT_THAT(text_of(mesh()), HasSubstr("TopologyType=\"Tetrahedron\" NumberOfElements=\"7\""));
  ViewerGrid mixed = mesh();
  mixed.cell = Cell::mixed;
  mixed.connectivity = 7;
  mixed.cells = 2;
  EXPECT_THAT(text_of(mixed), HasSubstr("TopologyType=\"Mixed\" NumberOfElements=\"2\""));
  EXPECT_THAT(text_of(mixed), HasSubstr("NumberType=\"Int\" Precision=\"8\">out.h5:/mixed"));
  ViewerGrid grid = mesh();
  ASSERT_TRUE(check_grid(grid, {}, example()).ok());
  EXPECT_TRUE(check_field(grid, {"a", Center::node, 10}, example()).ok());
  EXPECT_TRUE(check_field(grid, {"a", Center::cell, 11}, example()).ok());
  EXPECT_EQ(check_field(grid, {"a", Center::node, 11}, example()).code(), Code::bad_argument);
}

TEST(Xdmf, names_are_escaped) {
  const Catalog catalog = example();
  ViewerGrid grid = uniform();
  grid.name = "<a> & \"b\" 'c' \xc3\xa9";
  grid.fields.push_back({"f<1>", Center::node, 12});
  const std::string text = xdmf_text(std::span(&grid, 1), catalog, "a & b.h5");
  EXPECT_THAT(text, HasSubstr("Name=\"&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos; \xc3\xa9\""));
  EXPECT_THAT(text, HasSubstr("Name=\"f&lt;1&gt;\""));
  EXPECT_THAT(text, HasSubstr(">a &amp; b.h5:/&lt;&amp;&quot;&apos;&gt;\xc3\xa9</DataItem>"));
  for (const char* name : {"", "a\nb", "a\x7f", "\xff", "\xef\xbf\xbe"}) {
    grid.name = name;
    refusal(grid);
  }
  EXPECT_EQ(check_reference("the file", "a:b.h5").code(), Code::unsupported);
}

TEST(Xdmf, a_series_is_sorted_and_stands_where_it_began) {
  std::vector<ViewerGrid> grids{uniform(), uniform(), uniform()};
  grids[0].time = 2;
  grids[1].name = "other";
  grids[2].time = -1;
  const std::string text = xdmf_text(grids, example(), "out.h5");
  const size_t early = text.find("<Time Value=\"-1\"/>"), late = text.find("<Time Value=\"2\"/>"),
               other = text.find("Name=\"other\"");
  EXPECT_LT(early, late);
  EXPECT_LT(late, other);
  EXPECT_NE(other, text.npos);
}

TEST(Xdmf, grids_of_one_name_go_together) {
  ViewerGrid first = uniform(), second = uniform();
  first.time = 1;
  second.time = 2;
  EXPECT_TRUE(check_grid(second, std::span(&first, 1), example()).ok());
  second.time = 1;
  EXPECT_THAT(refusal(second, Code::exists, std::span(&first, 1)), HasSubstr("at the time 1"));
  second.time.reset();
  EXPECT_THAT(refusal(second, Code::exists, std::span(&first, 1)), HasSubstr("have a time"));
  ViewerGrid other = along({0, 1, 2});
  other.time = 2;
  EXPECT_THAT(refusal(other, Code::bad_argument, std::span(&first, 1)), HasSubstr("another kind"));
}

TEST(Xdmf, refuses_grids_that_do_not_fit) {
  ViewerGrid grid = uniform();
  grid.nodes = {2, 1, 4};
  EXPECT_THAT(refusal(grid), HasSubstr("dimension 1 has 1 node"));
  grid = uniform();
  grid.nodes.pop_back();
  EXPECT_THAT(refusal(grid), HasSubstr("origin and spacing"));
  grid = uniform();
  grid.spacing[2] = 0;
  EXPECT_THAT(refusal(grid), HasSubstr("spacing of dimension 2"));
  grid = uniform();
  grid.origin[0] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal(grid), HasSubstr("origin of dimension 0"));
  grid = uniform();
  grid.time = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal(grid), HasSubstr("time"));
  EXPECT_THAT(refusal(along({0, 1, 2, 0})), HasSubstr("4 dimensions"));
  EXPECT_THAT(refusal(along({0, 1, 3})), HasSubstr("\"/places\" has the shape [2, 3, 4, 3]"));
  EXPECT_THAT(refusal(along({0, 1, 99})), HasSubstr("99"));
  EXPECT_THAT(refusal(along({0, 1, 6})), HasSubstr("int32"));
  EXPECT_THAT(refusal(along({14, 1, 2}), Code::unsupported), HasSubstr("compound type"));
  EXPECT_THAT(refusal(along({5}, GridKind::curvilinear)), HasSubstr("1 dimension"));
  EXPECT_THAT(refusal(along({0}, GridKind::curvilinear)), HasSubstr("x 3"));
}

TEST(Xdmf, refuses_meshes_that_do_not_fit) {
  ViewerGrid grid = mesh();
  grid.cell = Cell::hexahedron;
  EXPECT_THAT(refusal(grid), HasSubstr("cells x 8"));
  grid.cell = static_cast<Cell>(17);
  EXPECT_THAT(refusal(grid), HasSubstr("17"));
  grid = mesh();
  grid.connectivity = 5;
  EXPECT_THAT(refusal(grid), HasSubstr("float64, not integers"));
  grid = mesh();
  grid.coordinates = {3};
  EXPECT_THAT(refusal(grid), HasSubstr("nodes x 2"));
  grid = mesh();
  grid.cell = Cell::mixed;
  EXPECT_THAT(refusal(grid), HasSubstr("one dimension"));
  grid.connectivity = 7;
  grid.cells = 3;
  EXPECT_THAT(refusal(grid), HasSubstr("cannot hold 3 cells"));
}

TEST(Xdmf, refuses_fields_that_do_not_fit) {
  ViewerGrid grid = uniform();
  const Catalog catalog = example();
  const auto code = [&](const GridField& field) { return check_field(grid, field, catalog).code(); };
  EXPECT_EQ(code({"a", Center::cell, 8}), Code::bad_argument);
  EXPECT_EQ(code({"a", Center::node, 9}), Code::bad_argument);
  EXPECT_EQ(code({"a", static_cast<Center>(2), 8}), Code::bad_argument);
  EXPECT_EQ(code({"", Center::node, 8}), Code::bad_argument);
  EXPECT_EQ(code({"a", Center::node, -1}), Code::bad_argument);
  EXPECT_EQ(code({"a", Center::node, 13}), Code::unsupported);
  EXPECT_EQ(code({"a", Center::node, 14}), Code::unsupported);
  grid.fields.push_back({"a", Center::node, 8});
  EXPECT_EQ(code({"a", Center::node, 8}), Code::exists);
  EXPECT_EQ(code({"a", Center::cell, 9}), Code::ok);
}

TEST(Xdmf, arguments_tell_all_differences) {
  const std::string all = arguments_of(uniform());
  const auto differs = [&](auto change) {
    ViewerGrid grid = uniform();
    change(grid);
    return arguments_of(grid) != all;
  };
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.kind = GridKind::mesh; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.name = "b"; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.time = 0; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.nodes[2] = 5; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.origin[1] += 1e-15; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.spacing[0] = 2; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.coordinates = {1}; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.cell = Cell::wedge; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.connectivity = 1; }));
  EXPECT_TRUE(differs([](ViewerGrid& g) { g.cells = 1; }));
  EXPECT_NE(arguments_of(0, {"a", Center::node, 1}), arguments_of(1, {"a", Center::node, 1}));
  EXPECT_NE(arguments_of(0, {"a", Center::node, 1}), arguments_of(0, {"a", Center::cell, 1}));
  EXPECT_NE(arguments_of(0, {"a", Center::node, 1}), arguments_of(0, {"a", Center::node, 2}));
}

}  // namespace
