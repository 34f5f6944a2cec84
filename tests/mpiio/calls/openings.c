/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_File_open and MPI_File_set_view are given: hints, modes, paths, representations. */
#include "calls.h"

#include <string.h>
#include <unistd.h>

static const char *info_of(MPI_File file) {
  static char value[MPI_MAX_INFO_VAL + 1];
  int found = 0;
  MPI_Info info;
  MPI_File_get_info(file, &info);
  MPI_Info_get(info, "windrow_mpiio", MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&info);
  return found ? value : "";
}

static void expect_info(MPI_File file, const char *expected) {
  const char *given = info_of(file);
  if (strcmp(given, judged ? expected : "") != 0)
    fault("windrow_mpiio in the info is \"%s\", not \"%s\"", given, expected);
}

/* A file with a hint that turns the library off, on the ranks that `give` it. */
static MPI_File open_off(const char *name, int mode, int give) {
  MPI_Info hint = MPI_INFO_NULL;
  if (give) {
    MPI_Info_create(&hint);
    MPI_Info_set(hint, "windrow", "off");
  }
  MPI_File file = open_by(MPI_COMM_WORLD, name, mode, hint);
  if (give)
    MPI_Info_free(&hint);
  return file;
}

static void info(void) {
  MPI_File file = create_file("info");
  expect_info(file, "taken");
  write_own(file, rank, "MPI_File_write_at_all");
  expect_info(file, "taken");
  close_file(&file);
  file = open_off("info", MPI_MODE_RDWR, 1);
  expect_info(file, "passed: hint");
  write_own(file, rank, "MPI_File_write_at_all");
  close_file(&file);
  expect_own("info", rank, "the number");
  file = open_by(MPI_COMM_SELF, rank == 0 ? "a" : "b", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  expect_info(file, "passed: one rank");
  write_at(file, 0, &rank, 1, MPI_INT, "MPI_File_write_at_all");
  MPI_File_close(&file);
}

static void atomic(void) {
  int flag = -1;
  MPI_File file = create_file("atomic");
  result("class of set_atomicity:", class_of(MPI_File_set_atomicity(file, 1)));
  MPI_File_get_atomicity(file, &flag);
  result("atomicity:", flag);
  write_own(file, 9 + rank, "MPI_File_write_at_all");
  MPI_File_set_atomicity(file, 0);
  read_own(file, 9 + rank, "MPI_File_read_at_all");
  close_file(&file);
}

/* Tells the class of an opening that fails. The result is the handle. */
static MPI_File result_of_open(const char *text, MPI_Comm comm, const char *name, int mode) {
  MPI_File file = MPI_FILE_NULL;
  result(text, class_of(MPI_File_open(comm, path_of(name), mode, MPI_INFO_NULL, &file)));
  return file;
}

/* Each rank writes its number, and finds it in the file after the file is closed. */
static void write_and_close(MPI_File file, const char *name, int number) {
  write_own(file, number, "MPI_File_write_at_all");
  close_file(&file);
  expect_own(name, number, "the number");
}

static void modes(void) {
  MPI_Status status;
  MPI_File file = result_of_open("class of a file that does not exist:", MPI_COMM_WORLD, "none", MPI_MODE_RDWR);
  expect(file == MPI_FILE_NULL, 1, "a null handle");
  wait_for_all();
  make_file("modes", 20, 0);
  result_of_open("class of MPI_MODE_EXCL:", MPI_COMM_WORLD, "modes", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  wait_for_all();
  result_of_open("class of a folder that does not exist:", MPI_COMM_WORLD, "no/file", MPI_MODE_CREATE | MPI_MODE_RDWR);
  wait_for_all();
  file = open_file("modes", MPI_MODE_RDWR | MPI_MODE_APPEND);
  expect_position(file, 20, "the position of MPI_MODE_APPEND");
  wait_for_all();
  MPI_File_seek(file, 4 * rank, MPI_SEEK_CUR);
  write_by_pointer(file, &rank, 1, MPI_INT, "MPI_File_write_all");
  close_file(&file);
  expect(size_of("modes"), 20 + 4 * ranks, "the size");
  expect(byte_at("modes", 20 + 4 * rank), rank, "the number");
#ifdef OPEN_MPI /* ROMIO takes what is before the colon for a file system */
  /* A colon belongs to the name, unless it follows the name of a file system. */
  write_and_close(create_file("a name: with a colon"), "a name: with a colon", rank);
#endif
  file = open_file("sequential", MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
  succeed(MPI_File_write_ordered(file, &rank, 1, MPI_INT, &status), "MPI_File_write_ordered");
  close_file(&file);
  expect_own("sequential", rank, "the number");
}

/* By rank 0, instead of what `name` may be. */
static void link_to(const char *target, const char *name) {
  remove_file(name);
  if (rank == 0 && symlink(target, path_of(name)) != 0)
    fault("symlink");
  wait_for_all();
}

/* The path is relative, and the working folder or a link on the path changes after MPI_File_open. */
static void paths(void) {
  char before[1000];
  const int number = 60 + rank;
  MPI_File file = MPI_FILE_NULL;
  if (getcwd(before, sizeof before) == NULL || chdir(folder) != 0)
    fault("chdir");
  succeed(MPI_File_open(MPI_COMM_WORLD, "relative", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
          "MPI_File_open");
  if (chdir(before) != 0)
    fault("chdir");
  write_and_close(file, "relative", number);
  make_file("one", 100, 0);
  make_file("other", 100, 0);
  link_to("one", "link");
  file = open_file("link", MPI_MODE_RDWR);
  wait_for_all();
  link_to("other", "link");
  write_own(file, number, "a write after the link has changed");
  close_file(&file);
  expect_own("one", number, "the number in the file that was opened");
  expect_own("other", 4 * rank, "a byte of the other file");
}

/* What MPI_File_open may be given, and hints that only one rank has. */
static void openings(void) {
  const int number = 80 + rank;
  MPI_Comm part, between;
  result_of_open("class of a mode that is 0:", MPI_COMM_WORLD, "a", 0);
  result_of_open("class of two modes:", MPI_COMM_WORLD, "a", MPI_MODE_RDWR | MPI_MODE_RDONLY);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  result_of_open("class of an intercommunicator:", between, "a", MPI_MODE_RDWR | MPI_MODE_CREATE);
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
  wait_for_all();
  write_and_close(open_off("hint", MPI_MODE_RDWR | MPI_MODE_CREATE, rank == 0), "hint", number);
  link_to("/dev/null", "device");
  MPI_File file = open_file("device", MPI_MODE_WRONLY);
  write_own(file, number, "a write to a device");
  close_file(&file);
}

static void views(void) {
  MPI_Offset displacement = -1;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  int number = 0x01020304;
  MPI_Status status;
  MPI_File file = create_file("views");
  set_view(file, 8, MPI_INT, MPI_INT);
  write_at(file, rank, &number, 1, MPI_INT, "MPI_File_write_at_all");
  succeed(MPI_File_get_view(file, &displacement, &etype, &filetype, representation), "MPI_File_get_view");
  expect(displacement, 8, "the displacement");
  expect(strcmp(representation, "native"), 0, "the representation");
  wait_for_all();
  expect(size_of("views"), 8 + 4 * ranks, "the size");
  wait_for_all();
  /* A view that MPI refuses leaves the old one. */
  result("class of an unknown representation:",
         class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unknown", MPI_INFO_NULL)));
  const int code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
  result("class of external32:", class_of(code));
  if (code == MPI_SUCCESS) {
    result("class of a write:", class_of(MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, &status)));
    wait_for_all();
    result("a byte of external32:", byte_at("views", 0));
  }
  wait_for_all();
  MPI_File_close(&file);
  wait_for_all();
}

const struct named_case opening_cases[] = {{"info", info},   {"atomic", atomic},     {"modes", modes},
                                           {"paths", paths}, {"openings", openings}, {"views", views},
                                           {NULL, NULL}};
