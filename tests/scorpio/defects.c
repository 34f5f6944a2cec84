/* SPDX-License-Identifier: BSD-3-Clause */
/* What was wrong in the original, one case each; those of its Fortran interface are in fortran_test.f90.
 * scorpio_test.py looks at the files. */
#include <dirent.h>
#include <hdf5.h>
#include <limits.h>
#include <sys/resource.h>

#include "checks.h"

/* Blocks of a last team that is smaller than the others: its root took part in fewer collective writes, and the job
 * hung. */
static void uneven_last_team(void) {
  for (int team = 1; team <= ranks + 1; ++team) {
    iogroup_t group = group_of(team);
    int file = scorpio_open_file(path_of("uneven %d.h5", team), &group, SCORPIO_FILE_CREATE);
    int global[2] = {2 * ranks, 6}, local[2] = {2, 3}, start[2] = {2 * rank, 0}, values[6], all[12 * 32] = {0};
    for (int half = 0; half < 2; ++half, start[1] += 3) {
      for (int i = 0; i < 6; ++i)
        values[i] = (start[0] + i / 3) * 6 + start[1] + i % 3;
      EXPECT(scorpio_write_dataset_block(values, SCORPIO_INTEGER, 2, global, local, start, file, "blocks", &group) ==
             0);
    }
    /* Of the last team one rank alone has something. */
    local[0] = rank == ranks - 1;
    start[0] = ranks;
    start[1] = 3;
    EXPECT(scorpio_write_dataset_block(values, SCORPIO_INTEGER, 2, global, local, start, file, "some", &group) == 0);
    EXPECT(scorpio_read_dataset(all, SCORPIO_INTEGER, 2, global, global, file, "blocks", &group,
                                SCORPIO_EVERYONE_ENTIRE_DATASET_READ) == 0);
    for (int i = 0; i < 12 * ranks; ++i)
      EXPECT(all[i] == i);
    EXPECT(scorpio_close_file(file, &group) == 0);
    EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  }
}

/* The same data for everybody: all but the roots got zeros. */
static void everyone_gets_all(void) {
  for (int team = 1; team <= ranks; ++team) {
    iogroup_t group = group_of(team);
    int file = scorpio_open_file(path_of("all %d.h5", team), &group, SCORPIO_FILE_CREATE);
    int global[2] = {3 * ranks, 4}, local[2] = {3, 4};
    double values[12], all[12 * 32] = {0}, part[6] = {0}, again[12 * 32] = {0};
    for (int i = 0; i < 12; ++i)
      values[i] = rank * 12 + i + 0.5;
    EXPECT(scorpio_write_dataset(values, SCORPIO_DOUBLE, 2, global, local, file, "table", &group,
                                 SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
    EXPECT(scorpio_read_dataset(all, SCORPIO_DOUBLE, 2, global, global, file, "table", &group,
                                SCORPIO_EVERYONE_ENTIRE_DATASET_READ) == 0);
    for (int i = 0; i < 12 * ranks; ++i)
      EXPECT(all[i] == i + 0.5);
    int dims[2] = {3, 2}, starts[2] = {3 * ranks - 3, 1};
    EXPECT(scorpio_read_same_sub_dataset(part, SCORPIO_DOUBLE, 2, dims, starts, file, "table", &group) == 0);
    for (int i = 0; i < 6; ++i)
      EXPECT(part[i] == (starts[0] + i / 2) * 4 + 1 + i % 2 + 0.5);
    EXPECT(scorpio_read_entire_dataset(again, SCORPIO_DOUBLE, 2, global, file, "table", &group) == 0);
    EXPECT(memcmp(all, again, sizeof all) == 0);
    memset(again, 0, sizeof again);
    EXPECT(scorpio_read_dataset_all(again, SCORPIO_DOUBLE, 2, global, file, "table", &group) == 0);
    EXPECT(memcmp(all, again, sizeof all) == 0);
    EXPECT(scorpio_close_file(file, &group) == 0);
    EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  }
}

/* A number of rows that is not divisible by the ranks: the remaining rows were neither written nor read, without an
 * error. */
static void remainder_rows(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("remainder.h5", 0), &group, SCORPIO_FILE_CREATE);
  int rows = 4 * ranks - 1, global[2] = {rows, 2}, local[2] = {share_of(rows), 2}, first = first_of(rows);
  float values[8], read[8] = {0};
  for (int i = 0; i < 2 * local[0]; ++i)
    values[i] = (float)(2 * first + i);
  EXPECT(scorpio_write_dataset(values, SCORPIO_FLOAT, 2, global, local, file, "rows", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_read_dataset(read, SCORPIO_FLOAT, 2, global, local, file, "rows", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(memcmp(read, values, sizeof(float) * 2 * (size_t)local[0]) == 0);
  memset(read, 0, sizeof read);
  EXPECT(scorpio_read_dataset(read, SCORPIO_FLOAT, 2, global, NULL, file, "rows", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(memcmp(read, values, sizeof(float) * 2 * (size_t)local[0]) == 0);
  if (ranks > 1) {
    int floor[2] = {rows / ranks, 2};
    EXPECT_FAILS(scorpio_write_dataset(values, SCORPIO_FLOAT, 2, global, floor, file, "lost", &group,
                                       SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
                 "share");
    EXPECT_FAILS(scorpio_read_dataset(read, SCORPIO_FLOAT, 2, global, floor, file, "rows", &group,
                                      SCORPIO_UNIFORM_CONTIGUOUS_READ),
                 "share");
    EXPECT_FAILS(scorpio_read_dataset(read, SCORPIO_FLOAT, 2, global, floor, file, "rows", &group,
                                      SCORPIO_NONUNIFORM_CONTIGUOUS_READ),
                 "add up");
  }
  EXPECT(scorpio_dataset_exists("lost", file, &group) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

/* More elements than an int counts: sums of counts overflowed, and of a dataset's size half of the bytes were handed
 * on. */
static void large_counts(void) {
  iogroup_t group = group_of(ranks);
  int file = scorpio_open_file(path_of("large.h5", 0), &group, SCORPIO_FILE_CREATE);
  int global[2] = {70000, 40000}, local[2] = {2, 4}, start[2] = {70000 - 2 * ranks + 2 * rank, 39996};
  char values[8], corner[8 * 32] = {0};
  for (int i = 0; i < 8; ++i)
    values[i] = (char)(rank * 8 + i);
  EXPECT(scorpio_write_dataset_block(values, SCORPIO_CHAR, 2, global, local, start, file, "large", &group) == 0);
  int dims[2] = {2 * ranks, 4}, starts[2] = {70000 - 2 * ranks, 39996}, ndims = 0, size = 17, told[2] = {0, 0};
  EXPECT(scorpio_read_same_sub_dataset(corner, SCORPIO_CHAR, 2, dims, starts, file, "large", &group) == 0);
  for (int i = 0; i < 8 * ranks; ++i)
    EXPECT(corner[i] == i);
  EXPECT(scorpio_get_dataset_ndims(&ndims, file, "large", &group) == 0 && ndims == 2);
  EXPECT(scorpio_get_dataset_dims(told, file, "large", &group) == 0 && told[0] == 70000 && told[1] == 40000);
  EXPECT(scorpio_get_dataset_size(&size, file, "large", &group) == -1 && size == 17);
  EXPECT(strstr(windrow_error_message(), "2800000000") != NULL);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

/* A question for a group closed the current one on one rank. */
static void questions_change_nothing(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("questions.h5", 0), &group, SCORPIO_FILE_CREATE);
  int64_t step = scorpio_create_dataset_group("step", file, &group);
  EXPECT(step > 0);
  EXPECT(scorpio_group_exists("step", file, &group) == 1);
  EXPECT(scorpio_group_exists("missing", file, &group) == 0);
  EXPECT(scorpio_dataset_exists("step", file, &group) == 0);
  int global[1] = {ranks}, local[1] = {1}, size = 0;
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "who", &group,
                               SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_dataset_exists("step/who", file, &group) == 1);
  EXPECT(scorpio_group_exists("step/who", file, &group) == 0);
  EXPECT(scorpio_get_dataset_size(&size, file, "step/who", &group) == 0 && size == ranks);
  EXPECT(scorpio_write_dataset_block(&rank, SCORPIO_INTEGER, 1, global, local, &rank, file, "again", &group) == 0);
  EXPECT(scorpio_close_dataset_group(step, file, &group) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

/* Uniform writes went to the root, for any current group. */
static void writes_go_into_the_group(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("groups.h5", 0), &group, SCORPIO_FILE_CREATE);
  int64_t outer = scorpio_create_dataset_group("outer", file, &group),
          inner = scorpio_create_dataset_group("/a/inner", file, &group);
  int global[1] = {ranks}, local[1] = {1}, read = -1;
  char *texts[1] = {"text"};
  EXPECT(outer > 0 && inner > 0 && outer != inner);
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "uniform", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "nonuniform", &group,
                               SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_write_dataset_block(&rank, SCORPIO_INTEGER, 1, global, local, &rank, file, "block", &group) == 0);
  EXPECT(scorpio_write_str_array(texts, 1, file, "texts", &group) == 0);
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "/elsewhere", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_close_dataset_group(inner, file, &group) == 0);
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "uniform", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_close_dataset_group(outer, file, &group) == 0);
  EXPECT_FAILS(scorpio_close_dataset_group(outer, file, &group), "not an open dataset group");
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "uniform", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  /* The root and a name that ends in a slash are groups too. */
  int64_t root = scorpio_create_dataset_group("/", file, &group),
          slash = scorpio_create_dataset_group("slash/", file, &group);
  EXPECT(root > 0 && slash > 0);
  EXPECT(scorpio_write_str_array(texts, 1, file, "texts", &group) == 0);
  EXPECT(scorpio_close_dataset_group(slash, file, &group) == 0);
  EXPECT(scorpio_write_str_array(texts, 1, file, "texts", &group) == 0);
  EXPECT(scorpio_close_dataset_group(root, file, &group) == 0);
  /* Reading looks from the root, also where a group is open. */
  inner = scorpio_create_dataset_group("a/inner", file, &group);
  EXPECT(scorpio_read_dataset(&read, SCORPIO_INTEGER, 1, global, local, file, "a/inner/uniform", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0 &&
         read == rank);
  EXPECT_FAILS(scorpio_read_dataset(&read, SCORPIO_INTEGER, 1, global, local, file, "nonuniform", &group,
                                    SCORPIO_UNIFORM_CONTIGUOUS_READ),
               "nonuniform");
  EXPECT(scorpio_close_dataset_group(inner, file, &group) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

/* Wrong arguments of all ranks and of the last one alone; a storage that fails. */
static void errors_reach_every_rank(void) {
  iogroup_t group = group_of(2), none = {0};
  int odd_one = rank == ranks - 1, global[1] = {ranks}, local[1] = {1}, wrong[1] = {odd_one ? 2 : 1};
  int one = odd_one ? 9 : 1; /* a file's number */
  EXPECT_FAILS(scorpio_open_file(path_of("missing.h5", 0), &group, SCORPIO_FILE_READONLY), "missing.h5");
  EXPECT_FAILS(scorpio_open_file(path_of("missing.h5", 0), &group, SCORPIO_FILE_READWRITE), "missing.h5");
  EXPECT_FAILS(scorpio_open_file("/no/such/folder/x.h5", &group, SCORPIO_FILE_CREATE), "/no/such/folder");
  EXPECT_FAILS(scorpio_open_file(odd_one ? NULL : path_of("errors.h5", 0), &group, SCORPIO_FILE_CREATE), "NULL");
  EXPECT_FAILS(scorpio_open_file(path_of("errors.h5", 0), &group, (file_mode_t)17), "17");
  int file = scorpio_open_file(path_of("errors.h5", 0), &group, SCORPIO_FILE_CREATE);
  EXPECT(file == 1);
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, wrong, file, "x", &group,
                                     SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE),
               "rows");
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, wrong, file, "x", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "share");
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, odd_one ? NULL : "x", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "NULL");
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, one, "x", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "not an open file");
  EXPECT_FAILS(scorpio_write_dataset(odd_one ? NULL : &rank, SCORPIO_INTEGER, 1, global, local, file, "x", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "NULL");
  EXPECT_FAILS(
      scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "x", &group, SCORPIO_NONCONTIGUOUS_WRITE),
      "blocks");
  EXPECT_FAILS(
      scorpio_read_dataset(&one, SCORPIO_INTEGER, 1, global, local, file, "x", &group, SCORPIO_NONCONTIGUOUS_READ),
      "no argument for the elements");
  EXPECT_FAILS(scorpio_read_dataset(&one, SCORPIO_INTEGER, 1, global, local, file, "x", &group,
                                    SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "not a pattern to read");
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_STRING, 1, global, local, file, "x", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "type");
  if (ranks > 1)
    EXPECT_FAILS(scorpio_write_dataset(&rank, odd_one ? SCORPIO_FLOAT : SCORPIO_INTEGER, 1, global, local, file, "x",
                                       &group, SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
                 "differ");
  EXPECT_FAILS(scorpio_write_dataset_block(&rank, SCORPIO_INTEGER, 1, global, wrong, &rank, file, "x", &group),
               "block");
  EXPECT(scorpio_dataset_exists("x", file, &group) == 0); /* nothing is left of calls that fail */
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "x", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT_FAILS(scorpio_close_file(file, &group), "not an open file");
  file = scorpio_open_file(path_of("errors.h5", 0), &group, SCORPIO_FILE_READONLY);
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "y", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "read");
  EXPECT_FAILS(scorpio_create_dataset_group("g", file, &group), "read");
  EXPECT(scorpio_close_file(file, &group) == 0);

  setenv("WINDROW_STORE", "faulty", 1);
  setenv("WINDROW_FAULT", "rank=0,operation=write,error=no_space", 1);
  file = scorpio_open_file(path_of("full.h5", 0), &group, SCORPIO_FILE_CREATE);
  EXPECT(file == 1);
  EXPECT_FAILS(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "x", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "x");
  EXPECT_FAILS(scorpio_close_file(file, &group), "full.h5");
  unsetenv("WINDROW_STORE");
  unsetenv("WINDROW_FAULT");

  iogroup_t copy = group;
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&copy) == -1);
  EXPECT(scorpio_open_file(path_of("x.h5", 0), &none, SCORPIO_FILE_CREATE) == -1);
  EXPECT(scorpio_open_file(path_of("x.h5", 0), NULL, SCORPIO_FILE_CREATE) == -1);
  iogroup_conf_t nobody = {0, 1, MPI_COMM_NULL}, different = {0, odd_one ? 1 : ranks, MPI_COMM_WORLD};
  EXPECT_FAILS(scorpio_IOgroup_init(&nobody, &group), "MPI_COMM_NULL");
  if (ranks > 1)
    EXPECT_FAILS(scorpio_IOgroup_init(&different, &group), "differ");
}

static herr_t never(hid_t stack, void *count) {
  (void)stack;
  ++*(int *)count;
  return 0;
}

/* The program's handler of HDF5's errors was replaced, and every rank printed. The output of this case is looked at:
 * two errors. */
static void quiet(void) {
  int called = 0;
  H5Eset_auto2(H5E_DEFAULT, never, &called);
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("quiet.h5", 0), &group, SCORPIO_FILE_CREATE), read = 0;
  int global[1] = {ranks}, local[1] = {1};
  EXPECT_FAILS(scorpio_read_dataset(&read, SCORPIO_INTEGER, 1, global, local, file, "nothing", &group,
                                    SCORPIO_UNIFORM_CONTIGUOUS_READ),
               "nothing");
  EXPECT_FAILS(scorpio_open_file("/proc/self/status", &group, SCORPIO_FILE_READONLY), "/proc/self/status");
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "who", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  H5E_auto2_t handler = NULL;
  void *data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &handler, &data);
  EXPECT(handler == never && data == &called && called == 0);
}

/* Types of the machine, contiguous, without filters: that was all. Here the environment chooses. */
static void storage_is_a_setting(void) {
  enum {
    each = 20000
  };
  setenv("WINDROW_FILTERS", "shuffle,deflate:1", 1);
  setenv("WINDROW_CHUNKS", "4096", 1);
  setenv("WINDROW_BYTE_ORDER", "big", 1);
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("stored.h5", 0), &group, SCORPIO_FILE_CREATE);
  unsetenv("WINDROW_FILTERS");
  unsetenv("WINDROW_CHUNKS");
  unsetenv("WINDROW_BYTE_ORDER");
  int global[1] = {each * ranks}, local[1] = {each};
  double *values = malloc(each * sizeof *values), *read = calloc(each, sizeof *read);
  for (int i = 0; i < each; ++i)
    values[i] = rank * each + i;
  EXPECT(scorpio_write_dataset(values, SCORPIO_DOUBLE, 1, global, local, file, "values", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_read_dataset(read, SCORPIO_DOUBLE, 1, global, local, file, "values", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(memcmp(values, read, each * sizeof *values) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  setenv("WINDROW_STRATEGY", "two-phase", 1); /* what the environment says wins over the teams */
  file = scorpio_open_file(path_of("stored.h5", 0), &group, SCORPIO_FILE_READONLY);
  unsetenv("WINDROW_STRATEGY");
  memset(read, 0, each * sizeof *read);
  EXPECT(scorpio_read_dataset(read, SCORPIO_DOUBLE, 1, global, local, file, "values", &group,
                              SCORPIO_NONUNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(memcmp(values, read, each * sizeof *values) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  free(values);
  free(read);
}

/* The type of a call lay in the group; names of files were cut at 100 bytes; texts had no end. */
static void calls_share_no_state(void) {
  iogroup_t one = group_of(1), all = group_of(ranks);
  char name[200] = "", *text = "a text that ends", *read = NULL;
  memset(name, 'n', 150);
  strcpy(name + 150, ".h5");
  int first = scorpio_open_file(path_of(name, 0), &one, SCORPIO_FILE_CREATE);
  int second = scorpio_open_file(path_of("second.h5", 0), &all, SCORPIO_FILE_CREATE);
  int global[1] = {ranks}, local[1] = {1}, integer = rank, integer_read = -1;
  double number = rank + 0.5, number_read = -1;
  unsigned char byte = (unsigned char)rank, byte_read = 99;
  EXPECT(scorpio_write_dataset(&integer, SCORPIO_INTEGER, 1, global, local, first, "integer", &one,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_write_dataset(&number, SCORPIO_DOUBLE, 1, global, local, second, "number", &all,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_write_simple_attr("text", text, SCORPIO_STRING, first, "integer", &one) == 0);
  EXPECT(scorpio_write_dataset(&byte, SCORPIO_BYTE, 1, global, local, first, "byte", &one,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_read_dataset(&number_read, SCORPIO_DOUBLE, 1, global, local, second, "number", &all,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(scorpio_read_dataset(&integer_read, SCORPIO_INTEGER, 1, global, local, first, "integer", &one,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(scorpio_read_dataset(&byte_read, SCORPIO_BYTE, 1, global, local, first, "byte", &one,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(scorpio_read_simple_attr("text", (void **)&read, SCORPIO_STRING, first, "integer", &one) == 0 &&
         strcmp(read, text) == 0);
  EXPECT(integer_read == rank && number_read == number && byte_read == byte);
  free(read);
  EXPECT(scorpio_close_file(second, &all) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&all) == 0);
  EXPECT(scorpio_close_file(first, &one) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&one) == 0);
}

static int open_descriptors(void) {
  int count = 0;
  DIR *descriptors = opendir("/proc/self/fd");
  while (descriptors != NULL && readdir(descriptors) != NULL)
    ++count;
  if (descriptors != NULL)
    closedir(descriptors);
  return count;
}

/* The table of files only grew, and a group that was left open kept its file open. */
static void files_are_given_back(void) {
  iogroup_t group = group_of(2);
  int global[1] = {ranks}, local[1] = {1}, before = 0;
  for (int i = 0; i < 50; ++i) {
    int file =
        scorpio_open_file(path_of("given back.h5", 0), &group, i == 0 ? SCORPIO_FILE_CREATE : SCORPIO_FILE_READWRITE);
    char name[20];
    snprintf(name, sizeof name, "group %d", i);
    EXPECT(file == 1);
    EXPECT(scorpio_create_dataset_group(name, file, &group) == 1);
    EXPECT(scorpio_write_dataset(&i, SCORPIO_INTEGER, 1, global, local, file, "i", &group,
                                 SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
    EXPECT(scorpio_close_file(file, &group) == 0);
    if (i == 1)
      before = open_descriptors();
  }
  EXPECT(open_descriptors() == before);
  /* Closed with the group: published. */
  int first = scorpio_open_file(path_of("left 1.h5", 0), &group, SCORPIO_FILE_CREATE);
  int second = scorpio_open_file(path_of("left 2.h5", 0), &group, SCORPIO_FILE_CREATE);
  EXPECT(first == 1 && second == 2);
  EXPECT(scorpio_close_file(first, &group) == 0);
  EXPECT(scorpio_open_file(path_of("left 1.h5", 0), &group, SCORPIO_FILE_READWRITE) == 1);
  EXPECT(scorpio_create_dataset_group("left open", second, &group) == 1);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  EXPECT(open_descriptors() == before);
}

/* Its own limits: no overlap, and a team's data had to fit into its root's memory. */
static void overlap_and_memory(void) {
  iogroup_t group = group_of(ranks);
  int file = scorpio_open_file(path_of("overlap.h5", 0), &group, SCORPIO_FILE_CREATE);
  int global[1] = {2 * ranks + 2}, local[1] = {4}, start[1] = {2 * rank}, values[4] = {rank, rank, rank, rank},
      all[70] = {0};
  EXPECT(scorpio_write_dataset_block(values, SCORPIO_INTEGER, 1, global, local, start, file, "overlap", &group) == 0);
  EXPECT(scorpio_read_dataset(all, SCORPIO_INTEGER, 1, global, global, file, "overlap", &group,
                              SCORPIO_EVERYONE_ENTIRE_DATASET_READ) == 0);
  for (int i = 0; i < global[0]; ++i)
    EXPECT(all[i] == (i / 2 < ranks ? i / 2 : ranks - 1));

  enum {
    mib = 1 << 20,
    each = 24 * mib
  };
  char *data = malloc(each), *read = malloc(each);
  memset(data, rank + 1, each);
  memset(read, 0x55, each);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  int bytes[1] = {each * ranks}, mine[1] = {each};
  EXPECT(scorpio_write_dataset(data, SCORPIO_CHAR, 1, bytes, mine, file, "large", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_read_dataset(read, SCORPIO_CHAR, 1, bytes, mine, file, "large", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  getrusage(RUSAGE_SELF, &after);
  EXPECT(memcmp(data, read, each) == 0);
  /* Less than one rank's data, for any team. Sanitizers need additional memory. */
  const long grown_kib = after.ru_maxrss - before.ru_maxrss;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT(grown_kib < 24 * 1024);
#else
  (void)grown_kib;
#endif
  free(data);
  free(read);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

int main(int argc, char **argv) {
  static const struct test tests[] = {
      {"defect01_uneven_last_team", uneven_last_team},
      {"defect02_everyone_gets_all", everyone_gets_all},
      {"defect03_remainder_rows", remainder_rows},
      {"defect04_large_counts", large_counts},
      {"defect05_questions_change_nothing", questions_change_nothing},
      {"defect06_writes_go_into_the_group", writes_go_into_the_group},
      {"defect09_errors_reach_every_rank", errors_reach_every_rank},
      {"defect10_quiet", quiet},
      {"defect11_storage_is_a_setting", storage_is_a_setting},
      {"defect12_calls_share_no_state", calls_share_no_state},
      {"defect13_files_are_given_back", files_are_given_back},
      {"defect14_overlap_and_memory", overlap_and_memory},
  };
  return run_test(argc, argv, tests, (int)(sizeof tests / sizeof tests[0]));
}
