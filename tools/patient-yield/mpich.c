/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH waits by polling and never gives the core away, so that with more ranks than cores each message costs a time
   slice. This stands before the call by which MPICH polls UCX and yields when nothing had happened. For tests on small
   machines only; the library windrow does not use it. Measured with MPICH 4.0.2 on two cores: MPI_Allreduce of one
   double takes 4.9 to 5.9 ms without and 9 to 12 us with it at 4 ranks, 24 to 26 ms and 40 to 57 us at 8. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*progress_function)(void *worker);

static progress_function next_progress;

/* Before main(): libucp is loaded already, because the program's libmpich needs it, and no thread runs yet. */
__attribute__((constructor)) static void find_next_progress(void) {
  next_progress = (progress_function)dlsym(RTLD_NEXT, "ucp_worker_progress");
}

/* Of a Python program libucp is loaded later, by a module, and for that module alone: it is not the next of anything.
 */
static void find_loaded_progress(void) {
  void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (library)
    next_progress = (progress_function)dlsym(library, "ucp_worker_progress");
}

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
  if (!next_progress)
    find_loaded_progress();
  unsigned events = next_progress(worker);
  if (events == 0)
    sched_yield();
  return events;
}
