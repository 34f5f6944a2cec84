/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the system calls of this process on files in one folder. One of them fails, is cut short, or is the last that
 * has an effect: then the folder stays unchanged, as if all processes had been killed at that moment, and the program
 * continues. The functions of libc are replaced, so that the calls of all libraries are counted. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum failing_kind {
  FAILING_NOTHING = 0,
  FAILING_FREEZE,   /* the n-th change and all after it, of all processes, have no effect but report success */
  FAILING_TEAR,     /* the same, but if the n-th is a write, its first half has an effect */
  FAILING_KILL,     /* this process is killed in place of the n-th change */
  FAILING_IO,       /* the n-th change fails, once */
  FAILING_NO_SPACE, /* from the n-th change on the disk is full: files cannot be created or extended */
  FAILING_SHORT,    /* the n-th change, if it is a write, moves half of its bytes */
  FAILING_READ,     /* the n-th reading fails, once */
  FAILING_OPEN      /* the n-th opening fails, once: this process has too many open files */
};

/* `frozen` is in memory that all processes share. */
void failing_start(const char *folder, enum failing_kind kind, long nth, volatile int *frozen);
/* The number of calls of the counted kind. */
long failing_stop(void);

#ifdef __cplusplus
}
#endif
