/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts of the MPI that the library is compiled for. Apart from preload.c, which defines names of mpi.h itself. */
#pragma once

#include "hooks.h"

extern const int mpi_is_open_mpi; /* else MPICH, or an MPI with its binary interface */

/* `find`: returns the address of a name of the loaded MPI. In Open MPI constants are addresses. */
typedef void* find_address(const char* name);
int is_null_comm(mpi_word comm, find_address* find);
mpi_word mpi_int(find_address* find);  /* MPI_INT */
mpi_word mpi_band(find_address* find); /* MPI_BAND */
