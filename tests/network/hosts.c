/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts PAIRS...: what MPI sees of the hosts, in JSON: how many there are; on each rank, how many ranks share its
   memory as MPI says, and how many are seen in its /dev/shm; and the rate in MB/s between rank 0 and each rank that is
   named. For bed_test.py. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  message_bytes = 8 << 20,
  turns = 4
};

/* Each rank leaves a file in /dev/shm; those of other hosts must not be there. */
static int visible_in_shared_memory(int rank, int size, int job) {
  char name[64];
  snprintf(name, sizeof name, "/dev/shm/windrow-hosts-%d-%d", job, rank);
  const int file = open(name, O_CREAT | O_RDWR, 0600);
  MPI_Barrier(MPI_COMM_WORLD);
  int seen = 0;
  for (int other = 0; other < size; ++other) {
    char of_other[64];
    snprintf(of_other, sizeof of_other, "/dev/shm/windrow-hosts-%d-%d", job, other);
    seen += access(of_other, F_OK) == 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (file >= 0)
    close(file);
  unlink(name);
  return seen;
}

/* MB/s one way, the median turn of a ping-pong; on rank 0. */
static double rate(int rank, int partner, char *buffer) {
  double seconds[turns] = {0};
  for (int turn = 0; turn <= turns; ++turn) { /* the first connects and is not counted */
    const double begin = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(buffer, message_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, message_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == partner) {
      MPI_Recv(buffer, message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    double time = MPI_Wtime() - begin;
    int place = turn - 1;
    for (; place > 0 && seconds[place - 1] > time; --place)
      seconds[place] = seconds[place - 1];
    if (place >= 0)
      seconds[place] = time;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 2e-6 * message_bytes / seconds[turns / 2];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, host_rank, both[2], job = (int)getpid();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);

  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &host_rank);
  MPI_Comm_size(host, &both[0]);
  MPI_Comm_free(&host);
  both[1] = visible_in_shared_memory(rank, size, job);
  int hosts = host_rank == 0, *all = calloc((size_t)size, sizeof both);
  char *buffer = calloc(1, message_bytes);
  if (all == NULL || buffer == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Allreduce(MPI_IN_PLACE, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(both, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("{\"hosts\": %d, \"ranks_of_a_host\": [", hosts);
    for (int i = 0; i < size; ++i)
      printf("%s%d", i > 0 ? ", " : "", all[2 * i]);
    printf("], \"seen_in_shared_memory\": [");
    for (int i = 0; i < size; ++i)
      printf("%s%d", i > 0 ? ", " : "", all[2 * i + 1]);
    printf("], \"rates\": [");
  }
  for (int i = 1; i < argc; ++i) {
    const double found = rate(rank, atoi(argv[i]), buffer);
    if (rank == 0)
      printf("%s%.1f", i > 1 ? ", " : "", found);
  }
  if (rank == 0)
    printf("]}\n");
  free(all);
  free(buffer);
  MPI_Finalize();
  return 0;
}
