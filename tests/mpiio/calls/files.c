/* SPDX-License-Identifier: BSD-3-Clause */
/* The file outside MPI: its inode, mode and size, and what happens to its path meanwhile. */
#include "calls.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int files_in_folder(void) {
  int files = 0;
  DIR *all = opendir(folder);
  for (struct dirent *each; (each = readdir(all)) != NULL;)
    files += each->d_name[0] != '.';
  closedir(all);
  return files;
}

static void in_place(void) {
  struct stat before, after;
  int numbers[100];
  make_file("in place", 10000, 1);
  change_mode("in place", 0640);
  stat(path_of("in place"), &before);
  MPI_File file = create_file("in place");
  view_in_turn(file, 12000);
  fill(numbers, 100, 1);
  write_by_pointer(file, numbers, 100, MPI_INT, "MPI_File_write_all");
  MPI_Offset size = -1;
  succeed(MPI_File_sync(file), "MPI_File_sync");
  wait_for_all();
  MPI_File_get_size(file, &size);
  expect(size, 12000 + 400 * ranks, "MPI_File_get_size");
  close_file(&file);
  stat(path_of("in place"), &after);
  expect((long long)after.st_ino, (long long)before.st_ino, "the inode");
  expect(after.st_mode, before.st_mode, "the mode");
  expect(after.st_size, 12000 + 400 * ranks, "the size");
  expect(byte_at("in place", 9999), (1 + 9999) & 255, "a byte from before");
  expect(byte_at("in place", 11000), 0, "a byte that nobody wrote");
  expect(files_in_folder(), 1, "files in the folder");
}

/* Written only: bytes between those that are written cannot be read, and must stay. */
static void write_only(void) {
  int numbers[1000];
  MPI_Datatype every_second = every_second_of(1000);
  make_file("write only", 40000, 1);
  change_mode("write only", 0200);
  MPI_File file = open_file("write only", MPI_MODE_WRONLY);
  fill(numbers, 1000, 1);
  set_view(file, 8000 * rank, MPI_INT, every_second);
  write_at(file, 0, numbers, 1000, MPI_INT, "MPI_File_write_at_all");
  MPI_Type_free(&every_second);
  close_file(&file);
  change_mode("write only", 0600);
  expect(byte_at("write only", 8000 * rank + 4), (1 + 8000 * rank + 4) & 255, "a byte between");
  expect(byte_at("write only", 8000 * rank + 8), (1 + 1000 * rank + 1) & 255, "a written byte");
}

/* The path is removed or replaced while the file is open: the open file is the old one. `early`: before the first
 * collective call. */
static void change_path(const char *name, int early, int replace) {
  char other[100];
  snprintf(other, sizeof other, "%s (other)", name);
  make_file(name, 100, 1);
  make_file(other, 60, 200);
  MPI_File file = open_file(name, MPI_MODE_RDWR);
  if (!early)
    write_own(file, 5 + rank, "the first write");
  wait_for_all();
  if (rank == 0 && replace)
    rename(path_of(other), path_of(name));
  if (!replace)
    remove_file(name);
  wait_for_all();
  write_own(file, 50 + rank, "a write after the change");
  read_own(file, 50 + rank, "a read after the change");
  unsigned char byte = 0;
  MPI_Status status;
  succeed(MPI_File_read_at(file, 99, &byte, 1, MPI_BYTE, &status), "MPI_File_read_at");
  expect(byte, 100, "a byte of the open file");
  close_file(&file);
  if (replace) {
    expect(size_of(name), 60, "the size of the file that replaced it");
    expect_own(name, 200 + 4 * rank, "a byte of the file that replaced it");
  } else {
    expect(size_of(name), -1, "no file at the path");
  }
  wait_for_all();
}

static void removed(void) {
  change_path("removed early", 1, 0);
  change_path("removed late", 0, 0);
}

static void replaced(void) {
  change_path("replaced early", 1, 1);
  change_path("replaced late", 0, 1);
}

static void truncated(void) {
  int number = 5 + rank, back = 0x55555555;
  MPI_File file = create_file("truncated");
  write_own(file, number, "the first write");
  wait_for_all();
  if (rank == 0 && truncate(path_of("truncated"), 4) != 0)
    fault("truncate");
  wait_for_all();
  const int count = read_at(file, 4 * rank, &back, 1, MPI_INT, "a read of a truncated file");
  if (judged) {
    expect(count, rank == 0, "MPI_Get_count");
    expect(back, rank == 0 ? 5 : 0x55555555, "the number");
  }
  wait_for_all();
  write_own(file, number, "a write to a truncated file");
  read_own(file, number, "a read of it");
  /* By MPI. */
  succeed(MPI_File_set_size(file, 2), "MPI_File_set_size");
  wait_for_all();
  expect(size_of("truncated"), 2, "the size");
  wait_for_all();
  write_at(file, 100 + 4 * rank, &number, 1, MPI_INT, "a write past the end");
  close_file(&file);
  expect(size_of("truncated"), 100 + 4 * ranks, "the size at the end");
  expect(byte_at("truncated", 50), 0, "a byte that nobody wrote");
}

static void deleted_on_close(void) {
  MPI_File file = open_file("deleted", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  write_own(file, rank, "MPI_File_write_at_all");
  wait_for_all();
  expect(size_of("deleted"), 4 * ranks, "the size before the file is closed");
  wait_for_all();
  close_file(&file);
  expect(size_of("deleted"), -1, "no file after it is closed");
}

const struct named_case file_cases[] = {{"in_place", in_place},
                                        {"write_only", write_only},
                                        {"removed", removed},
                                        {"replaced", replaced},
                                        {"truncated", truncated},
                                        {"deleted_on_close", deleted_on_close},
                                        {NULL, NULL}};
