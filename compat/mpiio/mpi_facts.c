/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_facts.h"

#include <mpi.h>

#ifdef OPEN_MPI

const int mpi_is_open_mpi = 1;

int is_null_comm(mpi_word comm, find_address* find) {
  return comm == (mpi_word)find("ompi_mpi_comm_null");
}
mpi_word mpi_int(find_address* find) {
  return (mpi_word)find("ompi_mpi_int");
}
mpi_word mpi_band(find_address* find) {
  return (mpi_word)find("ompi_mpi_op_band");
}

#else

const int mpi_is_open_mpi = 0;

int is_null_comm(mpi_word comm, find_address* find) {
  (void)find;
  return (MPI_Comm)comm == MPI_COMM_NULL;
}
mpi_word mpi_int(find_address* find) {
  (void)find;
  return (mpi_word)MPI_INT;
}
mpi_word mpi_band(find_address* find) {
  (void)find;
  return (mpi_word)MPI_BAND;
}

#endif
