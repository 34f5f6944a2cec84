/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes 1 MiB from each rank to the next and checks it: large enough to take the single-copy path of MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  bytes = 1 << 20
};

static unsigned char expected(int sender, int i) {
  return (unsigned char)((sender * 31 + i) % 251);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  unsigned char *sent = malloc(bytes), *received = malloc(bytes);
  int mine = sent == NULL || received == NULL;
  if (!mine) {
    for (int i = 0; i < bytes; ++i)
      sent[i] = expected(rank, i);
    MPI_Sendrecv(sent, bytes, MPI_BYTE, next, 0, received, bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; ++i)
      mine |= received[i] != expected(previous, i);
  }
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks: %s\n", size, any ? "WRONG" : "right");
  free(sent);
  free(received);
  MPI_Finalize();
  return any;
}
