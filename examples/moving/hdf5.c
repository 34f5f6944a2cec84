/* SPDX-License-Identifier: BSD-3-Clause */
/* What docs/moving.md says of parallel HDF5: blocks of an array, written and read back.   mpirun -n 4 hdf5 [FILE] */
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
    fprintf(stderr, "hdf5: %s\n", windrow_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_blocks(MPI_Comm comm, const char *path, const int64_t *shape, const int64_t *start,
                         const int64_t *count, const double *values) {
  windrow_file *file;
  windrow_decomposition *blocks;
  int temperature;
  check(windrow_create(comm, path, NULL, &file));
  check(windrow_define_variable(file, "fields/temperature", WINDROW_FLOAT64, 2, shape, &temperature));
  check(windrow_put_attribute_text(file, "fields/temperature", "units", "K"));
  check(windrow_block(comm, 2, shape, start, count, NULL, NULL, &blocks)); /* once; for all variables and steps */
  check(windrow_put(file, temperature, blocks, values));                   /* more variables may follow */
  check(windrow_flush(file));
  check(windrow_close(file)); /* the file appears */
  windrow_decomposition_free(blocks);
}

static void read_blocks(MPI_Comm comm, const char *path, const int64_t *start, const int64_t *count, double *values) {
  windrow_file *file;
  int temperature;
  check(windrow_open(comm, path, WINDROW_READ, NULL, &file));
  check(windrow_find_variable(file, "fields/temperature", &temperature));
  check(windrow_read_block(file, temperature, start, count, values));
  check(windrow_close(file));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argc > 1 ? argv[1] : "hdf5.h5";
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int64_t shape[2] = {6, 5 * ranks}, start[2] = {0, 5 * rank}, count[2] = {6, 5}; /* a strip of columns each */
  double values[30], read[30];
  for (int i = 0; i < 30; ++i)
    values[i] = (double)(i / 5 * 1000 + 5 * rank + i % 5);
  write_blocks(MPI_COMM_WORLD, path, shape, start, count, values);
  read_blocks(MPI_COMM_WORLD, path, start, count, read);
  int wrong = 0;
  for (int i = 0; i < 30; ++i)
    wrong += read[i] != values[i];
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("hdf5: wrote and read %s on %d ranks, %d values differ\n", path, ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
