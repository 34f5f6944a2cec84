/* SPDX-License-Identifier: BSD-3-Clause */
/* A partitioned mesh: each rank holds the nodes of its part by number, and two ranks hold those at a boundary. It is
 * written to one HDF5 file in the numbering of the mesh, for any partition, and read back in plain rows.
 *   mpirun -n 4 mesh [FILE] */
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
    fprintf(stderr, "mesh: %s\n", windrow_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double field_at(int64_t node, int64_t level) {
  return (double)node + (double)level / 16;
}

enum {
  LEVELS = 5
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argc > 1 ? argv[1] : "mesh.h5";
  const int64_t nodes = 1009;
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  /* A closed ring: this part owns the nodes [begin, end) and has a copy of the next part's first node. Its own order is
   * backwards. */
  const int64_t begin = nodes * rank / ranks, end = nodes * (rank + 1) / ranks, count = end - begin + 1;
  int64_t *list = malloc((size_t)count * sizeof *list);
  unsigned char *owned = malloc((size_t)count);
  double *field = malloc((size_t)(count * LEVELS) * sizeof *field);
  for (int64_t i = 0; i < count; ++i) {
    list[i] = (end - i) % nodes;
    owned[i] = i > 0; /* the copy comes first */
    for (int64_t level = 0; level < LEVELS; ++level)
      field[i * LEVELS + level] = field_at(list[i], level);
  }

  windrow_file *file;
  windrow_decomposition *points, *rows;
  const int64_t shape[2] = {nodes, LEVELS};
  int variable;
  check(windrow_create(MPI_COMM_WORLD, path, NULL, &file));
  check(
      windrow_define_variable(file, "mesh/potential", WINDROW_FLOAT64, 2, shape, &variable)); /* makes the group too */
  check(windrow_points(MPI_COMM_WORLD, nodes, count, list, owned, &points));
  check(windrow_put(file, variable, points, field)); /* local: queued. More variables may follow ... */
  check(windrow_close(file));                        /* ... and all move together here, or at windrow_flush() */

  int64_t first, mine, wrong = 0;
  check(windrow_open(MPI_COMM_WORLD, path, WINDROW_READ, NULL, &file));
  check(windrow_find_variable(file, "mesh/potential", &variable));
  check(windrow_rows(MPI_COMM_WORLD, nodes, WINDROW_EVEN, &rows));
  check(windrow_decomposition_rows(rows, &first, &mine));
  double *read = malloc((size_t)(mine * LEVELS + 1) * sizeof *read);
  check(windrow_read(file, variable, rows, read));
  check(windrow_close(file));
  for (int64_t i = 0; i < mine * LEVELS; ++i)
    wrong += read[i] != field_at(first + i / LEVELS, i % LEVELS);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("mesh: wrote and read %s on %d ranks, %lld values differ\n", path, ranks, (long long)wrong);

  windrow_decomposition_free(points);
  windrow_decomposition_free(rows);
  free(list);
  free(owned);
  free(field);
  free(read);
  MPI_Finalize();
  return wrong != 0;
}
