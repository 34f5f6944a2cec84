/* SPDX-License-Identifier: BSD-3-Clause */
/* What docs/moving.md says of SCORPIO: rows, one table for everybody and an attribute, written and read back.
 *   mpirun -n 4 scorpio [FILE] */
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
    fprintf(stderr, "scorpio: %s\n", windrow_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_rows(MPI_Comm comm, const char *path, const int64_t *shape, int64_t mine, const double *values) {
  windrow_options *options;
  windrow_file *file;
  windrow_decomposition *rows;
  const double time = 0.5;
  int pressure;
  check(windrow_options_create(&options));
  check(windrow_options_set(options, "strategy", "scorpio")); /* or leave it: the library chooses */
  check(windrow_create(comm, path, options, &file));
  check(windrow_define_variable(file, "step/pressure", WINDROW_FLOAT64, 2, shape, &pressure)); /* makes the group too */
  check(windrow_put_attribute(file, "step", "time", WINDROW_FLOAT64, 0, NULL, &time));
  check(windrow_rows(comm, shape[0], mine, &rows)); /* once; WINDROW_EVEN divides them, remainder and all */
  check(windrow_write(file, pressure, rows, values));
  check(windrow_close(file));
  windrow_decomposition_free(rows);
  windrow_options_free(options);
}

static void read_all(MPI_Comm comm, const char *path, double *values) {
  windrow_file *file;
  windrow_decomposition *all;
  int pressure;
  check(windrow_open(comm, path, WINDROW_READ, NULL, &file));
  check(windrow_find_variable(file, "step/pressure", &pressure));
  check(windrow_same(comm, 0, NULL, NULL, NULL, &all)); /* everybody gets all of it */
  check(windrow_read(file, pressure, all, values));
  check(windrow_close(file));
  windrow_decomposition_free(all);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argc > 1 ? argv[1] : "scorpio.h5";
  int ranks, rank, wrong = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* Rank r has r + 1 rows of four. */
  const int64_t shape[2] = {(int64_t)ranks * (ranks + 1) / 2, 4}, mine = rank + 1,
                first = (int64_t)rank * (rank + 1) / 2;
  double *values = malloc((size_t)(mine * 4) * sizeof *values), *read = malloc((size_t)(shape[0] * 4) * sizeof *read);
  for (int64_t i = 0; i < mine * 4; ++i)
    values[i] = (double)(first * 4 + i);
  write_rows(MPI_COMM_WORLD, path, shape, mine, values);
  read_all(MPI_COMM_WORLD, path, read);
  for (int64_t i = 0; i < shape[0] * 4; ++i)
    wrong += read[i] != (double)i;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("scorpio: wrote and read %s on %d ranks, %d values differ\n", path, ranks, wrong);
  free(values);
  free(read);
  MPI_Finalize();
  return wrong != 0;
}
