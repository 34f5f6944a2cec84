/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI libraries wait by polling, and give the core away in between by sched_yield(). Where more ranks than cores do
   that, Linux' scheduler now and then lets everything else wait: with Linux 6.18, 16 ranks on two cores and a compiler
   beside them, other processes, a rank that had work to do among them, got no core for 28 to 80 seconds. This library,
   preloaded by tools/mpirun for the ranks, lets a process that has yielded for a while sleep instead. For small
   machines only; the library windrow does not use it. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  most_yields = 1000,
  sleep_ns = 50000,
  pause_ns = 20000
};

int sched_yield(void) {
  static _Thread_local int yields;
  static _Thread_local long long last; /* when the latest call returned */
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long ns = now.tv_sec * 1000000000LL + now.tv_nsec;
  if (ns - last > pause_ns)
    yields = 0; /* it has worked meanwhile */
  if (yields < most_yields) {
    ++yields;
    syscall(SYS_sched_yield);
  } else {
    const struct timespec sleep = {0, sleep_ns};
    nanosleep(&sleep, 0);
  }
  clock_gettime(CLOCK_MONOTONIC, &now);
  last = now.tv_sec * 1000000000LL + now.tv_nsec;
  return 0;
}

/* Open MPI closes its plug-ins in MPI_Finalize. On a crowded machine a thread of its own may still have to go on in
   one: three of some thousand programs ended with a jump into what was a plug-in. So they stay. */
int dlclose(void *handle);

int dlclose(void *handle) {
  (void)handle;
  return 0;
}
