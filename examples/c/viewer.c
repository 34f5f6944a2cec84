/* SPDX-License-Identifier: BSD-3-Clause */
/* A 3-d grid at two times and a mesh of tetrahedra, written to one HDF5 file with an XDMF text beside it: ParaView
 * opens viewer.xmf (File, Open, "Xdmf3 Reader").   mpirun -n 4 viewer [FILE.h5] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <windrow/windrow.h>

/* A collective call fails with the same code on every rank: all get here, and the one that the error came from prints.
 */
static void check(int code) {
  if (code == WINDROW_OK)
    return;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (windrow_error_rank() == rank || windrow_error_rank() < 0)
    fprintf(stderr, "viewer: %s\n", windrow_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

enum {
  NZ = 5,
  NY = 7,
  NX = 9,
  CUBES = 3,
  SIDE = CUBES + 1,
  NODES = SIDE * SIDE * SIDE,
  CELLS = CUBES * CUBES * CUBES * 6
};

/* One time of the grid: temperature and velocity at the nodes, material in the cells. Each rank has whole planes of
 * them. */
static void write_step(windrow_file *file, int step, double time) {
  const int64_t nodes[3] = {NZ, NY, NX}, cells[3] = {NZ - 1, NY - 1, NX - 1}, vectors[4] = {NZ, NY, NX, 3};
  const double origin[3] = {-1, 10, 100}, spacing[3] = {0.5, 0.25, 2}; /* z, y, x */
  static double temperature[NZ][NY][NX];
  static float velocity[NZ][NY][NX][3];
  static int32_t material[NZ - 1][NY - 1][NX - 1];
  char path[100];
  int variable[3], grid;
  windrow_decomposition *at_nodes, *at_cells;
  int64_t first, planes, first_cell, layers;
  snprintf(path, sizeof path, "step %d/temperature", step);
  check(windrow_define_variable(file, path, WINDROW_FLOAT64, 3, nodes, &variable[0]));
  snprintf(path, sizeof path, "step %d/velocity", step);
  check(windrow_define_variable(file, path, WINDROW_FLOAT32, 4, vectors, &variable[1]));
  snprintf(path, sizeof path, "step %d/material", step);
  check(windrow_define_variable(file, path, WINDROW_INT32, 3, cells, &variable[2]));
  check(windrow_xdmf_uniform_grid(file, "air & water", time, 3, nodes, origin, spacing, &grid));
  check(windrow_xdmf_field(file, grid, "temperature", WINDROW_AT_NODES, variable[0]));
  check(windrow_xdmf_field(file, grid, "velocity", WINDROW_AT_NODES, variable[1]));
  check(windrow_xdmf_field(file, grid, "material <1>", WINDROW_AT_CELLS, variable[2]));

  check(windrow_rows(MPI_COMM_WORLD, NZ, WINDROW_EVEN, &at_nodes)); /* a program keeps these for all its steps */
  check(windrow_rows(MPI_COMM_WORLD, NZ - 1, WINDROW_EVEN, &at_cells));
  check(windrow_decomposition_rows(at_nodes, &first, &planes));
  check(windrow_decomposition_rows(at_cells, &first_cell, &layers));
  for (int64_t z = 0; z < planes; ++z)
    for (int y = 0; y < NY; ++y)
      for (int x = 0; x < NX; ++x) {
        temperature[z][y][x] = (double)((first + z) * 100 + y * 10 + x) + time;
        velocity[z][y][x][0] = (float)x;
        velocity[z][y][x][1] = (float)y;
        velocity[z][y][x][2] = (float)(first + z);
      }
  for (int64_t z = 0; z < layers; ++z)
    for (int y = 0; y < NY - 1; ++y)
      for (int x = 0; x < NX - 1; ++x)
        material[z][y][x] = (int32_t)((first_cell + z) * 100 + y * 10 + x) + step * 1000;
  check(windrow_put(file, variable[0], at_nodes, temperature));
  check(windrow_put(file, variable[1], at_nodes, velocity));
  check(windrow_put(file, variable[2], at_cells, material));
  check(windrow_flush(file));
  windrow_decomposition_free(at_nodes);
  windrow_decomposition_free(at_cells);
}

/* A box of cubes, each cut into six tetrahedra around its diagonal. Each rank has a run of nodes and a run of cells. */
static void write_mesh(windrow_file *file) {
  static const int64_t corners[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                        {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
  const int64_t node_shape[2] = {NODES, 3}, cell_shape[2] = {CELLS, 4};
  static double places[NODES][3], potential[NODES];
  static int64_t connectivity[CELLS][4];
  static uint8_t part[CELLS];
  int variable[4], mesh, rank;
  windrow_decomposition *at_nodes, *at_cells;
  int64_t first, count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(windrow_define_variable(file, "mesh/places", WINDROW_FLOAT64, 2, node_shape, &variable[0]));
  check(windrow_define_variable(file, "mesh/cells", WINDROW_INT64, 2, cell_shape, &variable[1]));
  check(windrow_define_variable(file, "mesh/potential", WINDROW_FLOAT64, 1, node_shape, &variable[2]));
  check(windrow_define_variable(file, "mesh/part", WINDROW_UINT8, 1, cell_shape, &variable[3]));
  check(windrow_xdmf_mesh(file, "box", NAN, WINDROW_TETRAHEDRON, variable[1], 0, variable[0], &mesh));
  check(windrow_xdmf_field(file, mesh, "potential", WINDROW_AT_NODES, variable[2]));
  check(windrow_xdmf_field(file, mesh, "part", WINDROW_AT_CELLS, variable[3]));

  check(windrow_rows(MPI_COMM_WORLD, NODES, WINDROW_EVEN, &at_nodes));
  check(windrow_rows(MPI_COMM_WORLD, CELLS, WINDROW_EVEN, &at_cells));
  check(windrow_decomposition_rows(at_nodes, &first, &count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t node = first + i;
    places[i][0] = (double)(node % SIDE);
    places[i][1] = (double)(node / SIDE % SIDE) * 2;
    places[i][2] = (double)(node / (SIDE * SIDE)) * 3;
    potential[i] = places[i][0] + 10 * places[i][1] + 100 * places[i][2];
  }
  check(windrow_decomposition_rows(at_cells, &first, &count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t cube = (first + i) / 6, x = cube % CUBES, y = cube / CUBES % CUBES, z = cube / (CUBES * CUBES);
    for (int k = 0; k < 4; ++k) {
      const int64_t corner = corners[(first + i) % 6][k]; /* bits: x, y, z */
      connectivity[i][k] = ((z + (corner >> 2)) * SIDE + y + (corner >> 1 & 1)) * SIDE + x + (corner & 1);
    }
    part[i] = (uint8_t)rank;
  }
  check(windrow_put(file, variable[0], at_nodes, places));
  check(windrow_put(file, variable[1], at_cells, connectivity));
  check(windrow_put(file, variable[2], at_nodes, potential));
  check(windrow_put(file, variable[3], at_cells, part));
  check(windrow_flush(file));
  windrow_decomposition_free(at_nodes);
  windrow_decomposition_free(at_cells);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argc > 1 ? argv[1] : "viewer.h5";
  windrow_file *file;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(windrow_create(MPI_COMM_WORLD, path, NULL, &file));
  for (int step = 0; step < 2; ++step)
    write_step(file, step, 0.25 + step);
  write_mesh(file);
  check(windrow_close(file)); /* the file and its text appear together */
  if (rank == 0)
    printf("viewer: wrote %s, and the .xmf beside it\n", path);
  MPI_Finalize();
  return 0;
}
