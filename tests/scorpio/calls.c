/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls one by one: types, conversion, files of others (scorpio_test.py makes foreign.h5), texts, attributes,
 * links, teams. */
#include "checks.h"

#define ROUND_TRIP(kind, type, name, value)                                           \
  do {                                                                                \
    type written[2] = {(type)(value), (type)(value + 1)}, read[2] = {0, 0};           \
    EXPECT(scorpio_write_dataset(written, kind, 1, global, local, file, name, &group, \
                                 SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);             \
    EXPECT(scorpio_read_dataset(read, kind, 1, global, local, file, name, &group,     \
                                SCORPIO_NONUNIFORM_CONTIGUOUS_READ) == 0);            \
    EXPECT(memcmp(written, read, sizeof read) == 0);                                  \
  } while (0)

static void types(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("types without an ending", 0), &group, SCORPIO_FILE_CREATE);
  int global[2] = {2 * ranks, 3}, local[2] = {2, 3};
  ROUND_TRIP(SCORPIO_INTEGER, int, "integer", 10 * rank);
  ROUND_TRIP(SCORPIO_DOUBLE, double, "double", 10 * rank + 0.1);
  ROUND_TRIP(SCORPIO_FLOAT, float, "float", 10 * rank + 0.5);
  ROUND_TRIP(SCORPIO_LONG, long, "long", 5000000000 + rank);
  ROUND_TRIP(SCORPIO_CHAR, char, "char", rank);
  ROUND_TRIP(SCORPIO_BYTE, unsigned char, "byte", 250 + rank % 4);
  /* Over an existing dataset, of the same type and shape only. */
  ROUND_TRIP(SCORPIO_DOUBLE, double, "double", 10 * rank + 0.25);
  double numbers[6] = {0}, large[2] = {1e300, -2.75};
  int integers[6] = {0};
  EXPECT_FAILS(scorpio_write_dataset(numbers, SCORPIO_FLOAT, 1, global, local, file, "double", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "another type, float64");
  EXPECT_FAILS(scorpio_write_dataset(numbers, SCORPIO_DOUBLE, 2, global, local, file, "double", &group,
                                     SCORPIO_UNIFORM_CONTIGUOUS_WRITE),
               "1 dimension, not 2");
  /* Read as another type. */
  EXPECT(scorpio_write_dataset(large, SCORPIO_DOUBLE, 1, global, local, file, "large", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_read_dataset(integers, SCORPIO_INTEGER, 1, global, local, file, "large", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(integers[0] == 2147483647 && integers[1] == -2);
  EXPECT_FAILS(scorpio_read_dataset(integers, SCORPIO_INTEGER, 1, global, local, file, "byte", &group,
                                    SCORPIO_UNIFORM_CONTIGUOUS_READ),
               "opaque");
  global[0] += 1;
  EXPECT_FAILS(scorpio_read_dataset(numbers, SCORPIO_DOUBLE, 1, global, local, file, "double", &group,
                                    SCORPIO_NONUNIFORM_CONTIGUOUS_READ),
               "globaldims");
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

static void foreign(void) {
  iogroup_t group = group_of(3);
  int file = scorpio_open_file(path_of("foreign.h5", 0), &group, SCORPIO_FILE_READONLY);
  EXPECT(file > 0);
  int ndims = -1, dims[2] = {0}, size = 0, count = 0, *shape = NULL;
  double scalar = 0, *table = NULL, whole[6] = {0};
  int *step = NULL;
  char **texts = NULL, *title = NULL;
  EXPECT(scorpio_get_dataset_ndims(&ndims, file, "scalar", &group) == 0 && ndims == 0);
  EXPECT(scorpio_get_dataset_size(&size, file, "/scalar", &group) == 0 && size == 1);
  EXPECT(scorpio_read_dataset(&scalar, SCORPIO_DOUBLE, 0, NULL, NULL, file, "scalar", &group,
                              SCORPIO_EVERYONE_ENTIRE_DATASET_READ) == 0);
  EXPECT(scalar == 42);
  EXPECT(scorpio_get_dataset_dims(dims, file, "a group/table", &group) == 0 && dims[0] == 2 && dims[1] == 3);
  EXPECT(scorpio_read_dataset(whole, SCORPIO_DOUBLE, 2, dims, NULL, file, "a group/table", &group,
                              SCORPIO_EVERYONE_ENTIRE_DATASET_READ) == 0);
  for (int i = 0; i < 6; ++i)
    EXPECT(whole[i] == i);
  EXPECT(scorpio_read_str_array(&texts, &count, file, "variable", &group) == 0 && count == 2);
  EXPECT(strcmp(texts[0], "Größe") == 0 && strcmp(texts[1], "") == 0);
  for (int i = 0; i < count; ++i)
    free(texts[i]);
  free(texts);
  EXPECT(scorpio_read_str_array(&texts, &count, file, "fixed", &group) == 0 && count == 3);
  EXPECT(strcmp(texts[0], "four") == 0 && strcmp(texts[1], "three") == 0 && strcmp(texts[2], "") == 0);
  for (int i = 0; i < count; ++i)
    free(texts[i]);
  free(texts);
  EXPECT(scorpio_read_simple_attr("step", (void **)&step, SCORPIO_INTEGER, file, "a group", &group) == 0 && *step == 7);
  EXPECT(scorpio_read_simple_attr("title", (void **)&title, SCORPIO_STRING, file, "/", &group) == 0 &&
         strcmp(title, "a title") == 0);
  EXPECT(scorpio_read_attr("matrix", (void **)&table, SCORPIO_DOUBLE, &ndims, &shape, file, "a group/table", &group) ==
         0);
  EXPECT(ndims == 2 && shape[0] == 2 && shape[1] == 2 && table[0] == 1 && table[3] == 4);
  free(step), free(title), free(table), free(shape);
  EXPECT_FAILS(scorpio_read_str_array(&texts, &count, file, "scalar", &group), "no texts");
  EXPECT_FAILS_HERE(scorpio_read_simple_attr("matrix", (void **)&step, SCORPIO_INTEGER, file, "a group/table", &group),
                    "4 elements");
  EXPECT_FAILS_HERE(scorpio_read_simple_attr("title", (void **)&step, SCORPIO_INTEGER, file, "/", &group), "text");
  EXPECT_FAILS_HERE(scorpio_read_simple_attr("none", (void **)&step, SCORPIO_INTEGER, file, "/", &group),
                    "no attribute");
  EXPECT_FAILS_HERE(scorpio_get_dataset_ndims(&ndims, file, "a group", &group), "a group");
  EXPECT(scorpio_group_exists("a link/", file, &group) == 1);
  EXPECT(scorpio_dataset_exists("a link/table", file, &group) == 1);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

static void texts(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("texts.h5", 0), &group, SCORPIO_FILE_CREATE);
  char *names[3] = {"Cl-", "", "a longer name"}, *shorter[3] = {"x", "y", "z"},
       *longer[3] = {"a name that is much longer", "", ""};
  char *others[3] = {"Größe", "", ""}, **read = NULL;
  int count = 0;
  /* Rank 0's: the others need not have any. */
  EXPECT(scorpio_write_str_array(rank == 0 ? names : NULL, rank == 0 ? 3 : 0, file, "names", &group) == 0);
  EXPECT(scorpio_write_str_array(others, 3, file, "others", &group) == 0);
  EXPECT(scorpio_write_str_array(names, 0, file, "none", &group) == 0);
  EXPECT(scorpio_read_str_array(&read, &count, file, "names", &group) == 0 && count == 3);
  for (int i = 0; i < count; ++i) {
    EXPECT(strcmp(read[i], names[i]) == 0);
    free(read[i]);
  }
  free(read);
  EXPECT(scorpio_read_str_array(&read, &count, file, "none", &group) == 0 && count == 0);
  free(read);
  EXPECT(scorpio_write_str_array(shorter, 3, file, "names", &group) == 0);
  EXPECT_FAILS(scorpio_write_str_array(longer, 3, file, "names", &group), "at most 13 bytes");
  EXPECT_FAILS(scorpio_write_str_array(shorter, 2, file, "names", &group), "now there are 2");
  EXPECT_FAILS(scorpio_write_str_array(others, 3, file, "names", &group), "ASCII");
  shorter[1] = NULL;
  EXPECT_FAILS(scorpio_write_str_array(shorter, 3, file, "null", &group), "text 1 is NULL");
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

static void attributes(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("attributes.h5", 0), &group, SCORPIO_FILE_CREATE);
  int step = 3 + rank, dims[2] = {2, 2}, ndims = 0, *shape = NULL, *integers = NULL;
  long count = 6000000000, *longs = NULL;
  double numbers[4] = {1.5, -1e300, 3, 4}, *doubles = NULL;
  float ratio = 0.25F, *floats = NULL;
  char *names[2] = {"one", "another"}, **read = NULL, letter = 'a', *bytes = NULL;
  unsigned char raw[2] = {0, 255};
  EXPECT(scorpio_create_dataset_group("step", file, &group) == 1);
  EXPECT(scorpio_write_simple_attr("step", &step, SCORPIO_INTEGER, file, "step", &group) == 0);
  EXPECT(scorpio_write_simple_attr("count", &count, SCORPIO_LONG, file, "/", &group) == 0);
  EXPECT(scorpio_write_simple_attr("ratio", &ratio, SCORPIO_FLOAT, file, "/", &group) == 0);
  EXPECT(scorpio_write_simple_attr("letter", &letter, SCORPIO_CHAR, file, "/", &group) == 0);
  EXPECT(scorpio_write_simple_attr("title", "Größe", SCORPIO_STRING, file, "/", &group) == 0);
  EXPECT(scorpio_write_simple_attr("title", "replaced", SCORPIO_STRING, file, "/", &group) == 0);
  EXPECT(scorpio_write_attr("numbers", numbers, SCORPIO_DOUBLE, 2, dims, file, "/step", &group) == 0);
  EXPECT(scorpio_write_attr("names", names, SCORPIO_STRING, 1, dims, file, "/", &group) == 0);
  EXPECT(scorpio_write_attr("raw", raw, SCORPIO_BYTE, 1, dims, file, "/", &group) == 0);

  EXPECT(scorpio_read_simple_attr("step", (void **)&integers, SCORPIO_INTEGER, file, "step", &group) == 0 &&
         *integers == 3);
  free(integers);
  EXPECT(scorpio_read_simple_attr("count", (void **)&integers, SCORPIO_INTEGER, file, "/", &group) == 0 &&
         *integers == 2147483647);
  EXPECT(scorpio_read_simple_attr("count", (void **)&longs, SCORPIO_LONG, file, "/", &group) == 0 && *longs == count);
  EXPECT(scorpio_read_simple_attr("ratio", (void **)&floats, SCORPIO_FLOAT, file, "/", &group) == 0 &&
         *floats == ratio);
  free(integers), free(longs), free(floats);
  EXPECT(scorpio_read_attr("numbers", (void **)&doubles, SCORPIO_DOUBLE, &ndims, &shape, file, "step", &group) == 0);
  EXPECT(ndims == 2 && shape[0] == 2 && shape[1] == 2 && memcmp(doubles, numbers, sizeof numbers) == 0);
  free(doubles), free(shape);
  EXPECT(scorpio_read_attr("numbers", (void **)&integers, SCORPIO_INTEGER, &ndims, &shape, file, "step", &group) == 0);
  EXPECT(integers[0] == 1 && integers[1] == -2147483647 - 1);
  free(integers), free(shape);
  EXPECT(scorpio_read_attr("names", (void **)&read, SCORPIO_STRING, &ndims, &shape, file, "/", &group) == 0);
  EXPECT(ndims == 1 && shape[0] == 2 && strcmp(read[0], "one") == 0 && strcmp(read[1], "another") == 0);
  free(read[0]), free(read[1]), free(read), free(shape);
  EXPECT(scorpio_read_attr("raw", (void **)&bytes, SCORPIO_BYTE, &ndims, &shape, file, "/", &group) == 0 &&
         memcmp(bytes, raw, 2) == 0);
  free(bytes), free(shape);
  EXPECT_FAILS(scorpio_write_simple_attr("step", &step, SCORPIO_INTEGER, file, "missing", &group), "missing");
  EXPECT_FAILS(scorpio_write_simple_attr(rank == ranks - 1 ? NULL : "step", &step, SCORPIO_INTEGER, file, "/", &group),
               "NULL");
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

static void links(void) {
  iogroup_t group = group_of(2);
  int file = scorpio_open_file(path_of("links.h5", 0), &group, SCORPIO_FILE_CREATE);
  int64_t step = scorpio_create_dataset_group("step", file, &group);
  int global[1] = {ranks}, local[1] = {1}, read = -1;
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, global, local, file, "who", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_create_link("who", step, "beside", file, &group) == 0);
  EXPECT(scorpio_create_link("/step/who", 0, "latest", file, &group) == 0);
  EXPECT(scorpio_create_link("step", 0, "newest", file, &group) == 0);
  EXPECT_FAILS(scorpio_create_link("who", step, "beside", file, &group), "beside");
  EXPECT_FAILS(scorpio_create_link("who", 17, "elsewhere", file, &group), "not an open dataset group");
  EXPECT(scorpio_dataset_exists("latest", file, &group) == 1 && scorpio_group_exists("newest", file, &group) == 1);
  EXPECT(scorpio_read_dataset(&read, SCORPIO_INTEGER, 1, global, local, file, "newest/beside", &group,
                              SCORPIO_UNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(read == rank);
  EXPECT(scorpio_close_dataset_group(step, file, &group) == 0);
  EXPECT_FAILS(scorpio_create_link("who", step, "late", file, &group), "not an open dataset group");
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

/* Ways to ask for teams; part of the ranks; rows that differ, none on some ranks. */
static void teams(void) {
  static const int asked[][2] = {{1, 0}, {2, 0}, {1000, 0}, {0, 1}, {0, 2}, {0, 1000}, {0, 0}, {0, -1}, {-1, 2}};
  int global[2] = {ranks * (ranks - 1) / 2 + 1, 2}, local[2] = {rank == 0 ? 1 : rank, 2},
      start = rank == 0 ? 0 : rank * (rank - 1) / 2 + 1;
  long values[64], read[64] = {0};
  for (int i = 0; i < 2 * local[0]; ++i)
    values[i] = 2 * start + i;
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
    iogroup_conf_t configuration = {asked[i][0], asked[i][1], MPI_COMM_WORLD};
    iogroup_t group;
    EXPECT(scorpio_IOgroup_init(&configuration, &group) == 0);
    int file = scorpio_open_file(path_of("teams %d.h5", (int)i), &group, SCORPIO_FILE_CREATE);
    EXPECT(scorpio_write_dataset(values, SCORPIO_LONG, 2, global, local, file, "rows", &group,
                                 SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE) == 0);
    EXPECT(scorpio_close_file(file, &group) == 0);
    file = scorpio_open_file(path_of("teams %d.h5", (int)i), &group, SCORPIO_FILE_READONLY);
    EXPECT(scorpio_read_dataset(read, SCORPIO_LONG, 2, global, local, file, "rows", &group,
                                SCORPIO_NONUNIFORM_CONTIGUOUS_READ) == 0);
    EXPECT(memcmp(values, read, sizeof(long) * 2 * (size_t)local[0]) == 0);
    EXPECT(scorpio_close_file(file, &group) == 0);
    EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  }
  /* Two halves, each with its own file; the communicator may go at once. */
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int members, place;
  MPI_Comm_size(half, &members);
  MPI_Comm_rank(half, &place);
  iogroup_conf_t configuration = {0, 2, half};
  iogroup_t group;
  EXPECT(scorpio_IOgroup_init(&configuration, &group) == 0);
  MPI_Comm_free(&half);
  int file = scorpio_open_file(path_of("half %d.h5", rank % 2), &group, SCORPIO_FILE_CREATE), size[1] = {members},
      one[1] = {1};
  EXPECT(scorpio_write_dataset(&rank, SCORPIO_INTEGER, 1, size, one, file, "who", &group,
                               SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_close_file(file, &group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
}

/* Bytes that this rank has written by system calls; -1 where the system does not count them. */
static long long written_bytes(void) {
  long long bytes = -1;
  char line[100];
  FILE *counts = fopen("/proc/self/io", "r");
  while (counts != NULL && fgets(line, sizeof line, counts) != NULL)
    if (sscanf(line, "wchar: %lld", &bytes) == 1)
      break;
  if (counts != NULL)
    fclose(counts);
  return bytes;
}

/* The first rank of each team writes what the team has, the others nothing. */
static void roots_write(void) {
  enum {
    each = 3 << 20
  };
  char *data = malloc(each);
  memset(data, rank, each);
  for (int team = 1; team <= ranks; ++team) {
    iogroup_t group = group_of(team);
    int file = scorpio_open_file(path_of("roots %d.h5", team), &group, SCORPIO_FILE_CREATE), global[1] = {each * ranks},
        local[1] = {each};
    const long long before = written_bytes();
    EXPECT(scorpio_write_dataset(data, SCORPIO_CHAR, 1, global, local, file, "data", &group,
                                 SCORPIO_UNIFORM_CONTIGUOUS_WRITE) == 0);
    const long long bytes = written_bytes() - before;
    const int first = rank / team * team, members = ranks - first < team ? ranks - first : team;
    if (before >= 0)
      EXPECT(rank == first ? bytes >= (long long)members * each : bytes < each / 2);
    if (before >= 0)
      EXPECT(bytes < (long long)members * each + each / 2);
    EXPECT(scorpio_close_file(file, &group) == 0);
    EXPECT(scorpio_IOgroup_cleanup(&group) == 0);
  }
  free(data);
}

int main(int argc, char **argv) {
  static const struct test tests[] = {
      {"types", types}, {"foreign", foreign},         {"texts", texts}, {"attributes", attributes}, {"links", links},
      {"teams", teams}, {"roots_write", roots_write},
  };
  return run_test(argc, argv, tests, (int)(sizeof tests / sizeof tests[0]));
}
