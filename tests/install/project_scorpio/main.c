/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program for SCORPIO: each rank writes one row of a table, reads it back and compares. Argument: the file. */
#include <mpi.h>
#include <scorpio.h>
#include <stdio.h>
#include <windrow/windrow.h>

enum {
  columns = 5
};

static int write_table(const char *path, iogroup_t *group, int *global, int *local, double *row) {
  int file = scorpio_open_file(path, group, SCORPIO_FILE_CREATE);
  if (file < 0)
    return 1;
  int failed = scorpio_write_dataset(row, SCORPIO_DOUBLE, 2, global, local, file, "table", group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE) < 0;
  return scorpio_close_file(file, group) < 0 || failed;
}

static int read_row(const char *path, iogroup_t *group, int *global, int *local, double *row) {
  int file = scorpio_open_file(path, group, SCORPIO_FILE_READONLY);
  if (file < 0)
    return 1;
  int failed = scorpio_read_dataset(row, SCORPIO_DOUBLE, 2, global, local, file, "table", group,
                                    SCORPIO_UNIFORM_CONTIGUOUS_READ) < 0;
  return scorpio_close_file(file, group) < 0 || failed;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  iogroup_conf_t configuration = {.preferredGroupSize = 2, .commIncoming = MPI_COMM_WORLD};
  iogroup_t group;
  int global[2] = {size, columns}, local[2] = {1, columns};
  double written[columns], read[columns] = {0};
  for (int i = 0; i < columns; ++i)
    written[i] = 10.0 * rank + i;
  int failed = argc != 2 || scorpio_IOgroup_init(&configuration, &group) < 0;
  failed =
      failed || write_table(argv[1], &group, global, local, written) || read_row(argv[1], &group, global, local, read);
  if (failed)
    fprintf(stderr, "rank %d: %s\n", rank, windrow_error_message());
  for (int i = 0; !failed && i < columns; ++i)
    failed = read[i] != written[i];
  if (!failed)
    failed = scorpio_IOgroup_cleanup(&group) < 0;
  if (!failed && rank == 0)
    printf("windrow %s: %d rows\n", windrow_version(), size);
  MPI_Finalize();
  return failed;
}
