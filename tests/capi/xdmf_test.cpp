// SPDX-License-Identifier: BSD-3-Clause
// The XDMF text beside a file: it comes and goes with it, on every rank alike. What it says is tested in tests/xdmf.
#include <cmath>
#include <functional>

#include "checked.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_nodes[3] = {3, 4, 5}, k_cells[3] = {2, 3, 4};
constexpr double k_origin[3] = {0, 0, 0}, k_spacing[3] = {1, 1, 1};

class Xdmf : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("xdmf") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path() const { return folder_.file("out.h5"); }
  std::string text() const { return bytes_of_file(folder_.file("out.xmf")); }

  static windrow_file* create(const std::string& at) {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, at.c_str(), nullptr, &file));
    return file;
  }
  windrow_file* create() const { return create(path()); }
  static int define(windrow_file* file, const char* name, const int64_t* shape = k_nodes) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_INT32, 3, shape, &variable));
    return variable;
  }
  static int describe(windrow_file* file, const char* name, double time, int* grid) {
    return windrow_xdmf_uniform_grid(file, name, time, 3, k_nodes, k_origin, k_spacing, grid);
  }
  // A grid with one field.
  static void add(windrow_file* file, const char* name, double time, const char* variable) {
    int grid = -1;
    EXPECT_WINDROW_OK(describe(file, name, time, &grid));
    EXPECT_WINDROW_OK(windrow_xdmf_field(file, grid, "field", WINDROW_AT_NODES, define(file, variable)));
  }
  void make(const char* name) const {
    windrow_file* file = create();
    add(file, name, NAN, "v");
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  void expect_names(const std::vector<std::string>& names) const {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(folder_.names(), names);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void expect_text(const std::string& has, const std::string& has_not) const {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_NE(text().find(has), std::string::npos) << text();
    EXPECT_EQ(text().find(has_not), std::string::npos) << text();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void on_root(const std::function<void()>& work) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      work();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  SharedFolder folder_;
};

TEST_F(Xdmf, appears_with_the_file) {
  make("first");
  expect_names({"out.h5", "out.xmf"});
  expect_text("out.h5:/v", folder_.path());  // relative, so that both can be moved
  windrow_file* file = create();
  add(file, "second", NAN, "w");
  expect_text("first", "second");
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_names({"out.h5", "out.xmf"});
  expect_text("second", "first");
}

TEST_F(Xdmf, is_not_there_without_grids_or_after_discard) {
  windrow_file* file = create();
  define(file, "v");
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_names({"out.h5"});
  make("old");
  file = create();
  add(file, "new", NAN, "v");
  EXPECT_WINDROW_OK(windrow_discard(file));
  expect_names({"out.h5", "out.xmf"});
  expect_text("old", "new");
}

TEST_F(Xdmf, follows_every_sync) {
  windrow_file* file = create();
  add(file, "air", 2, "two");
  EXPECT_WINDROW_OK(windrow_sync(file));
  expect_text("Value=\"2\"", "Value=\"1\"");
  add(file, "air", 1, "one");
  expect_text("Value=\"2\"", "Value=\"1\"");
  EXPECT_WINDROW_OK(windrow_sync(file));
  expect_text("Value=\"1\"", "Value=\"3\"");
  expect_names({"out.h5", "out.xmf"});
  add(file, "air", 3, "three");
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_text("Value=\"3\"", "Value=\"4\"");
  expect_text("Value=\"1\"", "Value=\"4\"");
  expect_names({"out.h5", "out.xmf"});
}

TEST_F(Xdmf, describes_a_file_that_was_there) {
  windrow_file* file = create();
  define(file, "v");
  EXPECT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
  int grid = -1, variable = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "v", &variable));
  EXPECT_WINDROW_OK(describe(file, "later", NAN, &grid));
  EXPECT_WINDROW_OK(windrow_xdmf_field(file, grid, "v", WINDROW_AT_NODES, variable));
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_names({"out.h5", "out.xmf"});
  expect_text("later", "earlier");
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_EQ(describe(file, "reading", NAN, &grid), WINDROW_BAD_STATE);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// A text that cannot be put in place keeps the new file from appearing too.
TEST_F(Xdmf, leaves_the_old_pair_when_it_cannot_be_published) {
  make("old");
  const std::string before = bytes_of_file(path()), old_text = text();
  windrow_file* file = create();
  add(file, "new", NAN, "w");
  on_root([&] {
    std::filesystem::remove(folder_.file("out.xmf"));
    std::filesystem::create_directory(folder_.file("out.xmf"));
  });
  const int code = windrow_close(file);
  EXPECT_NE(code, WINDROW_OK);
  expect_same_everywhere(code);
  expect_names({"out.h5", "out.xmf"});
  EXPECT_EQ(bytes_of_file(path()), before);
}

TEST_F(Xdmf, tells_early_what_stands_in_its_way) {
  on_root([&] { std::filesystem::create_directory(folder_.file("out.xmf")); });
  windrow_file* file = create();
  int grid = -1;
  const int code = describe(file, "air", NAN, &grid);
  EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
  expect_same_everywhere(code);
  EXPECT_NE(std::string(windrow_error_message()).find("out.xmf"), std::string::npos) << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_close(file));  // the file is none the worse for it
  expect_names({"out.h5", "out.xmf"});
}

TEST_F(Xdmf, is_for_hdf5_only) {
  windrow_file* file = create(folder_.file("out.raw"));
  int grid = -1;
  EXPECT_EQ(describe(file, "air", NAN, &grid), WINDROW_UNSUPPORTED);
  EXPECT_NE(std::string(windrow_error_message()).find("format raw"), std::string::npos) << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_close(file));
  const Options hdf5{{"format", "hdf5"}};
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("out.xmf").c_str(), hdf5, &file));
  EXPECT_EQ(describe(file, "air", NAN, &grid), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_discard(file));
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("a:b.h5").c_str(), nullptr, &file));
  EXPECT_EQ(describe(file, "air", NAN, &grid), WINDROW_UNSUPPORTED);
  EXPECT_WINDROW_OK(windrow_discard(file));
  expect_names({"out.raw", "out.raw.json"});
}

// Every kind, by the C interface; numbers of grids go on.
TEST_F(Xdmf, takes_all_kinds) {
  windrow_file* file = create();
  const int64_t line[1] = {4}, places[3] = {4, 4, 3}, nodes[2] = {6, 3}, cells[2] = {2, 4}, mixed[1] = {10};
  int axis = -1, curved = -1, node = -1, cell = -1, list = -1, grid = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "axis", WINDROW_FLOAT64, 1, line, &axis));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "curved", WINDROW_FLOAT64, 3, places, &curved));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "nodes", WINDROW_FLOAT32, 2, nodes, &node));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "cells", WINDROW_INT64, 2, cells, &cell));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "list", WINDROW_INT64, 1, mixed, &list));
  const int axes[3] = {axis, axis, axis};
  EXPECT_WINDROW_OK(windrow_xdmf_rectilinear_grid(file, "rectilinear", NAN, 3, axes, &grid));
  EXPECT_EQ(grid, 0);
  EXPECT_WINDROW_OK(windrow_xdmf_curvilinear_grid(file, "curvilinear", NAN, curved, &grid));
  EXPECT_EQ(grid, 1);
  EXPECT_WINDROW_OK(windrow_xdmf_mesh(file, "mesh", NAN, WINDROW_TETRAHEDRON, cell, 0, node, &grid));
  EXPECT_EQ(grid, 2);
  EXPECT_WINDROW_OK(windrow_xdmf_mesh(file, "mixed", NAN, WINDROW_MIXED_CELLS, list, 2, node, &grid));
  EXPECT_EQ(grid, 3);
  EXPECT_WINDROW_OK(windrow_close(file));
  for (const char* kind : {"3DRectMesh", "2DSMesh", "Tetrahedron", "Mixed"})
    expect_text(kind, "CoRect");
}

// One rank's argument is wrong or differs: an error on every rank, and the next call works.
TEST_F(Xdmf, refuses_arguments_on_every_rank) {
  windrow_file* file = create();
  const int variable = define(file, "v");
  int grid = -1, first = -1;
  EXPECT_WINDROW_OK(describe(file, "good", NAN, &first));
  const bool here = rank_of() == size_of() - 1;
  const auto expect = [&](int code, const std::string& words) {
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(code);
    EXPECT_NE(std::string(windrow_error_message()).find(words), std::string::npos) << windrow_error_message();
  };
  const auto uniform = [&](const char* name, double time, int ndims, const int64_t* nodes, const double* origin,
                           const double* spacing, int* out) {
    return windrow_xdmf_uniform_grid(file, name, time, ndims, nodes, origin, spacing, out);
  };
  expect(uniform(here ? nullptr : "a", 0, 3, k_nodes, k_origin, k_spacing, &grid), "name of the grid is NULL");
  expect(uniform("a", 0, here ? 7 : 3, k_nodes, k_origin, k_spacing, &grid), "7");
  expect(uniform("a", 0, 3, here ? nullptr : k_nodes, k_origin, k_spacing, &grid), "nodes of the grid is NULL");
  expect(uniform("a", 0, 3, k_nodes, here ? nullptr : k_origin, k_spacing, &grid), "origin of the grid is NULL");
  expect(uniform("a", 0, 3, k_nodes, k_origin, here ? nullptr : k_spacing, &grid), "spacing of the grid is NULL");
  expect(uniform("a", 0, 3, k_nodes, k_origin, k_spacing, here ? nullptr : &grid), "grid is NULL");
  const int axes[3] = {variable, variable, variable};  // of integers
  expect(windrow_xdmf_rectilinear_grid(file, "a", 0, 3, axes, &grid), "not float32 or float64");
  expect(windrow_xdmf_field(file, here ? 5 : first, "f", WINDROW_AT_NODES, variable), "5");
  expect(windrow_xdmf_field(file, first, here ? nullptr : "f", WINDROW_AT_NODES, variable),
         "name of the field is NULL");
  expect(windrow_xdmf_field(file, first, "f", here ? 9 : WINDROW_AT_NODES, variable), "9");
  if (size_of() > 1) {
    expect(uniform(here ? "b" : "a", 0, 3, k_nodes, k_origin, k_spacing, &grid), "arguments of the grid differ");
    expect(uniform("a", here ? 1 : 0, 3, k_nodes, k_origin, k_spacing, &grid), "arguments of the grid differ");
    expect(uniform("a", 0, 3, here ? k_cells : k_nodes, k_origin, k_spacing, &grid), "arguments of the grid differ");
    expect(windrow_xdmf_field(file, first, here ? "g" : "f", WINDROW_AT_NODES, variable),
           "arguments of the field differ");
  }
  EXPECT_EQ(grid, -1);
  EXPECT_WINDROW_OK(windrow_xdmf_field(file, first, "f", WINDROW_AT_NODES, variable));
  EXPECT_EQ(windrow_xdmf_field(file, first, "f", WINDROW_AT_NODES, variable), WINDROW_EXISTS);
  EXPECT_EQ(windrow_xdmf_field(nullptr, first, "f", WINDROW_AT_NODES, variable), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_text("good", "Name=\"a\"");
}

}  // namespace
