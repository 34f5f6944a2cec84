/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preload library and the core tell each other.
 *
 * The preload library is linked to no MPI, because it is loaded into every process of a job. The core is linked to
 * Windrow and MPI. Handles of MPI are passed as words: a pointer in Open MPI, an int in MPICH. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uintptr_t mpi_word;

/* A call that moves data, or the first half of one. The last three say which function of MPI it is. */
struct mpiio_call {
  mpi_word file;
  int64_t offset; /* in etypes, if the call has one */
  void* memory;   /* not changed by calls that write */
  int64_t count;
  mpi_word datatype;
  void* status; /* if the call has one */
  int writes;
  int has_offset;
  int is_begin; /* of a split call, which has no status */
};

/* The functions of MPI that are taken. There are two of these: what MPI does, and what the core does. */
struct mpiio_functions {
  int (*open)(mpi_word comm, const char* path, int amode, mpi_word info, mpi_word* file);
  int (*close)(mpi_word* file);
  int (*set_view)(mpi_word file, int64_t displacement, mpi_word etype, mpi_word filetype, const char* datarep,
                  mpi_word info);
  int (*set_atomicity)(mpi_word file, int flag);
  int (*get_info)(mpi_word file, void* info); /* of the size of a handle */
  int (*move)(const struct mpiio_call* call);
  /* The second half of a split call: `call` has the file, the memory, the status, and which function it is. */
  int (*end)(const struct mpiio_call* call);
};

/* The one function that the core exports. It is called once. `library_version`: PMPI_Get_library_version() of the
 * program's MPI. Returns NULL if the core has found another one. */
typedef const struct mpiio_functions* windrow_mpiio_core_function(const struct mpiio_functions* mpi,
                                                                  const void* library_version);

#ifdef __cplusplus
}
#endif
