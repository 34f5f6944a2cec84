/* SPDX-License-Identifier: BSD-3-Clause */
/* A climate code's history file: fields on a grid of latitudes and longitudes, one record a time step, with
 * coordinates, units and fill values. The name says the format: history.nc is netCDF classic, history.h5 is HDF5 as
 * netCDF-4 has it.   mpirun -n 4 climate [FILE] */
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
    fprintf(stderr, "climate: %s\n", windrow_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

enum {
  LATITUDES = 19,
  LONGITUDES = 36,
  STEPS = 3
};

static float value_at(int64_t step, int64_t y, int64_t x) {
  return (float)(250 + step + 0.5 * (double)y + 0.125 * (double)x);
}

/* This rank's latitudes of one step. */
static void compute(int64_t step, int64_t first, int64_t count, float *field) {
  for (int64_t y = 0; y < count; ++y)
    for (int64_t x = 0; x < LONGITUDES; ++x)
      field[y * LONGITUDES + x] = value_at(step, first + y, x);
}

static void create_history(const char *path, windrow_decomposition *rows, windrow_decomposition *all, int64_t first,
                           int64_t count, float *field) {
  /* what docs/netcdf.md shows begins here */
  windrow_file *file;
  windrow_options *grows;
  int time, lat, lon, temperature;
  const int64_t latitudes[1] = {LATITUDES}, longitudes[1] = {LONGITUDES};
  const int64_t no_time[1] = {0}, no_fields[3] = {0, LATITUDES, LONGITUDES};
  const char *const of_time[1] = {"time"}, *const of_fields[3] = {"time", "lat", "lon"};
  check(windrow_create(MPI_COMM_WORLD, path, NULL, &file));
  check(windrow_options_create(&grows));
  check(windrow_options_set(grows, "extendible", "true")); /* the unlimited dimension */
  check(windrow_define_variable(file, "lat", WINDROW_FLOAT64, 1, latitudes, &lat));
  check(windrow_define_variable(file, "lon", WINDROW_FLOAT64, 1, longitudes, &lon));
  check(windrow_define_variable_with(file, "time", WINDROW_FLOAT64, 1, no_time, grows, &time));
  check(windrow_options_set(grows, "fill_value", "1e20")); /* becomes _FillValue */
  check(windrow_define_variable_with(file, "temperature", WINDROW_FLOAT32, 3, no_fields, grows, &temperature));
  check(windrow_name_dimensions(file, time, of_time));
  check(windrow_name_dimensions(file, temperature, of_fields)); /* lat and lon are coordinates by that */
  check(windrow_put_attribute_text(file, "/", "Conventions", "CF-1.8"));
  check(windrow_put_attribute_text(file, "time", "units", "days since 2000-01-01"));
  check(windrow_put_attribute_text(file, "temperature", "units", "K"));

  for (int64_t step = 0; step < STEPS; ++step) {
    const double day = (double)step;
    compute(step, first, count, field);
    check(windrow_put_record(file, time, step, all, &day));
    check(windrow_put_record(file, temperature, step, rows, field)); /* any number of variables */
    check(windrow_flush(file));                                      /* in one exchange */
  }
  /* and ends here */
  double places[LATITUDES + LONGITUDES];
  for (int i = 0; i < LATITUDES; ++i)
    places[i] = -90 + 10 * i;
  for (int i = 0; i < LONGITUDES; ++i)
    places[LATITUDES + i] = 10 * i;
  check(windrow_put(file, lat, all, places));
  check(windrow_put(file, lon, all, places + LATITUDES));
  check(windrow_close(file));
  windrow_options_free(grows);
}

/* A later job opens the file and appends its records. */
static void append_step(const char *path, windrow_decomposition *rows, windrow_decomposition *all, int64_t first,
                        int64_t count, float *field) {
  windrow_file *file;
  int time, temperature;
  windrow_variable_info info = {.size = sizeof info};
  check(windrow_open(MPI_COMM_WORLD, path, WINDROW_UPDATE, NULL, &file));
  check(windrow_find_variable(file, "time", &time));
  check(windrow_find_variable(file, "temperature", &temperature));
  check(windrow_inquire_variable(file, time, &info));
  const int64_t step = info.shape[0];
  const double day = (double)step;
  compute(step, first, count, field);
  check(windrow_put_record(file, time, step, all, &day));
  check(windrow_put_record(file, temperature, step, rows, field));
  check(windrow_close(file));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argc > 1 ? argv[1] : "history.nc";
  int rank;
  int64_t first, count, wrong = 0;
  windrow_decomposition *split, *rows, *all;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(windrow_rows(MPI_COMM_WORLD, LATITUDES, WINDROW_EVEN, &split));
  check(windrow_decomposition_rows(split, &first, &count));
  const int64_t shape[2] = {LATITUDES, LONGITUDES}, start[2] = {first, 0}, block[2] = {count, LONGITUDES};
  check(windrow_block(MPI_COMM_WORLD, 2, shape, start, block, NULL, NULL, &rows));
  check(windrow_same(MPI_COMM_WORLD, 0, NULL, NULL, NULL, &all));
  float *field = malloc((size_t)(count * LONGITUDES + 1) * sizeof *field);

  create_history(path, rows, all, first, count, field);
  append_step(path, rows, all, first, count, field);

  windrow_file *file;
  int temperature;
  check(windrow_open(MPI_COMM_WORLD, path, WINDROW_READ, NULL, &file));
  check(windrow_find_variable(file, "temperature", &temperature));
  for (int64_t step = 0; step <= STEPS; ++step) {
    check(windrow_get_record(file, temperature, step, rows, field));
    check(windrow_flush(file));
    for (int64_t y = 0; y < count; ++y)
      for (int64_t x = 0; x < LONGITUDES; ++x)
        wrong += field[y * LONGITUDES + x] != value_at(step, first + y, x);
  }
  check(windrow_close(file));
  if (wrong > 0)
    fprintf(stderr, "climate: rank %d read %lld wrong values\n", rank, (long long)wrong);
  windrow_decomposition_free(split);
  windrow_decomposition_free(rows);
  windrow_decomposition_free(all);
  free(field);
  MPI_Finalize();
  return wrong > 0;
}
