/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bytes move: the end of the file, holes, overlaps, long distances, large and empty calls, and types. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum {
  wanted = 4
};

/* Reads 16 bytes at byte 16 * rank of a file of 40 bytes. */
static void read_over_end(MPI_File file, int by_pointer) {
  int numbers[wanted];
  MPI_Status status;
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
  if (judged && by_pointer)
    expect_position(file, offset + 4 * wanted, "the position after a short read");
}

/* A part of a pair: the count is undefined, and its elements are counted. */
static void read_part_of_pair(MPI_File file) {
  int numbers[wanted];
  MPI_Status status;
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
}

static void end_of_file(void) {
  make_file("end", 40, 1);
  MPI_File file = open_file("end", MPI_MODE_RDONLY);
  read_over_end(file, 0);
  read_over_end(file, 1);
  read_part_of_pair(file);
  close_file(&file);
}

/* Holes in view and memory, and the end of the file in one of the view's tiles. */
static void end_in_view(void) {
  int numbers[24];
  MPI_Status status;
  MPI_Datatype every_second = every_second_of(10);
  const int in_file = 6 * ranks + 1; /* integers; the last is of rank 0 */
  make_file("end of view", 4 * in_file, 0);
  MPI_File file = open_file("end of view", MPI_MODE_RDWR);
  view_in_turn(file, 0);
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
  MPI_File file = create_file("own");
  view_in_turn(file, 0);
  for (int round = 0; round < 20; ++round) {
    fill(numbers, 50, round * 7);
    memset(back, 0, sizeof back);
    expect(write_at(file, 50 * round, numbers, 50, MPI_INT, "MPI_File_write_at_all"), 50, "MPI_Get_count of a write");
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
  const int count = write_at(file, 500 + step * rank, bytes, length, MPI_BYTE, "MPI_File_write_at_all");
  expect(count, length, "MPI_Get_count");
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
  MPI_File file = create_file("far");
  MPI_Type_create_resized(MPI_INT, 0, extent, &tile);
  MPI_Type_commit(&tile);
  set_view(file, displacement + 4 * rank, MPI_INT, tile);
  fill(numbers, 6, 5);
  expect(write_at(file, 1, numbers, 6, MPI_INT, "MPI_File_write_at_all"), 6, "MPI_Get_count");
  memset(back, 0, sizeof back);
  read_at(file, 1, back, 6, MPI_INT, "MPI_File_read_at_all");
  expect_numbers(back, 6, 5, "far numbers");
  /* An offset past 4 GiB in bytes. */
  set_view(file, 0, MPI_BYTE, MPI_BYTE);
  const MPI_Offset at = ((MPI_Offset)1 << 32) + 100 + 24 * rank;
  write_at(file, at, numbers, 6, MPI_INT, "MPI_File_write_at_all");
  memset(back, 0, sizeof back);
  read_at(file, at, back, 6, MPI_INT, "MPI_File_read_at_all");
  expect_numbers(back, 6, 5, "numbers past 4 GiB");
  MPI_Type_free(&tile);
  close_file(&file);
  expect(size_of("far"), displacement + 6 * (long long)extent + 4 * ranks, "the size");
  wait_for_all();
  remove_file("far");
}

static unsigned char large_byte(size_t place) {
  return (unsigned char)((place >> 12) ^ (place >> 20));
}

/* More bytes in one call than an int counts. */
static void large(void) {
  const MPI_Aint block = 1 << 20;
  const int all = 2200, count = rank == 0 ? all : 1;
  const size_t length = (size_t)block * (size_t)count;
  MPI_Datatype mebi;
  MPI_Type_contiguous((int)block, MPI_BYTE, &mebi);
  MPI_Type_commit(&mebi);
  unsigned char *bytes = malloc(length);
  for (size_t i = 0; i < length; i += 4096)
    bytes[i] = large_byte(i);
  MPI_File file = create_file("large");
  const MPI_Offset at = rank == 0 ? 0 : (MPI_Offset)(all + rank - 1) * block;
  expect(write_at(file, at, bytes, count, mebi, "MPI_File_write_at_all"), count, "MPI_Get_count of a write");
  memset(bytes, 0, length);
  expect(read_at(file, at, bytes, count, mebi, "MPI_File_read_at_all"), count, "MPI_Get_count of a read");
  for (size_t i = 0; i < length; i += 4096)
    if (bytes[i] != large_byte(i)) {
      fault("byte %zu is wrong", i);
      break;
    }
  free(bytes);
  MPI_Type_free(&mebi);
  close_file(&file);
  remove_file("large");
}

static void zero_counts(void) {
  int numbers[8], back[8];
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  make_file("zero", 3, 9);
  MPI_File file = open_file("zero", MPI_MODE_RDWR);
  fill(numbers, 8, 3);
  expect(write_at(file, 0, NULL, 0, MPI_INT, "a write of nothing by all ranks"), 0, "MPI_Get_count");
  expect(read_by_pointer(file, NULL, 0, MPI_INT, "a read of nothing by all ranks"), 0, "MPI_Get_count");
  write_at(file, 1000, numbers, 5, nothing, "a write of a type without data");
  expect(size_of("zero"), 3, "the size after writes of nothing");
  wait_for_all();
  const int mine = rank == 1 ? 8 : 0;
  expect(write_at(file, 0, mine > 0 ? numbers : NULL, mine, MPI_INT, "a write by one rank"), mine, "MPI_Get_count");
  memset(back, 0, sizeof back);
  read_at(file, 0, mine > 0 ? back : NULL, mine, MPI_INT, "a read by one rank");
  expect_numbers(back, mine, 3, "numbers of one rank");
  /* One rank sees nothing of the file. */
  set_view(file, 4 * rank, MPI_INT, rank == 0 ? nothing : MPI_INT);
  const int others = rank == ranks - 1 && rank > 0 ? 8 : 0;
  write_at(file, 0, numbers, others, MPI_INT, "a write beside an empty view");
  memset(back, 0, sizeof back);
  read_at(file, 0, back, others, MPI_INT, "a read beside an empty view");
  expect_numbers(back, others, 3, "numbers beside an empty view");
  MPI_Type_free(&nothing);
  close_file(&file);
}

/* MPI_DOUBLE_INT. Where the compiler leaves a gap, memory has it too. */
struct pair {
  double number;
  int place;
};

enum {
  pair_count = 6
};

static void expect_pairs(MPI_File file, MPI_Offset offset, const struct pair *pairs, const char *what) {
  struct pair back[pair_count];
  memset(back, 0x33, sizeof back);
  read_at(file, offset, back, pair_count, MPI_DOUBLE_INT, what);
  expect(memcmp(pairs, back, sizeof back), 0, "a difference of pairs, or of their gaps");
  wait_for_all();
}

/* 12 bytes a pair. */
static void write_pairs_without_gaps(MPI_File file, const struct pair *pairs) {
  const int count = write_at(file, 72 * rank, pairs, pair_count, MPI_DOUBLE_INT, "a write of pairs");
  expect(count, pair_count, "MPI_Get_count of pairs");
  expect_pairs(file, 72 * rank, pairs, "a read of pairs");
  expect(size_of("types"), 72 * ranks, "the size");
}

/* 16 bytes a pair. */
static void write_pairs_with_gaps(MPI_File file, const struct pair *pairs) {
  set_view(file, 1000 + 96 * rank, MPI_DOUBLE_INT, MPI_DOUBLE_INT);
  write_by_pointer(file, pairs, pair_count, MPI_DOUBLE_INT, "a write of pairs through a view of pairs");
  expect_pairs(file, 0, pairs, "a read of them");
  expect(size_of("types"), 1000 + 96 * ranks - 4, "the size with gaps");
}

static void write_same_memory(MPI_File file) {
  const int number = 70 + rank;
  int numbers[5] = {0};
  MPI_Datatype repeated;
  set_view(file, 2000, MPI_INT, MPI_INT);
  MPI_Type_vector(5, 1, 0, MPI_INT, &repeated);
  MPI_Type_commit(&repeated);
  write_at(file, 5 * rank, &number, 1, repeated, "a write of the same memory");
  read_at(file, 5 * rank, numbers, 5, MPI_INT, "a read of it");
  for (int i = 0; i < 5; ++i)
    expect(numbers[i], 70 + rank, "a number that was written several times");
  MPI_Type_free(&repeated);
}

/* Pairs, which have gaps in memory and in views, and memory that is written several times. */
static void types(void) {
  struct pair pairs[pair_count];
  memset(pairs, 0x33, sizeof pairs);
  for (int i = 0; i < pair_count; ++i) {
    pairs[i].number = 10 * rank + i;
    pairs[i].place = 100 * rank + i;
  }
  MPI_File file = create_file("types");
#ifdef MPICH /* ROMIO of MPICH 4.0 ends the program where pairs are in a view, and in memory if it moves them */
  const int has_pairs = judged, has_views_of_pairs = 0;
#else
  const int has_pairs = 1, has_views_of_pairs = 1;
#endif
  if (has_pairs)
    write_pairs_without_gaps(file, pairs);
  wait_for_all();
  if (has_views_of_pairs)
    write_pairs_with_gaps(file, pairs);
  wait_for_all();
  write_same_memory(file);
  close_file(&file);
}

/* So many calls of one kind that each way is tried. */
static void many_small(void) {
  int numbers[50], back[50];
  MPI_File file = create_file("many small");
  view_in_turn(file, 0);
  for (int round = 0; round < 100; ++round) {
    fill(numbers, 50, round * 7);
    memset(back, 0, sizeof back);
    expect(write_at(file, 50 * round, numbers, 50, MPI_INT, "MPI_File_write_at_all"), 50, "MPI_Get_count of a write");
    expect(read_at(file, 50 * round, back, 50, MPI_INT, "MPI_File_read_at_all"), 50, "MPI_Get_count of a read");
    expect_numbers(back, 50, round * 7, "own numbers");
  }
  close_file(&file);
}

const struct named_case data_cases[] = {{"end_of_file", end_of_file},
                                        {"end_in_view", end_in_view},
                                        {"own_bytes", own_bytes},
                                        {"overlap", overlap},
                                        {"far", far},
                                        {"large", large},
                                        {"zero_counts", zero_counts},
                                        {"types", types},
                                        {"many_small", many_small},
                                        {NULL, NULL}};
