/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail: their error class, the error handler, and that the file can be used afterwards. */
#include "calls.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

static MPI_File handled;
static MPI_Errhandler own_handler;
static int handler_calls, handler_class;

static void handler(MPI_File *file, int *code, ...) {
  ++handler_calls;
  handler_class = class_of(*code);
  expect(*file == handled, 1, "that the handler is called with the program's handle");
}

static void open_handled(const char *name, int mode) {
  handler_calls = 0;
  handled = open_file(name, mode);
  MPI_File_create_errhandler(handler, &own_handler);
  MPI_File_set_errhandler(handled, own_handler);
}

static void free_handler(void) {
  MPI_Errhandler_free(&own_handler);
  MPI_File_set_errhandler(handled, MPI_ERRORS_RETURN);
}

static void error_handler(void) {
  MPI_Errhandler given;
  int number = 1;
  MPI_Status status;
  make_file("read only", 100, 3);
  open_handled("read only", MPI_MODE_RDONLY);
  int code = MPI_File_write_at_all(handled, 4 * rank, &number, 1, MPI_INT, &status);
  expect(handler_calls, 1, "calls of the handler");
  expect(handler_class, class_of(code), "the class that the handler sees");
  expect(code != MPI_SUCCESS, 1, "failure");
  result("class of a write to a file that is read only:", class_of(code));
  code = MPI_File_write_all(handled, &number, 1, MPI_INT, &status);
  expect(handler_calls, 2, "calls of the handler");
  result("class of write_all:", class_of(code));
  /* Reads go on. */
  unsigned char byte = 0;
  read_at(handled, rank, &byte, 1, MPI_BYTE, "MPI_File_read_at_all");
  expect(byte, 3 + rank, "the byte");
  MPI_File_get_errhandler(handled, &given);
  expect(given == own_handler, 1, "that the handler is kept");
  MPI_Errhandler_free(&given);
  free_handler();
  close_file(&handled);
  expect(byte_at("read only", 0), 3, "the file");
  expect(size_of("read only"), 100, "the size");
}

/* Wrong on all ranks. */
static void wrong_arguments(void) {
  int numbers[2] = {1, 2};
  MPI_Status status;
  MPI_Datatype uncommitted;
  make_file("wrong", 100, 3);
  MPI_File file = open_file("wrong", MPI_MODE_RDWR);
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
  result("negative count:", class_of(MPI_File_write_at_all(file, 0, numbers, -1, MPI_INT, &status)));
  result("null type:", class_of(MPI_File_read_all(file, numbers, 1, MPI_DATATYPE_NULL, &status)));
  result("uncommitted type:", class_of(MPI_File_write_at_all(file, 50, numbers, 1, uncommitted, &status)));
  result("null file:", class_of(MPI_File_write_all(MPI_FILE_NULL, numbers, 1, MPI_INT, &status)));
#ifndef OPEN_MPI /* OMPIO 4.1 does not look at the offset */
  result("negative offset:", class_of(MPI_File_write_at_all(file, -4, numbers, 1, MPI_INT, &status)));
#endif
  expect_position(file, 0, "the position");
  expect(size_of("wrong"), 100, "the size");
  expect(byte_at("wrong", 50), 53, "a byte");
  /* The file is as usable as before. */
  wait_for_all();
  write_own(file, rank, "MPI_File_write_at_all");
  MPI_Type_free(&uncommitted);
  close_file(&file);
  expect_own("wrong", rank, "a number that was written afterwards");
}

/* Wrong on one rank only. MPI must be told not to work together, or the other ranks would wait for ever. */
static void one_wrong(void) {
  const int number = 10 + rank;
  MPI_Status status;
  MPI_File file = create_file("one wrong");
  const int code = MPI_File_write_at_all(file, 4 * rank, &number, rank == 0 ? -1 : 1, MPI_INT, &status);
  result("class of a negative count on rank 0 alone:", class_of(code));
  if (rank > 0)
    succeed(code, "the call of another rank");
  write_at(file, 4 * rank + 4 * ranks, &number, 1, MPI_INT, "the next call");
  close_file(&file);
  expect(byte_at("one wrong", 4 * (ranks + rank)), number, "the number");
  if (rank > 0)
    expect_own("one wrong", number, "the number of a rank without error");
}

/* No space: the same class on all ranks, the handler is called, and the file can be used afterwards. */
static void no_space(void) {
  enum {
    length = 1 << 20
  };
  MPI_Status status;
  char *bytes = calloc(1, length);
  open_handled("no space", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int code = MPI_File_write_at_all(handled, (MPI_Offset)length * rank, bytes, length, MPI_BYTE, &status);
  int class = class_of(code), lowest = 0, highest = 0;
  MPI_Allreduce(&class, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&class, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (judged) {
    expect(lowest, highest, "the class on all ranks");
    if (class != MPI_ERR_NO_SPACE && class != MPI_ERR_IO)
      fault("the class is %d", class);
    expect(handler_calls, 1, "calls of the handler");
    expect(handler_class, class, "the class that the handler sees");
    succeed(MPI_File_set_size(handled, 0), "MPI_File_set_size");
    write_own(handled, rank, "a short write afterwards");
    read_own(handled, rank, "a read afterwards");
  }
  free_handler();
  MPI_File_close(&handled);
  free(bytes);
  wait_for_all();
  remove_file("no space");
}

static void file_limit(void) {
  const struct rlimit limit = {65536, 65536};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  no_space();
}

const struct named_case error_cases[] = {{"error_handler", error_handler}, {"wrong_arguments", wrong_arguments},
                                         {"one_wrong", one_wrong},         {"no_space", no_space},
                                         {"file_limit", file_limit},       {NULL, NULL}};
