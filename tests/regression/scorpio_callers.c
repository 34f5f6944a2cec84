/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as SCORPIO's users wrote theirs: one include and no other, fields of the structs, FAILURE, calls that
 * the original's header leaves out. */
#include "scorpio.h"

/* As in such programs: declared by themselves. */
int scorpio_write_dataset2(void *vector, datatype_t mytype, int ndims, int *globaldims, int *localdims, int fhandle,
                           char *dset_name, iogroup_t *myIOgroup);

static int failures;

static void expect(int holds, const char *what, int line) {
  if (holds)
    return;
  ++failures;
  fprintf(stderr, "line %d, not so: %s\n", line, what);
}
#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)

static void open_file(const char *path, int size, file_mode_t mode, int *fhandle, iogroup_t **group) {
  iogroup_conf_t configuration;
  configuration.numIOgroups = 0;
  configuration.preferredGroupSize = size;
  configuration.commIncoming = MPI_COMM_WORLD;
  *group = malloc(sizeof(iogroup_t));
  assert(*group != NULL);
  EXPECT(scorpio_IOgroup_init(&configuration, *group) != FAILURE);
  *fhandle = scorpio_open_file(path, *group, mode);
  if (*fhandle == FAILURE) {
    fprintf(stderr, "%s could not be opened.\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* What is still open in the file is closed, by HDF5's number of it. */
static void close_file(int fhandle, iogroup_t *group) {
  if (group->localrank == 0) {
    iofile_t *file = group->file[fhandle];
    EXPECT(file->handle == fhandle && file->fid != FAILURE);
#ifdef H5F_OBJ_DATASET
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    EXPECT(H5Fget_obj_count((hid_t)file->fid, H5F_OBJ_DATASET | H5F_OBJ_GROUP) <= 0);
#endif
  }
  EXPECT(scorpio_close_file(fhandle, group) == 0);
  EXPECT(group->file[fhandle]->fid == FAILURE);
  EXPECT(scorpio_IOgroup_cleanup(group) == 0);
  free(group);
}

static void check_fields(const iogroup_t *group, int size) {
  int rank, ranks, of_team, in_team, team = size < 1 ? 1 : size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (team > ranks)
    team = ranks;
  EXPECT(group->globalrank == rank && group->globalsize == ranks && group->preferredGroupSize == team);
  EXPECT(group->iogroupRank == rank / team && group->localrank == rank % team &&
         group->numIOgroups == (ranks + team - 1) / team);
  EXPECT(group->localsize == (rank / team == ranks / team ? ranks % team : team) &&
         group->iogroupSize == group->localsize);
  MPI_Comm_rank(group->localcomm, &in_team);
  MPI_Comm_size(group->localcomm, &of_team);
  EXPECT(in_team == group->localrank && of_team == group->localsize);
  MPI_Comm_rank(group->globalcomm, &rank);
  EXPECT(rank == group->globalrank);
  EXPECT((group->iocomm == MPI_COMM_NULL) == (group->localrank != 0));
  if (group->localrank == 0) {
    MPI_Comm_rank(group->iocomm, &in_team);
    MPI_Comm_size(group->iocomm, &of_team);
    EXPECT(in_team == group->iogroupRank && of_team == group->numIOgroups);
  }
  EXPECT(group->numFiles == 1 && group->datatype_size == 0 && group->mpi_type == MPI_DATATYPE_NULL &&
         group->hdf_type == FAILURE);
}

/* Rows of two numbers, one row more on odd ranks. */
static void write_and_read(const char *path, int size) {
  iogroup_t *group;
  int fhandle, first = 0, rows, values[6], one[2] = {0}, *all, text_of[1], whole_text[1];
  int64_t sid;
  char text[] = "abcdefgh";
  open_file(path, size, SCORPIO_FILE_CREATE, &fhandle, &group);
  check_fields(group, size);
  EXPECT(group->numFiles == 1 && strncmp(group->file[fhandle]->filename, path, MAX_FILENAME - 1) == 0);
  rows = 2 + group->globalrank % 2;
  for (int i = 0; i < group->globalrank; ++i)
    first += 2 + i % 2;
  int globaldims[2] = {group->globalsize / 2 * 5 + group->globalsize % 2 * 2, 2}, localdims[2] = {rows, 2};
  for (int i = 0; i < 2 * rows; ++i)
    values[i] = 2 * first + i;
  sid = scorpio_create_dataset_group("Simulations/MAIN", fhandle, group);
  EXPECT(sid != FAILURE);
  EXPECT(scorpio_write_dataset2(values, SCORPIO_INTEGER, 2, globaldims, localdims, fhandle, "cells", group) == 0);
  text_of[0] = group->globalrank == 0 ? 8 : 0;
  whole_text[0] = 8;
  EXPECT(scorpio_write_dataset2(text, SCORPIO_CHAR, 1, whole_text, text_of, fhandle, "remarks", group) == 0);
  EXPECT(scorpio_create_link("/Simulations/MAIN/cells", sid, "Mesh", fhandle, group) == 0);
  EXPECT(scorpio_close_dataset_group(sid, fhandle, group) == 0);
  int even[2] = {2 * group->globalsize, 1}, mine[2] = {2, 1};
  one[0] = 2 * group->globalrank;
  one[1] = one[0] + 1;
  EXPECT(scorpio_write_dataset1(one, SCORPIO_INTEGER, 2, even, mine, fhandle, "/even", group) == 0);
  EXPECT(scorpio_name_exists(group->file[fhandle]->fid, "/Simulations/MAIN/cells") == 1);
  EXPECT(scorpio_name_exists(group->file[fhandle]->fid, "/Simulations") == 1);
  EXPECT(scorpio_name_exists(group->file[fhandle]->fid, "/nothing") == 0);
  EXPECT(scorpio_name_exists(FAILURE, "/even") == FAILURE && scorpio_name_exists(INT64_MIN, "/even") == FAILURE &&
         scorpio_name_exists(7, "/even") == FAILURE);
  close_file(fhandle, group);

  open_file(path, size, SCORPIO_FILE_READWRITE, &fhandle, &group);
  all = calloc((size_t)(2 * globaldims[0]), sizeof(int));
  assert(all != NULL);
  EXPECT(scorpio_read_entire_dataset(all, SCORPIO_INTEGER, 2, globaldims, fhandle, "/Simulations/MAIN/cells", group) ==
         0);
  for (int i = 0; i < 2 * globaldims[0]; ++i)
    EXPECT(all[i] == i);
  memset(all, 0, (size_t)(2 * globaldims[0]) * sizeof(int));
  EXPECT(scorpio_read_dataset_all(all, SCORPIO_INTEGER, 2, globaldims, fhandle, "/Simulations/MAIN/Mesh", group) == 0);
  for (int i = 0; i < 2 * globaldims[0]; ++i)
    EXPECT(all[i] == i);
  memset(values, 0, sizeof values);
  EXPECT(scorpio_read_dataset2(values, SCORPIO_INTEGER, 2, globaldims, localdims, fhandle, "/Simulations/MAIN/cells",
                               group) == 0);
  for (int i = 0; i < 2 * rows; ++i)
    EXPECT(values[i] == 2 * first + i);
  one[0] = one[1] = 0;
  EXPECT(scorpio_read_dataset1(one, SCORPIO_INTEGER, 2, even, mine, fhandle, "/even", group) == 0);
  EXPECT(one[0] == 2 * group->globalrank && one[1] == one[0] + 1);
  free(all);
  close_file(fhandle, group);
}

/* More files than the struct's list has room for at first; a copy of the struct that was made before still has the
 * older ones. */
static void open_many(const char *path) {
  enum {
    files = 40
  };
  iogroup_t *group, before;
  int numbers[files], fhandle;
  open_file(path, 2, SCORPIO_FILE_READONLY, &fhandle, &group);
  before = *group;
  for (int i = 0; i < files; ++i)
    numbers[i] = scorpio_open_file(path, group, SCORPIO_FILE_READONLY);
  EXPECT(group->numFiles == files + 1);
  for (int i = 0; i < files; ++i) {
    EXPECT(group->file[numbers[i]]->handle == numbers[i] &&
           scorpio_name_exists(group->file[numbers[i]]->fid, "/even") == 1);
    EXPECT(scorpio_close_file(numbers[i], group) == 0);
    EXPECT(scorpio_name_exists(group->file[numbers[i]]->fid, "/even") == FAILURE);
  }
  EXPECT(before.file[fhandle]->fid == group->file[fhandle]->fid && before.file[fhandle]->handle == fhandle);
  close_file(fhandle, group);
}

int main(int argc, char **argv) {
  int ranks, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int size = 1; size <= ranks + 1; ++size)
    write_and_read(argv[1], size);
  open_many(argv[1]);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
