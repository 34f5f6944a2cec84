/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of other communicators than MPI_COMM_WORLD, of sessions, and of threads. */
#include "calls.h"

#include <pthread.h>
#include <stdio.h>

static void freed_communicator(void) {
  MPI_Comm comm;
  for (int round = 0; round < 5; ++round) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* in reverse */
    MPI_File file = open_by(comm, "freed", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    if (round % 2 == 1)
      write_own(file, round, "MPI_File_write_at_all");
    MPI_Comm_free(&comm);
    write_own(file, rank, "MPI_File_write_at_all");
    read_own(file, rank, "MPI_File_read_at_all");
    close_file(&file);
  }
}

static void parts(void) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  MPI_File file = open_by(comm, rank % 2 ? "odd" : "even", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  MPI_Comm_free(&comm);
  for (int round = 0; round <= 3 * (rank % 2); ++round) { /* the two parts call differently often */
    write_own(file, 40 + rank, "MPI_File_write_at_all");
    read_own(file, 40 + rank, "MPI_File_read_at_all");
  }
  close_file(&file);
}

static void session(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  succeed(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  succeed(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), "MPI_Group_from_session_pset");
  succeed(MPI_Comm_create_from_group(group, "mpiio", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
          "MPI_Comm_create_from_group");
  MPI_Group_free(&group);
  MPI_File file = open_by(comm, "session", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  write_own(file, rank, "MPI_File_write_at_all");
  read_own(file, rank, "MPI_File_read_at_all");
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
  for (int round = 0; round < 30; ++round) {
    int numbers[20], back[20] = {0};
    fill(numbers, 20, round);
    write_at(file, 20 * rank, numbers, 20, MPI_INT, "MPI_File_write_at_all");
    read_at(file, 20 * rank, back, 20, MPI_INT, "MPI_File_read_at_all");
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
    files[i] = create_file(i == 0 ? "one" : "other");
    set_view(files[i], 0, MPI_INT, MPI_INT);
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

const struct named_case comm_cases[] = {{"freed_communicator", freed_communicator},
                                        {"parts", parts},
                                        {"session", session},
                                        {"threads", threads},
                                        {NULL, NULL}};
