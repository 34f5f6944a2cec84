/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program: each rank writes one row of a table, reads it back and compares. Argument: the file. */
#include <mpi.h>
#include <stdio.h>
#include <windrow/windrow.h>

enum {
  columns = 5
};

static int check(int code, const char *what) {
  if (code != WINDROW_OK)
    fprintf(stderr, "%s: %s: %s\n", what, windrow_code_name(code), windrow_error_message());
  return code != WINDROW_OK;
}

static int write_table(const char *path, const int64_t *shape, const int64_t *start, const int64_t *count,
                       const double *row) {
  windrow_file *file = NULL;
  int variable = -1;
  if (check(windrow_create(MPI_COMM_WORLD, path, NULL, &file), "create"))
    return 1;
  int failed = check(windrow_define_variable(file, "table", WINDROW_FLOAT64, 2, shape, &variable), "define") ||
               check(windrow_write_block(file, variable, start, count, row), "write");
  return check(windrow_close(file), "close") || failed;
}

static int read_row(const char *path, const int64_t *start, const int64_t *count, double *row) {
  windrow_file *file = NULL;
  int variable = -1;
  if (check(windrow_open(MPI_COMM_WORLD, path, WINDROW_READ, NULL, &file), "open"))
    return 1;
  int failed = check(windrow_find_variable(file, "table", &variable), "find") ||
               check(windrow_read_block(file, variable, start, count, row), "read");
  return check(windrow_close(file), "close") || failed;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t shape[2] = {size, columns}, start[2] = {rank, 0}, count[2] = {1, columns};
  double written[columns], read[columns] = {0};
  for (int i = 0; i < columns; ++i)
    written[i] = 10.0 * rank + i;
  int failed = argc != 2 || write_table(argv[1], shape, start, count, written) || read_row(argv[1], start, count, read);
  for (int i = 0; !failed && i < columns; ++i)
    failed = read[i] != written[i];
  if (!failed && rank == 0)
    printf("windrow %s: %d rows\n", windrow_version(), size);
  MPI_Finalize();
  return failed;
}
