/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases of `calls` share: their lists, the checks, and files that each rank has a part of. */
#pragma once

#define _GNU_SOURCE
#include <mpi.h>
#include <stddef.h>

struct named_case {
  const char *name;
  void (*run)(void);
};

/* Each ends with a name that is NULL. */
extern const struct named_case data_cases[], pointer_cases[], error_cases[], file_cases[], opening_cases[],
    comm_cases[];

extern int rank, ranks, faults;
extern int judged;         /* whether what MPI itself does wrong or differently is expected too */
extern const char *folder; /* of the current case */
extern const char *current;

/* ------------------------------------------------------------------------------------------ checks */

void fault(const char *format, ...);
void expect(long long given, long long expected, const char *what);
void succeed(int code, const char *what);
/* A line that is the same with and without another library. */
void result(const char *text, long long value);

int class_of(int code);
int count_of(const MPI_Status *status, MPI_Datatype type);
int elements_of(const MPI_Status *status, MPI_Datatype type);

/* Numbers `first` + 1000 * rank, and so on. */
void fill(int *numbers, int count, int first);
void expect_numbers(const int *numbers, int count, int first, const char *what);

/* ------------------------------------------------------------------------------------------ files without MPI */

void wait_for_all(void);
/* In the folder of the case. The text stays until the fourth call after this one. */
const char *path_of(const char *name);
/* By rank 0: bytes `first`, `first` + 1, … */
void make_file(const char *name, int size, int first);
/* By rank 0; the others wait for it. */
void change_mode(const char *name, unsigned mode);
/* By rank 0. */
void remove_file(const char *name);
/* -1: there is no such file. */
long long size_of(const char *name);
/* -1: there is no such byte. */
int byte_at(const char *name, long long offset);

/* ------------------------------------------------------------------------------------------ calls that succeed */

MPI_File open_by(MPI_Comm comm, const char *name, int mode, MPI_Info info);
/* By all ranks. */
MPI_File open_file(const char *name, int mode);
/* By all ranks, for reading and writing. */
MPI_File create_file(const char *name);
void close_file(MPI_File *file);
void set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype);
/* Integers in turn of each rank: rank r has integers r, r + ranks, … */
void view_in_turn(MPI_File file, MPI_Offset displacement);
/* Every second of `count` integers. The caller frees it. */
MPI_Datatype every_second_of(int count);
void expect_position(MPI_File file, MPI_Offset expected, const char *what);

/* Collective. The result is MPI_Get_count. */
int write_at(MPI_File file, MPI_Offset offset, const void *memory, int count, MPI_Datatype type, const char *what);
int read_at(MPI_File file, MPI_Offset offset, void *memory, int count, MPI_Datatype type, const char *what);
int write_by_pointer(MPI_File file, const void *memory, int count, MPI_Datatype type, const char *what);
int read_by_pointer(MPI_File file, void *memory, int count, MPI_Datatype type, const char *what);

/* Collective, one integer of each rank at byte 4 * rank of a file that is seen as bytes. */
void write_own(MPI_File file, int number, const char *what);
void read_own(MPI_File file, int expected, const char *what);
/* The integer's first byte, without MPI. */
void expect_own(const char *name, int number, const char *what);
