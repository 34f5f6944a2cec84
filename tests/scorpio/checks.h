/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the programs of this folder. Each is run as PROGRAM CASE FOLDER and fails if an expectation did on any
 * rank. */
#pragma once

#include <mpi.h>
#include <scorpio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windrow/windrow.h>

static int rank, ranks, failures;
static const char *folder;

#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)

static inline void expect(int holds, const char *what, int line) {
  if (holds)
    return;
  ++failures;
  printf("[rank %d] line %d, not so: %s (%s)\n", rank, line, what, windrow_error_message());
}

#define EXPECT_FAILS(result, words) expect_fails((int)(result), words, #result, __LINE__)

/* Collective: the result is -1, and the message has `words` in it and is the same on every rank. */
static inline void expect_fails(int result, const char *words, const char *what, int line) {
  char first[2000] = "", mine[2000];
  snprintf(mine, sizeof mine, "%s", windrow_error_message());
  expect(result == -1, what, line);
  expect(strstr(mine, words) != NULL, words, line);
  strcpy(first, mine);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  expect(strcmp(first, mine) == 0, "the message is the same on every rank", line);
}

/* A local call: the result is -1, and this rank's message has `words` in it. */
#define EXPECT_FAILS_HERE(result, words) EXPECT((result) == -1 && strstr(windrow_error_message(), words) != NULL)

/* FOLDER/name, one number in the name if it has a %d. Valid until the call after the next. */
static inline const char *path_of(const char *name, int number) {
  static char paths[2][2000];
  static int turn;
  char *path = paths[turn = 1 - turn];
  int head = snprintf(path, sizeof paths[0], "%s/", folder);
  snprintf(path + head, sizeof paths[0] - (size_t)head, name, number);
  return path;
}

static inline iogroup_t group_of(int team) {
  iogroup_conf_t configuration = {0, team, MPI_COMM_WORLD};
  iogroup_t group;
  memset(&group, 0, sizeof group);
  EXPECT(scorpio_IOgroup_init(&configuration, &group) == 0);
  return group;
}

/* This rank's number of rows of `rows`, divided as in a uniform pattern, and the first of them. */
static inline int share_of(int rows) {
  return rows / ranks + (rank < rows % ranks);
}
static inline int first_of(int rows) {
  return rows / ranks * rank + (rank < rows % ranks ? rank : rows % ranks);
}

struct test {
  const char *name;
  void (*run)(void);
};

static inline int run_test(int argc, char **argv, const struct test *tests, int count) {
  int known = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  folder = argc > 2 ? argv[2] : ".";
  for (int i = 0; i < count; ++i)
    if (argc > 1 && strcmp(argv[1], tests[i].name) == 0) {
      tests[i].run();
      known = 1;
    }
  if (!known)
    ++failures;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0)
    printf("all as expected\n");
  MPI_Finalize();
  return all != 0;
}
