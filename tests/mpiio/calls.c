/* SPDX-License-Identifier: BSD-3-Clause */
/* Single properties of MPI-IO, a case each: calls CASE[,CASE…] FOLDER [judged]. Each case has a folder of its name. It
 * knows MPI alone. Lines that begin with "result" are the same with and without another library. With "judged" it also
 * expects what MPI itself does wrong or differently: only a library that takes the calls does that right. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, ranks, faults, judged;
static const char *folder, *current;

/* ------------------------------------------------------------------------------------------ helpers */

static void fault(const char *format, ...) {
  char line[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (++faults <= 10)
    printf("FAULT %s rank %d: %s\n", current, rank, line);
  fflush(stdout);
}

static void expect(long long given, long long expected, const char *what) {
  if (given != expected)
    fault("%s is %lld, not %lld", what, given, expected);
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

static void succeed(int code, const char *what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS)
    return;
  MPI_Error_string(code, text, &length);
  fault("%s fails: %s", what, text);
}

static void result(const char *text, long long value) {
  if (rank == 0)
    printf("result %s: %s %lld\n", current, text, value);
  fflush(stdout);
}

static const char *path_of(const char *name) {
  static char paths[4][1000];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void wait_for_all(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File open_with(const char *name, int mode, const char *key, const char *value) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (key != NULL) {
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
  }
  succeed(MPI_File_open(MPI_COMM_WORLD, path_of(name), mode, info, &file), "MPI_File_open");
  if (info != MPI_INFO_NULL)
    MPI_Info_free(&info);
  return file;
}

static MPI_File open_file(const char *name, int mode) {
  return open_with(name, mode, NULL, NULL);
}

static void close_file(MPI_File *file) {
  succeed(MPI_File_close(file), "MPI_File_close");
  wait_for_all();
}

/* By rank 0, without MPI: bytes `first`, `first` + 1, … */
static void make_file(const char *name, int size, int first) {
  if (rank == 0) {
    FILE *file = fopen(path_of(name), "wb");
    for (int i = 0; i < size; ++i)
      fputc((first + i) & 255, file);
    fclose(file);
  }
  wait_for_all();
}

static long long size_of(const char *name) {
  struct stat facts;
  return stat(path_of(name), &facts) == 0 ? (long long)facts.st_size : -1;
}

static int byte_at(const char *name, long long offset) {
  unsigned char byte = 0;
  const int file = open(path_of(name), O_RDONLY);
  const ssize_t count = pread(file, &byte, 1, (off_t)offset);
  close(file);
  return count == 1 ? byte : -1;
}

static int count_of(const MPI_Status *status, MPI_Datatype type) {
  int count = -5;
  MPI_Get_count(status, type, &count);
  return count;
}

static int elements_of(const MPI_Status *status, MPI_Datatype type) {
  int count = -5;
  MPI_Get_elements(status, type, &count);
  return count;
}

static int minimum(int a, int b) {
  return a < b ? a : b;
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

/* Integers in turn of each rank: rank r has integers r, r + ranks, … */
static void view_in_turn(MPI_File file, MPI_Offset displacement) {
  MPI_Datatype turn;
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)((size_t)ranks * sizeof(int)), &turn);
  MPI_Type_commit(&turn);
  succeed(MPI_File_set_view(file, displacement + (MPI_Offset)((size_t)rank * sizeof(int)), MPI_INT, turn, "native",
                            MPI_INFO_NULL),
          "MPI_File_set_view");
  MPI_Type_free(&turn);
}

static void fill(int *numbers, int count, int first) {
  for (int i = 0; i < count; ++i)
    numbers[i] = first + 1000 * rank + i;
}

static void expect_numbers(const int *numbers, int count, int first, const char *what) {
  for (int i = 0; i < count; ++i)
    if (numbers[i] != first + 1000 * rank + i) {
      fault("%s: number %d is %d, not %d", what, i, numbers[i], first + 1000 * rank + i);
      return;
    }
}

/* ------------------------------------------------------------------------------------------ data */

static void end_of_file(void) {
  enum {
    wanted = 4
  };
  int numbers[wanted];
  MPI_Status status;
  make_file("end", 40, 1);
  MPI_File file = open_file("end", MPI_MODE_RDONLY);
  for (int by_pointer = 0; by_pointer < 2; ++by_pointer) {
    memset(numbers, 0x55, sizeof numbers);
    memset(&status, 0x55, sizeof status);
    const MPI_Offset offset = 16 * rank;
    if (by_pointer) {
      MPI_File_seek(file, offset, MPI_SEEK_SET);
      succeed(MPI_File_read_all(file, numbers, wanted, MPI_INT, &status), "MPI_File_read_all");
    } else {
      succeed(MPI_File_read_at_all(file, offset, numbers, wanted, MPI_INT, &status), "MPI_File_read_at_all");
    }
    const int bytes = rank == 0 || rank == 1 ? 16 : rank == 2 ? 8 : 0;
    for (int i = 0; i < bytes; ++i)
      expect(((unsigned char *)numbers)[i], (1 + offset + i) & 255, "a byte in the file");
    if (judged) {
      for (int i = bytes; i < (int)sizeof numbers; ++i)
        expect(((unsigned char *)numbers)[i], 0x55, "a byte of memory past the end of the file");
      expect(count_of(&status, MPI_INT), bytes / 4, "MPI_Get_count");
      expect(count_of(&status, MPI_BYTE), bytes, "MPI_Get_count of bytes");
      expect(elements_of(&status, MPI_INT), bytes / 4, "MPI_Get_elements");
    }
    if (judged && by_pointer) {
      MPI_Offset position = -1;
      MPI_File_get_position(file, &position);
      expect(position, offset + 4 * wanted, "the position after a short read");
    }
  }
  /* A part of a pair: the count is undefined, and its elements are counted. */
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  memset(numbers, 0x55, sizeof numbers);
  memset(&status, 0x55, sizeof status);
  succeed(MPI_File_read_at_all(file, 28, numbers, 2, pair, &status), "MPI_File_read_at_all");
  if (judged) {
    expect(count_of(&status, pair), MPI_UNDEFINED, "MPI_Get_count of a part");
    expect(elements_of(&status, pair), 3, "MPI_Get_elements of a part");
    expect(numbers[3], 0x55555555, "memory past the end of the file");
  }
  MPI_Type_free(&pair);
  close_file(&file);
}

/* Holes in view and memory, and the end of the file in one of the view's tiles. */
static void end_in_view(void) {
  int numbers[24];
  MPI_Status status;
  MPI_Datatype every_second;
  const int in_file = 6 * ranks + 1; /* integers; the last is of rank 0 */
  make_file("end of view", 4 * in_file, 0);
  MPI_File file = open_file("end of view", MPI_MODE_RDWR);
  view_in_turn(file, 0);
  MPI_Type_vector(10, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  memset(numbers, 0x55, sizeof numbers);
  succeed(MPI_File_read_at_all(file, 2, numbers, 1, every_second, &status), "MPI_File_read_at_all");
  const int found = rank == 0 ? 5 : 4;
  for (int i = 0; i < 24; ++i) {
    if (i % 2 == 0 && i / 2 < found) {
      const int first = 4 * ((2 + i / 2) * ranks + rank);
      expect(((unsigned char *)&numbers[i])[0], first & 255, "a number in the file");
    } else if (judged) {
      expect(numbers[i], 0x55555555, "memory that the read does not reach");
    }
  }
  if (judged) {
    expect(elements_of(&status, every_second), found, "MPI_Get_elements");
    expect(count_of(&status, every_second), MPI_UNDEFINED, "MPI_Get_count");
  }
  MPI_Type_free(&every_second);
  close_file(&file);
}

static void own_bytes(void) {
  int numbers[50], back[50];
  MPI_Status status;
  MPI_File file = open_file("own", MPI_MODE_CREATE | MPI_MODE_RDWR);
  view_in_turn(file, 0);
  for (int round = 0; round < 20; ++round) {
    fill(numbers, 50, round * 7);
    memset(back, 0, sizeof back);
    succeed(MPI_File_write_at_all(file, 50 * round, numbers, 50, MPI_INT, &status), "MPI_File_write_at_all");
    expect(count_of(&status, MPI_INT), 50, "MPI_Get_count of a write");
    /* Without a sync: another process may have written these bytes. OMPIO 4.1 does not wait for that. */
    succeed(MPI_File_read_at(file, 50 * round, back, 50, MPI_INT, &status), "MPI_File_read_at");
    if (judged)
      expect_numbers(back, 50, round * 7, "own bytes");
  }
  close_file(&file);
}

static void overlap(void) {
  enum {
    length = 50000,
    step = 1000
  };
  char *bytes = malloc(length);
  memset(bytes, rank + 1, length);
  make_file("overlap", 3 * length, 77);
  MPI_File file = open_file("overlap", MPI_MODE_RDWR);
  MPI_Status status;
  succeed(MPI_File_write_at_all(file, 500 + step * rank, bytes, length, MPI_BYTE, &status), "MPI_File_write_at_all");
  expect(count_of(&status, MPI_BYTE), length, "MPI_Get_count");
  free(bytes);
  close_file(&file);
  for (int i = 0; rank == 0 && i < 3 * length; i += 7) {
    const int byte = byte_at("overlap", i);
    int first = -1, last = -2; /* ranks that wrote it */
    for (int r = 0; r < ranks; ++r)
      if (i >= 500 + step * r && i < 500 + step * r + length) {
        first = first < 0 ? r : first;
        last = r;
      }
    if (first < 0)
      expect(byte, (77 + i) & 255, "a byte outside");
    else if (byte < first + 1 || byte > last + 1)
      fault("byte %d is %d, which is of none of ranks %d to %d", i, byte, first, last);
  }
  expect(size_of("overlap"), 3 * length, "the size");
}

static void far(void) {
  const MPI_Offset displacement = (MPI_Offset)5 << 30;
  const MPI_Aint extent = (MPI_Aint)3 << 30;
  MPI_Datatype tile;
  int numbers[6], back[6];
  MPI_Status status;
  MPI_File file = open_file("far", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_create_resized(MPI_INT, 0, extent, &tile);
  MPI_Type_commit(&tile);
  succeed(MPI_File_set_view(file, displacement + 4 * rank, MPI_INT, tile, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
  fill(numbers, 6, 5);
  succeed(MPI_File_write_at_all(file, 1, numbers, 6, MPI_INT, &status), "MPI_File_write_at_all");
  expect(count_of(&status, MPI_INT), 6, "MPI_Get_count");
  memset(back, 0, sizeof back);
  succeed(MPI_File_read_at_all(file, 1, back, 6, MPI_INT, &status), "MPI_File_read_at_all");
  expect_numbers(back, 6, 5, "far numbers");
  /* An offset past 4 GiB in bytes. */
  succeed(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "MPI_File_set_view");
  const MPI_Offset at = ((MPI_Offset)1 << 32) + 100 + 24 * rank;
  succeed(MPI_File_write_at_all(file, at, numbers, 6, MPI_INT, &status), "MPI_File_write_at_all");
  memset(back, 0, sizeof back);
  succeed(MPI_File_read_at_all(file, at, back, 6, MPI_INT, &status), "MPI_File_read_at_all");
  expect_numbers(back, 6, 5, "numbers past 4 GiB");
  MPI_Type_free(&tile);
  close_file(&file);
  expect(size_of("far"), displacement + 6 * (long long)extent + 4 * ranks, "the size");
  wait_for_all();
  if (rank == 0)
    unlink(path_of("far"));
}

/* More bytes in one call than an int counts. */
static void large(void) {
  const MPI_Aint block = 1 << 20;
  const int count = 2200;
  const size_t length = (size_t)block * (size_t)count;
  MPI_Datatype mebi;
  MPI_Status status;
  MPI_Type_contiguous((int)block, MPI_BYTE, &mebi);
  MPI_Type_commit(&mebi);
  unsigned char *bytes = malloc(rank == 0 ? length : (size_t)block);
  for (size_t i = 0; i < (rank == 0 ? length : (size_t)block); i += 4096)
    bytes[i] = (unsigned char)(i >> 12) ^ (unsigned char)(i >> 20);
  MPI_File file = open_file("large", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const MPI_Offset at = rank == 0 ? 0 : (MPI_Offset)length + (MPI_Offset)(rank - 1) * block;
  succeed(MPI_File_write_at_all(file, at, bytes, rank == 0 ? count : 1, mebi, &status), "MPI_File_write_at_all");
  expect(count_of(&status, mebi), rank == 0 ? count : 1, "MPI_Get_count of a write");
  memset(bytes, 0, rank == 0 ? length : (size_t)block);
  succeed(MPI_File_read_at_all(file, at, bytes, rank == 0 ? count : 1, mebi, &status), "MPI_File_read_at_all");
  expect(count_of(&status, mebi), rank == 0 ? count : 1, "MPI_Get_count of a read");
  for (size_t i = 0; i < (rank == 0 ? length : (size_t)block); i += 4096)
    if (bytes[i] != ((unsigned char)(i >> 12) ^ (unsigned char)(i >> 20))) {
      fault("byte %zu is wrong", i);
      break;
    }
  free(bytes);
  MPI_Type_free(&mebi);
  close_file(&file);
  if (rank == 0)
    unlink(path_of("large"));
}

static void zero_counts(void) {
  int numbers[8], back[8];
  MPI_Status status;
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  make_file("zero", 3, 9);
  MPI_File file = open_file("zero", MPI_MODE_RDWR);
  fill(numbers, 8, 3);
  succeed(MPI_File_write_at_all(file, 0, NULL, 0, MPI_INT, &status), "a write of nothing by all ranks");
  expect(count_of(&status, MPI_INT), 0, "MPI_Get_count");
  succeed(MPI_File_read_all(file, NULL, 0, MPI_INT, &status), "a read of nothing by all ranks");
  expect(count_of(&status, MPI_INT), 0, "MPI_Get_count");
  succeed(MPI_File_write_at_all(file, 1000, numbers, 5, nothing, &status), "a write of a type without data");
  expect(size_of("zero"), 3, "the size after writes of nothing");
  wait_for_all();
  const int mine = rank == 1 ? 8 : 0;
  succeed(MPI_File_write_at_all(file, 0, mine > 0 ? numbers : NULL, mine, MPI_INT, &status), "a write by one rank");
  expect(count_of(&status, MPI_INT), mine, "MPI_Get_count");
  memset(back, 0, sizeof back);
  succeed(MPI_File_read_at_all(file, 0, mine > 0 ? back : NULL, mine, MPI_INT, &status), "a read by one rank");
  expect_numbers(back, mine, 3, "numbers of one rank");
  /* One rank sees nothing of the file. */
  succeed(MPI_File_set_view(file, 4 * rank, MPI_INT, rank == 0 ? nothing : MPI_INT, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
  const int others = rank == ranks - 1 && rank > 0 ? 8 : 0;
  succeed(MPI_File_write_at_all(file, 0, numbers, others, MPI_INT, &status), "a write beside an empty view");
  memset(back, 0, sizeof back);
  succeed(MPI_File_read_at_all(file, 0, back, others, MPI_INT, &status), "a read beside an empty view");
  expect_numbers(back, others, 3, "numbers beside an empty view");
  MPI_Type_free(&nothing);
  close_file(&file);
}

/* Pairs, which have gaps in memory and in views, and memory that is written several times. */
static void types(void) {
  struct pair {
    double number;
    int place;
  } pairs[6], back[6];
  MPI_Status status;
  MPI_Datatype repeated;
  memset(pairs, 0x33, sizeof pairs);
  for (int i = 0; i < 6; ++i) {
    pairs[i].number = 10 * rank + i;
    pairs[i].place = 100 * rank + i;
  }
  MPI_File file = open_file("types", MPI_MODE_CREATE | MPI_MODE_RDWR);
#ifdef MPICH /* ROMIO of MPICH 4.0 ends the program where pairs are in a view, and in memory if it moves them */
  const int has_pairs = judged, has_views_of_pairs = 0;
#else
  const int has_pairs = 1, has_views_of_pairs = 1;
#endif
  /* Without the gaps: 12 bytes a pair. */
  if (has_pairs) {
    succeed(MPI_File_write_at_all(file, 72 * rank, pairs, 6, MPI_DOUBLE_INT, &status), "a write of pairs");
    expect(count_of(&status, MPI_DOUBLE_INT), 6, "MPI_Get_count of pairs");
    memset(back, 0x33, sizeof back);
    succeed(MPI_File_read_at_all(file, 72 * rank, back, 6, MPI_DOUBLE_INT, &status), "a read of pairs");
    expect(memcmp(pairs, back, sizeof back), 0, "a difference of pairs, or of their gaps");
    wait_for_all();
    expect(size_of("types"), 72 * ranks, "the size");
  }
  wait_for_all();
  /* With the gaps: 16 bytes a pair. */
  if (has_views_of_pairs) {
    succeed(MPI_File_set_view(file, 1000 + 96 * rank, MPI_DOUBLE_INT, MPI_DOUBLE_INT, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
    succeed(MPI_File_write_all(file, pairs, 6, MPI_DOUBLE_INT, &status), "a write of pairs through a view of pairs");
    memset(back, 0x33, sizeof back);
    succeed(MPI_File_read_at_all(file, 0, back, 6, MPI_DOUBLE_INT, &status), "a read of them");
    expect(memcmp(pairs, back, sizeof back), 0, "a difference of pairs, or of their gaps");
    wait_for_all();
    expect(size_of("types"), 1000 + 96 * ranks - 4, "the size with gaps");
  }
  wait_for_all();
  succeed(MPI_File_set_view(file, 2000, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "MPI_File_set_view");
  MPI_Type_vector(5, 1, 0, MPI_INT, &repeated);
  MPI_Type_commit(&repeated);
  const int number = 70 + rank;
  succeed(MPI_File_write_at_all(file, 5 * rank, &number, 1, repeated, &status), "a write of the same memory");
  int numbers[5] = {0};
  succeed(MPI_File_read_at_all(file, 5 * rank, numbers, 5, MPI_INT, &status), "a read of it");
  for (int i = 0; i < 5; ++i)
    expect(numbers[i], 70 + rank, "a number that was written several times");
  MPI_Type_free(&repeated);
  close_file(&file);
}

static void pointers(void) {
  int numbers[10], back[10];
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_File file = open_file("pointers", MPI_MODE_CREATE | MPI_MODE_RDWR);
  view_in_turn(file, 12);
  fill(numbers, 10, 1);
  MPI_File_seek(file, 3, MPI_SEEK_SET);
  succeed(MPI_File_write_all(file, numbers, 10, MPI_INT, &status), "MPI_File_write_all");
  MPI_File_get_position(file, &position);
  expect(position, 13, "the position after MPI_File_write_all");
  succeed(MPI_File_write_at_all(file, 40, numbers, 10, MPI_INT, &status), "MPI_File_write_at_all");
  MPI_File_get_position(file, &position);
  expect(position, 13, "the position after MPI_File_write_at_all");
  /* An independent call goes on where the collective one ended, and the reverse. */
  succeed(MPI_File_write(file, numbers, 2, MPI_INT, &status), "MPI_File_write");
  succeed(MPI_File_write_all(file, numbers + 2, 3, MPI_INT, &status), "MPI_File_write_all");
  MPI_File_seek(file, -5, MPI_SEEK_CUR);
  memset(back, 0, sizeof back);
  succeed(MPI_File_read_all(file, back, 5, MPI_INT, &status), "MPI_File_read_all");
  expect_numbers(back, 5, 1, "numbers around the pointer");
  MPI_File_get_position(file, &position);
  expect(position, 18, "the position at the end");
  close_file(&file);
}

/* The shared pointer is not moved by calls that do not use it. */
static void shared_pointer(void) {
  int numbers[4];
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_File file = open_file("shared", MPI_MODE_CREATE | MPI_MODE_RDWR);
  succeed(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "MPI_File_set_view");
  fill(numbers, 4, 1);
  succeed(MPI_File_write_ordered(file, numbers, 4, MPI_INT, &status), "MPI_File_write_ordered");
  MPI_File_seek(file, 100 + 4 * rank, MPI_SEEK_SET);
  succeed(MPI_File_write_all(file, numbers, 4, MPI_INT, &status), "MPI_File_write_all");
  MPI_File_get_position_shared(file, &position);
  expect(position, 4 * ranks, "the shared position");
  wait_for_all();
  succeed(MPI_File_write_ordered(file, numbers, 4, MPI_INT, &status), "MPI_File_write_ordered");
  int back[4] = {0};
  succeed(MPI_File_sync(file), "MPI_File_sync");
  succeed(MPI_File_read_at_all(file, 4 * (ranks + rank), back, 4, MPI_INT, &status), "MPI_File_read_at_all");
  expect_numbers(back, 4, 1, "numbers of the second MPI_File_write_ordered");
  close_file(&file);
}

static void split(void) {
  int numbers[30], back[30];
  MPI_Status status;
  MPI_File file = open_file("split", MPI_MODE_CREATE | MPI_MODE_RDWR);
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
  int number = 7 + rank, token = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_File file = open_file("nonblocking", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank > 0)
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  succeed(MPI_File_iwrite_at_all(file, 4 * rank, &number, 1, MPI_INT, &request), "MPI_File_iwrite_at_all");
  for (int other = 1; rank == 0 && other < ranks; ++other)
    MPI_Send(&token, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
  succeed(MPI_Wait(&request, &status), "MPI_Wait");
  number = 0;
  succeed(MPI_File_read_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "MPI_File_read_at_all");
  expect(number, 7 + rank, "the number");
  close_file(&file);
}

/* ------------------------------------------------------------------------------------------ errors */

static MPI_File handled;
static int handler_calls, handler_class;

static void handler(MPI_File *file, int *code, ...) {
  ++handler_calls;
  handler_class = class_of(*code);
  expect(*file == handled, 1, "that the handler is called with the program's handle");
}

static void error_handler(void) {
  MPI_Errhandler mine, given;
  int number = 1;
  MPI_Status status;
  make_file("read only", 100, 3);
  handled = open_file("read only", MPI_MODE_RDONLY);
  MPI_File_create_errhandler(handler, &mine);
  MPI_File_set_errhandler(handled, mine);
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
  succeed(MPI_File_read_at_all(handled, rank, &byte, 1, MPI_BYTE, &status), "MPI_File_read_at_all");
  expect(byte, 3 + rank, "the byte");
  MPI_File_get_errhandler(handled, &given);
  expect(given == mine, 1, "that the handler is kept");
  MPI_Errhandler_free(&given);
  MPI_Errhandler_free(&mine);
  MPI_File_set_errhandler(handled, MPI_ERRORS_RETURN);
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
  MPI_Offset position = -1;
  MPI_File_get_position(file, &position);
  expect(position, 0, "the position");
  expect(size_of("wrong"), 100, "the size");
  expect(byte_at("wrong", 50), 53, "a byte");
  /* The file is as usable as before. */
  wait_for_all();
  succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  MPI_Type_free(&uncommitted);
  close_file(&file);
  expect(byte_at("wrong", 4 * rank), rank, "a number that was written afterwards");
}

/* Wrong on one rank only. MPI must be told not to work together, or the other ranks would wait for ever. */
static void one_wrong(void) {
  int number = 10 + rank;
  MPI_Status status;
  MPI_File file = open_file("one wrong", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int code = MPI_File_write_at_all(file, 4 * rank, &number, rank == 0 ? -1 : 1, MPI_INT, &status);
  result("class of a negative count on rank 0 alone:", class_of(code));
  if (rank > 0)
    succeed(code, "the call of another rank");
  succeed(MPI_File_write_at_all(file, 4 * rank + 4 * ranks, &number, 1, MPI_INT, &status), "the next call");
  close_file(&file);
  expect(byte_at("one wrong", 4 * (ranks + rank)), 10 + rank, "the number");
  if (rank > 0)
    expect(byte_at("one wrong", 4 * rank), 10 + rank, "the number of a rank without error");
}

/* No space: the same class on all ranks, the handler is called, and the file can be used afterwards. */
static void no_space(void) {
  enum {
    length = 1 << 20
  };
  MPI_Errhandler mine;
  MPI_Status status;
  char *bytes = calloc(1, length);
  handled = open_file("no space", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_create_errhandler(handler, &mine);
  MPI_File_set_errhandler(handled, mine);
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
    succeed(MPI_File_write_at_all(handled, 4 * rank, &rank, 1, MPI_INT, &status), "a short write afterwards");
    int back = -1;
    succeed(MPI_File_read_at_all(handled, 4 * rank, &back, 1, MPI_INT, &status), "a read afterwards");
    expect(back, rank, "the number");
  }
  MPI_Errhandler_free(&mine);
  MPI_File_set_errhandler(handled, MPI_ERRORS_RETURN);
  MPI_File_close(&handled);
  free(bytes);
  wait_for_all();
  if (rank == 0)
    unlink(path_of("no space"));
}

static void file_limit(void) {
  const struct rlimit limit = {65536, 65536};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  no_space();
}

/* ------------------------------------------------------------------------------------------ the file */

static void in_place(void) {
  struct stat before, after;
  int numbers[100];
  MPI_Status status;
  make_file("in place", 10000, 1);
  if (rank == 0)
    chmod(path_of("in place"), 0640);
  wait_for_all();
  stat(path_of("in place"), &before);
  MPI_File file = open_file("in place", MPI_MODE_RDWR | MPI_MODE_CREATE);
  view_in_turn(file, 12000);
  fill(numbers, 100, 1);
  succeed(MPI_File_write_all(file, numbers, 100, MPI_INT, &status), "MPI_File_write_all");
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
  int files = 0;
  DIR *all = opendir(folder);
  for (struct dirent *each; (each = readdir(all)) != NULL;)
    files += each->d_name[0] != '.';
  closedir(all);
  expect(files, 1, "files in the folder");
}

/* Written only: bytes between those that are written cannot be read, and must stay. */
static void write_only(void) {
  int numbers[1000];
  MPI_Status status;
  MPI_Datatype every_second;
  make_file("write only", 40000, 1);
  if (rank == 0)
    chmod(path_of("write only"), 0200);
  wait_for_all();
  MPI_File file = open_file("write only", MPI_MODE_WRONLY);
  MPI_Type_vector(1000, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  fill(numbers, 1000, 1);
  succeed(MPI_File_set_view(file, 8000 * rank, MPI_INT, every_second, "native", MPI_INFO_NULL), "MPI_File_set_view");
  succeed(MPI_File_write_at_all(file, 0, numbers, 1000, MPI_INT, &status), "MPI_File_write_at_all");
  MPI_Type_free(&every_second);
  close_file(&file);
  if (rank == 0)
    chmod(path_of("write only"), 0600);
  wait_for_all();
  expect(byte_at("write only", 8000 * rank + 4), (1 + 8000 * rank + 4) & 255, "a byte between");
  expect(byte_at("write only", 8000 * rank + 8), (1 + 1000 * rank + 1) & 255, "a written byte");
}

/* The path is renamed, removed or replaced while the file is open: the open file is the old one. `early`: before the
 * first collective call. */
static void change_path(const char *name, int early, int replace) {
  int number = 5 + rank, back = 0;
  MPI_Status status;
  char other[100];
  snprintf(other, sizeof other, "%s (other)", name);
  make_file(name, 100, 1);
  make_file(other, 60, 200);
  MPI_File file = open_file(name, MPI_MODE_RDWR);
  if (!early)
    succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "the first write");
  wait_for_all();
  if (rank == 0 && replace)
    rename(path_of(other), path_of(name));
  if (rank == 0 && !replace)
    unlink(path_of(name));
  wait_for_all();
  number = 50 + rank;
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "a write after the change");
  succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "a read after the change");
  expect(back, 50 + rank, "the number after the change");
  unsigned char byte = 0;
  succeed(MPI_File_read_at(file, 99, &byte, 1, MPI_BYTE, &status), "MPI_File_read_at");
  expect(byte, 100, "a byte of the open file");
  close_file(&file);
  if (replace) {
    expect(size_of(name), 60, "the size of the file that replaced it");
    expect(byte_at(name, 4 * rank), 200 + 4 * rank, "a byte of the file that replaced it");
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
  MPI_Status status;
  MPI_File file = open_file("truncated", MPI_MODE_RDWR | MPI_MODE_CREATE);
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "the first write");
  wait_for_all();
  if (rank == 0 && truncate(path_of("truncated"), 4) != 0)
    fault("truncate");
  wait_for_all();
  succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "a read of a truncated file");
  if (judged) {
    expect(count_of(&status, MPI_INT), rank == 0, "MPI_Get_count");
    expect(back, rank == 0 ? 5 : 0x55555555, "the number");
  }
  wait_for_all();
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "a write to a truncated file");
  succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "a read of it");
  expect(back, 5 + rank, "the number");
  /* By MPI. */
  succeed(MPI_File_set_size(file, 2), "MPI_File_set_size");
  wait_for_all();
  expect(size_of("truncated"), 2, "the size");
  wait_for_all();
  succeed(MPI_File_write_at_all(file, 100 + 4 * rank, &number, 1, MPI_INT, &status), "a write past the end");
  close_file(&file);
  expect(size_of("truncated"), 100 + 4 * ranks, "the size at the end");
  expect(byte_at("truncated", 50), 0, "a byte that nobody wrote");
}

static void deleted_on_close(void) {
  MPI_Status status;
  MPI_File file = open_file("deleted", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  wait_for_all();
  expect(size_of("deleted"), 4 * ranks, "the size before the file is closed");
  wait_for_all();
  close_file(&file);
  expect(size_of("deleted"), -1, "no file after it is closed");
}

static void two_handles(void) {
  int number = 3 + rank, back = 0;
  MPI_Status status;
  MPI_File one = open_file("twice", MPI_MODE_RDWR | MPI_MODE_CREATE), other = open_file("twice", MPI_MODE_RDWR);
  for (int round = 0; round < 10; ++round) {
    number = 100 * round + rank;
    succeed(MPI_File_write_at_all(one, 4 * rank, &number, 1, MPI_INT, &status), "a write through one handle");
    succeed(MPI_File_sync(one), "MPI_File_sync");
    wait_for_all();
    succeed(MPI_File_sync(other), "MPI_File_sync");
    succeed(MPI_File_read_at_all(other, 4 * (ranks - 1 - rank), &back, 1, MPI_INT, &status), "a read through another");
    expect(back, 100 * round + ranks - 1 - rank, "the number");
    wait_for_all();
  }
  close_file(&one);
  close_file(&other);
}

static void many_files(void) {
  int before = 0;
  MPI_Status status;
  for (int round = 0; round < 30; ++round) {
    MPI_File file = open_file("many", MPI_MODE_RDWR | MPI_MODE_CREATE);
    succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
    close_file(&file);
    if (round == 4)
      before = descriptors();
  }
  expect(descriptors(), before, "descriptors");
}

/* ------------------------------------------------------------------------------------------ facts and modes */

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

static void info(void) {
  MPI_Status status;
  MPI_File file = open_file("info", MPI_MODE_RDWR | MPI_MODE_CREATE);
  expect_info(file, "taken");
  succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  expect_info(file, "taken");
  close_file(&file);
  file = open_with("info", MPI_MODE_RDWR, "windrow", "off");
  expect_info(file, "passed: hint");
  succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  close_file(&file);
  expect(byte_at("info", 4 * rank), rank, "the number");
  file = MPI_FILE_NULL;
  succeed(MPI_File_open(MPI_COMM_SELF, path_of(rank == 0 ? "a" : "b"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                        &file),
          "MPI_File_open");
  expect_info(file, "passed: one rank");
  succeed(MPI_File_write_at_all(file, 0, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  MPI_File_close(&file);
}

static void atomic(void) {
  int number = 9 + rank, back = 0, flag = -1;
  MPI_Status status;
  MPI_File file = open_file("atomic", MPI_MODE_RDWR | MPI_MODE_CREATE);
  result("class of set_atomicity:", class_of(MPI_File_set_atomicity(file, 1)));
  MPI_File_get_atomicity(file, &flag);
  result("atomicity:", flag);
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "MPI_File_write_at_all");
  MPI_File_set_atomicity(file, 0);
  succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "MPI_File_read_at_all");
  expect(back, 9 + rank, "the number");
  close_file(&file);
}

static void modes(void) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  result("class of a file that does not exist:",
         class_of(MPI_File_open(MPI_COMM_WORLD, path_of("none"), MPI_MODE_RDWR, MPI_INFO_NULL, &file)));
  expect(file == MPI_FILE_NULL, 1, "a null handle");
  wait_for_all();
  make_file("modes", 20, 0);
  result("class of MPI_MODE_EXCL:",
         class_of(MPI_File_open(MPI_COMM_WORLD, path_of("modes"), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                                MPI_INFO_NULL, &file)));
  wait_for_all();
  file = MPI_FILE_NULL;
  result("class of a folder that does not exist:",
         class_of(
             MPI_File_open(MPI_COMM_WORLD, path_of("no/file"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)));
  wait_for_all();
  MPI_Offset position = -1;
  file = open_file("modes", MPI_MODE_RDWR | MPI_MODE_APPEND);
  MPI_File_get_position(file, &position);
  expect(position, 20, "the position of MPI_MODE_APPEND");
  wait_for_all();
  MPI_File_seek(file, 4 * rank, MPI_SEEK_CUR);
  succeed(MPI_File_write_all(file, &rank, 1, MPI_INT, &status), "MPI_File_write_all");
  close_file(&file);
  expect(size_of("modes"), 20 + 4 * ranks, "the size");
  expect(byte_at("modes", 20 + 4 * rank), rank, "the number");
#ifdef OPEN_MPI /* ROMIO takes what is before the colon for a file system */
  /* A colon belongs to the name, unless it follows the name of a file system. */
  file = open_file("a name: with a colon", MPI_MODE_RDWR | MPI_MODE_CREATE);
  succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  close_file(&file);
  expect(byte_at("a name: with a colon", 4 * rank), rank, "the number");
#endif
  file = open_file("sequential", MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
  succeed(MPI_File_write_ordered(file, &rank, 1, MPI_INT, &status), "MPI_File_write_ordered");
  close_file(&file);
  expect(byte_at("sequential", 4 * rank), rank, "the number");
}

/* The path is relative, and the working folder or a link on the path changes after MPI_File_open. */
static void paths(void) {
  char before[1000];
  int number = 60 + rank;
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  if (getcwd(before, sizeof before) == NULL || chdir(folder) != 0)
    fault("chdir");
  succeed(MPI_File_open(MPI_COMM_WORLD, "relative", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
          "MPI_File_open");
  if (chdir(before) != 0)
    fault("chdir");
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "MPI_File_write_at_all");
  close_file(&file);
  expect(byte_at("relative", 4 * rank), 60 + rank, "the number");
  make_file("one", 100, 0);
  make_file("other", 100, 0);
  if (rank == 0 && symlink("one", path_of("link")) != 0)
    fault("symlink");
  wait_for_all();
  file = open_file("link", MPI_MODE_RDWR);
  wait_for_all();
  if (rank == 0 && (unlink(path_of("link")) != 0 || symlink("other", path_of("link")) != 0))
    fault("symlink");
  wait_for_all();
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "a write after the link has changed");
  close_file(&file);
  expect(byte_at("one", 4 * rank), 60 + rank, "the number in the file that was opened");
  expect(byte_at("other", 4 * rank), 4 * rank, "a byte of the other file");
}

/* What MPI_File_open may be given, and hints that only one rank has. */
static void openings(void) {
  int number = 80 + rank;
  MPI_Comm part, between;
  MPI_Info hint = MPI_INFO_NULL;
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  result("class of a mode that is 0:", class_of(MPI_File_open(MPI_COMM_WORLD, path_of("a"), 0, MPI_INFO_NULL, &file)));
  result("class of two modes:",
         class_of(MPI_File_open(MPI_COMM_WORLD, path_of("a"), MPI_MODE_RDWR | MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  result("class of an intercommunicator:",
         class_of(MPI_File_open(between, path_of("a"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file)));
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
  wait_for_all();
  if (rank == 0) {
    MPI_Info_create(&hint);
    MPI_Info_set(hint, "windrow", "off");
  }
  file = MPI_FILE_NULL;
  succeed(MPI_File_open(MPI_COMM_WORLD, path_of("hint"), MPI_MODE_RDWR | MPI_MODE_CREATE, hint, &file),
          "MPI_File_open");
  if (hint != MPI_INFO_NULL)
    MPI_Info_free(&hint);
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "MPI_File_write_at_all");
  close_file(&file);
  expect(byte_at("hint", 4 * rank), 80 + rank, "the number");
  if (rank == 0 && symlink("/dev/null", path_of("device")) != 0)
    fault("symlink");
  wait_for_all();
  file = open_file("device", MPI_MODE_WRONLY);
  succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "a write to a device");
  close_file(&file);
}

static void views(void) {
  MPI_Offset displacement = -1;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  int number = 0x01020304;
  MPI_Status status;
  MPI_File file = open_file("views", MPI_MODE_RDWR | MPI_MODE_CREATE);
  succeed(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "MPI_File_set_view");
  succeed(MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, &status), "MPI_File_write_at_all");
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

/* ------------------------------------------------------------------------------------------ communicators */

static void freed_communicator(void) {
  MPI_Comm comm;
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int back = -1;
  for (int round = 0; round < 5; ++round) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* in reverse */
    succeed(MPI_File_open(comm, path_of("freed"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
            "MPI_File_open");
    if (round % 2 == 1)
      succeed(MPI_File_write_at_all(file, 4 * rank, &round, 1, MPI_INT, &status), "MPI_File_write_at_all");
    MPI_Comm_free(&comm);
    succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
    succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "MPI_File_read_at_all");
    expect(back, rank, "the number");
    close_file(&file);
  }
}

static void parts(void) {
  MPI_Comm comm;
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int number = 40 + rank, back = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  succeed(
      MPI_File_open(comm, path_of(rank % 2 ? "odd" : "even"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      "MPI_File_open");
  MPI_Comm_free(&comm);
  for (int round = 0; round <= 3 * (rank % 2); ++round) { /* the two parts call differently often */
    succeed(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, &status), "MPI_File_write_at_all");
    succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "MPI_File_read_at_all");
    expect(back, 40 + rank, "the number");
  }
  succeed(MPI_File_close(&file), "MPI_File_close");
  wait_for_all();
}

static void session(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int back = -1;
  succeed(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  succeed(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), "MPI_Group_from_session_pset");
  succeed(MPI_Comm_create_from_group(group, "mpiio", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
          "MPI_Comm_create_from_group");
  MPI_Group_free(&group);
  succeed(MPI_File_open(comm, path_of("session"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
          "MPI_File_open");
  succeed(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status), "MPI_File_write_at_all");
  succeed(MPI_File_read_at_all(file, 4 * rank, &back, 1, MPI_INT, &status), "MPI_File_read_at_all");
  expect(back, rank, "the number");
  close_file(&file);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
#else
  if (rank == 0)
    printf("skipped session\n");
#endif
}

static void *use_one_file(void *argument) {
  MPI_File file = *(MPI_File *)argument;
  MPI_Status status;
  for (int round = 0; round < 30; ++round) {
    int numbers[20], back[20] = {0};
    fill(numbers, 20, round);
    succeed(MPI_File_write_at_all(file, 20 * rank, numbers, 20, MPI_INT, &status), "MPI_File_write_at_all");
    succeed(MPI_File_read_at_all(file, 20 * rank, back, 20, MPI_INT, &status), "MPI_File_read_at_all");
    expect_numbers(back, 20, round, "numbers of a thread");
  }
  return NULL;
}

/* Two threads are in collective calls on two files of one communicator at the same time. */
static void threads(void) {
  int level = 0;
  MPI_File files[2];
  pthread_t thread;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    if (rank == 0)
      printf("skipped threads\n");
    return;
  }
  for (int i = 0; i < 2; ++i) {
    files[i] = open_file(i == 0 ? "one" : "other", MPI_MODE_RDWR | MPI_MODE_CREATE);
    succeed(MPI_File_set_view(files[i], 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "MPI_File_set_view");
  }
#ifdef MPICH /* ROMIO of MPICH 4.0 does not return */
  const int together = judged;
#else
  const int together = 1;
#endif
  if (together)
    pthread_create(&thread, NULL, use_one_file, &files[1]);
  use_one_file(&files[0]);
  if (together)
    pthread_join(thread, NULL);
  close_file(&files[0]);
  close_file(&files[1]);
}

/* ------------------------------------------------------------------------------------------ main */

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {{"end_of_file", end_of_file},
             {"end_in_view", end_in_view},
             {"own_bytes", own_bytes},
             {"overlap", overlap},
             {"far", far},
             {"large", large},
             {"zero_counts", zero_counts},
             {"types", types},
             {"pointers", pointers},
             {"shared_pointer", shared_pointer},
             {"split", split},
             {"nonblocking", nonblocking},
             {"error_handler", error_handler},
             {"wrong_arguments", wrong_arguments},
             {"one_wrong", one_wrong},
             {"no_space", no_space},
             {"file_limit", file_limit},
             {"in_place", in_place},
             {"write_only", write_only},
             {"removed", removed},
             {"replaced", replaced},
             {"truncated", truncated},
             {"deleted_on_close", deleted_on_close},
             {"two_handles", two_handles},
             {"many_files", many_files},
             {"info", info},
             {"atomic", atomic},
             {"modes", modes},
             {"paths", paths},
             {"openings", openings},
             {"views", views},
             {"freed_communicator", freed_communicator},
             {"parts", parts},
             {"session", session},
             {"threads", threads}};

static void run_case(const char *name, const char *parent) {
  static char own[1000];
  snprintf(own, sizeof own, "%s/%s", parent, name);
  folder = own;
  current = name;
  handler_calls = 0;
  if (rank == 0 && mkdir(folder, 0755) != 0)
    fault("mkdir %s", folder);
  wait_for_all();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (strcmp(cases[i].name, name) == 0) {
      cases[i].run();
      wait_for_all();
      return;
    }
  fault("there is no such case");
}

int main(int count, char **words) {
  int level = 0, all = 0;
  if (count < 3)
    return 2;
  MPI_Init_thread(&count, &words, strcmp(words[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  judged = count > 3 && strcmp(words[3], "judged") == 0;
  for (char *name = strtok(words[1], ","); name != NULL; name = strtok(NULL, ","))
    run_case(name, words[2]);
  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return minimum(all, 1);
}
