/* SPDX-License-Identifier: BSD-3-Clause */
/* A 3-d grid, cut into one block per rank, each with a layer of ghost cells around it; written to one HDF5 file and
 * read back in another cut, as a restart on another machine would.   mpirun -n 4 grid [FILE] */
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
    fprintf(stderr, "grid: %s\n", windrow_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value_at(int64_t z, int64_t y, int64_t x) {
  return (double)(z * 10000 + y * 100 + x);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argc > 1 ? argv[1] : "grid.h5";
  int ranks, rank, cut[3] = {0, 0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 3, cut);

  /* This rank's block [start, start + count), and the box in its memory: the block and one ghost cell on each side. */
  const int64_t shape[3] = {30, 20, 10}, ghost[3] = {1, 1, 1};
  const int64_t place[3] = {rank / (cut[1] * cut[2]), rank / cut[2] % cut[1], rank % cut[2]};
  int64_t start[3], count[3], box[3];
  for (int d = 0; d < 3; ++d) {
    start[d] = shape[d] * place[d] / cut[d];
    count[d] = shape[d] * (place[d] + 1) / cut[d] - start[d];
    box[d] = count[d] + 2;
  }
  double *values = malloc((size_t)(box[0] * box[1] * box[2]) * sizeof *values);
  for (int64_t z = 0; z < box[0]; ++z)
    for (int64_t y = 0; y < box[1]; ++y)
      for (int64_t x = 0; x < box[2]; ++x)
        values[(z * box[1] + y) * box[2] + x] = value_at(start[0] + z - 1, start[1] + y - 1, start[2] + x - 1);

  /* Write: the ghost cells stay in memory, only the blocks reach the file. */
  windrow_file *file;
  windrow_decomposition *blocks, *rows;
  int variable;
  check(windrow_create(MPI_COMM_WORLD, path, NULL, &file));
  check(windrow_define_variable(file, "temperature", WINDROW_FLOAT64, 3, shape, &variable));
  check(windrow_put_attribute_text(file, "temperature", "units", "K"));
  check(windrow_block(MPI_COMM_WORLD, 3, shape, start, count, box, ghost, &blocks));
  check(windrow_write(file, variable, blocks, values)); /* put and flush; the blocks serve the next time step too */
  check(windrow_close(file));

  /* Read: the same array in slabs along its slowest dimension, divided by the library. */
  int64_t first, slabs, wrong = 0;
  check(windrow_open(MPI_COMM_WORLD, path, WINDROW_READ, NULL, &file));
  check(windrow_find_variable(file, "temperature", &variable));
  check(windrow_rows(MPI_COMM_WORLD, shape[0], WINDROW_EVEN, &rows));
  check(windrow_decomposition_rows(rows, &first, &slabs));
  double *slab = malloc((size_t)(slabs * shape[1] * shape[2] + 1) * sizeof *slab);
  check(windrow_read(file, variable, rows, slab));
  check(windrow_close(file));
  for (int64_t i = 0; i < slabs * shape[1] * shape[2]; ++i)
    wrong += slab[i] != value_at(first + i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("grid: wrote and read %s on %d ranks, %lld values differ\n", path, ranks, (long long)wrong);

  windrow_decomposition_free(blocks);
  windrow_decomposition_free(rows);
  free(values);
  free(slab);
  MPI_Finalize();
  return wrong != 0;
}
