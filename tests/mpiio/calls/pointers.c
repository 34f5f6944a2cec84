/* SPDX-License-Identifier: BSD-3-Clause */
/* File pointers, split and nonblocking calls, and several handles. */
#include "calls.h"

#include <dirent.h>
#include <string.h>

static void pointers(void) {
  int numbers[10], back[10];
  MPI_Status status;
  MPI_File file = create_file("pointers");
  view_in_turn(file, 12);
  fill(numbers, 10, 1);
  MPI_File_seek(file, 3, MPI_SEEK_SET);
  write_by_pointer(file, numbers, 10, MPI_INT, "MPI_File_write_all");
  expect_position(file, 13, "the position after MPI_File_write_all");
  write_at(file, 40, numbers, 10, MPI_INT, "MPI_File_write_at_all");
  expect_position(file, 13, "the position after MPI_File_write_at_all");
  /* An independent call goes on where the collective one ended, and the reverse. */
  succeed(MPI_File_write(file, numbers, 2, MPI_INT, &status), "MPI_File_write");
  write_by_pointer(file, numbers + 2, 3, MPI_INT, "MPI_File_write_all");
  MPI_File_seek(file, -5, MPI_SEEK_CUR);
  memset(back, 0, sizeof back);
  read_by_pointer(file, back, 5, MPI_INT, "MPI_File_read_all");
  expect_numbers(back, 5, 1, "numbers around the pointer");
  expect_position(file, 18, "the position at the end");
  close_file(&file);
}

/* The shared pointer is not moved by calls that do not use it. */
static void shared_pointer(void) {
  int numbers[4];
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_File file = create_file("shared");
  set_view(file, 0, MPI_INT, MPI_INT);
  fill(numbers, 4, 1);
  succeed(MPI_File_write_ordered(file, numbers, 4, MPI_INT, &status), "MPI_File_write_ordered");
  MPI_File_seek(file, 100 + 4 * rank, MPI_SEEK_SET);
  write_by_pointer(file, numbers, 4, MPI_INT, "MPI_File_write_all");
  MPI_File_get_position_shared(file, &position);
  expect(position, 4 * ranks, "the shared position");
  wait_for_all();
  succeed(MPI_File_write_ordered(file, numbers, 4, MPI_INT, &status), "MPI_File_write_ordered");
  int back[4] = {0};
  succeed(MPI_File_sync(file), "MPI_File_sync");
  read_at(file, 4 * (ranks + rank), back, 4, MPI_INT, "MPI_File_read_at_all");
  expect_numbers(back, 4, 1, "numbers of the second MPI_File_write_ordered");
  close_file(&file);
}

static void split(void) {
  int numbers[30], back[30];
  MPI_Status status;
  MPI_File file = create_file("split");
  view_in_turn(file, 0);
  fill(numbers, 30, 4);
  memset(&status, 0x55, sizeof status);
  succeed(MPI_File_write_all_begin(file, numbers, 30, MPI_INT), "MPI_File_write_all_begin");
  wait_for_all(); /* other calls are allowed meanwhile */
  succeed(MPI_File_write_all_end(file, numbers, &status), "MPI_File_write_all_end");
  expect(count_of(&status, MPI_INT), 30, "MPI_Get_count");
  succeed(MPI_File_read_at_all_begin(file, 10, back, 20, MPI_INT), "MPI_File_read_at_all_begin");
  memset(&status, 0x55, sizeof status);
  succeed(MPI_File_read_at_all_end(file, back, &status), "MPI_File_read_at_all_end");
  expect(count_of(&status, MPI_INT), 20, "MPI_Get_count");
  expect_numbers(back, 20, 14, "numbers of a split read");
  succeed(MPI_File_write_at_all_begin(file, 30, numbers, 30, MPI_INT), "MPI_File_write_at_all_begin");
  succeed(MPI_File_write_at_all_end(file, numbers, MPI_STATUS_IGNORE), "MPI_File_write_at_all_end");
  MPI_File_seek(file, 30, MPI_SEEK_SET);
  memset(back, 0, sizeof back);
  succeed(MPI_File_read_all_begin(file, back, 30, MPI_INT), "MPI_File_read_all_begin");
  succeed(MPI_File_read_all_end(file, back, MPI_STATUS_IGNORE), "MPI_File_read_all_end");
  expect_numbers(back, 30, 4, "numbers of a split read by the pointer");
  close_file(&file);
}

/* A nonblocking collective call must not wait for other ranks. */
static void nonblocking(void) {
  const int number = 7 + rank;
  int token = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_File file = create_file("nonblocking");
  if (rank > 0)
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  succeed(MPI_File_iwrite_at_all(file, 4 * rank, &number, 1, MPI_INT, &request), "MPI_File_iwrite_at_all");
  for (int other = 1; rank == 0 && other < ranks; ++other)
    MPI_Send(&token, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
  succeed(MPI_Wait(&request, &status), "MPI_Wait");
  read_own(file, number, "MPI_File_read_at_all");
  close_file(&file);
}

static void two_handles(void) {
  MPI_File one = create_file("twice"), other = open_file("twice", MPI_MODE_RDWR);
  for (int round = 0; round < 10; ++round) {
    int back = 0;
    write_own(one, 100 * round + rank, "a write through one handle");
    succeed(MPI_File_sync(one), "MPI_File_sync");
    wait_for_all();
    succeed(MPI_File_sync(other), "MPI_File_sync");
    read_at(other, 4 * (ranks - 1 - rank), &back, 1, MPI_INT, "a read through another");
    expect(back, 100 * round + ranks - 1 - rank, "the number");
    wait_for_all();
  }
  close_file(&one);
  close_file(&other);
}

static int descriptors(void) {
  int count = 0;
  DIR *all = opendir("/proc/self/fd");
  while (all != NULL && readdir(all) != NULL)
    ++count;
  if (all != NULL)
    closedir(all);
  return count;
}

static void many_files(void) {
  int before = 0;
  for (int round = 0; round < 30; ++round) {
    MPI_File file = create_file("many");
    write_own(file, rank, "MPI_File_write_at_all");
    close_file(&file);
    if (round == 4)
      before = descriptors();
  }
  expect(descriptors(), before, "descriptors");
}

const struct named_case pointer_cases[] = {
    {"pointers", pointers},       {"shared_pointer", shared_pointer}, {"split", split}, {"nonblocking", nonblocking},
    {"two_handles", two_handles}, {"many_files", many_files},         {NULL, NULL}};
