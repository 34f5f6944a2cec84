/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int rank, ranks, faults, judged;
const char *folder, *current;

void fault(const char *format, ...) {
  char line[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (++faults <= 10)
    printf("FAULT %s rank %d: %s\n", current, rank, line);
  fflush(stdout);
}

void expect(long long given, long long expected, const char *what) {
  if (given != expected)
    fault("%s is %lld, not %lld", what, given, expected);
}

void succeed(int code, const char *what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS)
    return;
  MPI_Error_string(code, text, &length);
  fault("%s fails: %s", what, text);
}

void result(const char *text, long long value) {
  if (rank == 0)
    printf("result %s: %s %lld\n", current, text, value);
  fflush(stdout);
}

int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

int count_of(const MPI_Status *status, MPI_Datatype type) {
  int count = -5;
  MPI_Get_count(status, type, &count);
  return count;
}

int elements_of(const MPI_Status *status, MPI_Datatype type) {
  int count = -5;
  MPI_Get_elements(status, type, &count);
  return count;
}

void fill(int *numbers, int count, int first) {
  for (int i = 0; i < count; ++i)
    numbers[i] = first + 1000 * rank + i;
}

void expect_numbers(const int *numbers, int count, int first, const char *what) {
  for (int i = 0; i < count; ++i)
    if (numbers[i] != first + 1000 * rank + i) {
      fault("%s: number %d is %d, not %d", what, i, numbers[i], first + 1000 * rank + i);
      return;
    }
}

void wait_for_all(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

const char *path_of(const char *name) {
  static char paths[4][1000];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

void make_file(const char *name, int size, int first) {
  if (rank == 0) {
    FILE *file = fopen(path_of(name), "wb");
    for (int i = 0; i < size; ++i)
      fputc((first + i) & 255, file);
    fclose(file);
  }
  wait_for_all();
}

void change_mode(const char *name, unsigned mode) {
  if (rank == 0)
    chmod(path_of(name), (mode_t)mode);
  wait_for_all();
}

void remove_file(const char *name) {
  if (rank == 0)
    unlink(path_of(name));
}

long long size_of(const char *name) {
  struct stat facts;
  return stat(path_of(name), &facts) == 0 ? (long long)facts.st_size : -1;
}

int byte_at(const char *name, long long offset) {
  unsigned char byte = 0;
  const int file = open(path_of(name), O_RDONLY);
  const ssize_t count = pread(file, &byte, 1, (off_t)offset);
  close(file);
  return count == 1 ? byte : -1;
}

MPI_File open_by(MPI_Comm comm, const char *name, int mode, MPI_Info info) {
  MPI_File file = MPI_FILE_NULL;
  succeed(MPI_File_open(comm, path_of(name), mode, info, &file), "MPI_File_open");
  return file;
}

MPI_File open_file(const char *name, int mode) {
  return open_by(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL);
}

MPI_File create_file(const char *name) {
  return open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
}

void close_file(MPI_File *file) {
  succeed(MPI_File_close(file), "MPI_File_close");
  wait_for_all();
}

void set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  succeed(MPI_File_set_view(file, displacement, etype, filetype, "native", MPI_INFO_NULL), "MPI_File_set_view");
}

void view_in_turn(MPI_File file, MPI_Offset displacement) {
  MPI_Datatype turn;
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)((size_t)ranks * sizeof(int)), &turn);
  MPI_Type_commit(&turn);
  set_view(file, displacement + (MPI_Offset)((size_t)rank * sizeof(int)), MPI_INT, turn);
  MPI_Type_free(&turn);
}

MPI_Datatype every_second_of(int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

void expect_position(MPI_File file, MPI_Offset expected, const char *what) {
  MPI_Offset position = -1;
  MPI_File_get_position(file, &position);
  expect(position, expected, what);
}

/* The status counts only if the call succeeds. */
static int count_after(int code, const MPI_Status *status, MPI_Datatype type, const char *what) {
  succeed(code, what);
  return code == MPI_SUCCESS ? count_of(status, type) : -1;
}

int write_at(MPI_File file, MPI_Offset offset, const void *memory, int count, MPI_Datatype type, const char *what) {
  MPI_Status status;
  const int code = MPI_File_write_at_all(file, offset, memory, count, type, &status);
  return count_after(code, &status, type, what);
}

int read_at(MPI_File file, MPI_Offset offset, void *memory, int count, MPI_Datatype type, const char *what) {
  MPI_Status status;
  const int code = MPI_File_read_at_all(file, offset, memory, count, type, &status);
  return count_after(code, &status, type, what);
}

int write_by_pointer(MPI_File file, const void *memory, int count, MPI_Datatype type, const char *what) {
  MPI_Status status;
  const int code = MPI_File_write_all(file, memory, count, type, &status);
  return count_after(code, &status, type, what);
}

int read_by_pointer(MPI_File file, void *memory, int count, MPI_Datatype type, const char *what) {
  MPI_Status status;
  const int code = MPI_File_read_all(file, memory, count, type, &status);
  return count_after(code, &status, type, what);
}

void write_own(MPI_File file, int number, const char *what) {
  write_at(file, 4 * rank, &number, 1, MPI_INT, what);
}

void read_own(MPI_File file, int expected, const char *what) {
  int back = -1;
  read_at(file, 4 * rank, &back, 1, MPI_INT, what);
  expect(back, expected, "the number");
}

void expect_own(const char *name, int number, const char *what) {
  expect(byte_at(name, 4 * rank), number, what);
}
