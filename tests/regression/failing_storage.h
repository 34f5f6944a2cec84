/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of this process that concern files in one folder are counted, and one of them fails, is cut short,
 * or is the last that has an effect: from then on the folder stays as it is, as if all processes had been killed in
 * that moment, while the program goes on. The calls themselves are replaced, so that none is missed, whoever makes it.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum failing_kind {
  FAILING_NOTHING = 0,
  FAILING_FREEZE,   /* the n-th change and all after it, of all processes, have no effect, and say that they had */
  FAILING_TEAR,     /* the same, but of the n-th, where it is a write, the first half has an effect */
  FAILING_KILL,     /* this process is killed in place of the n-th change */
  FAILING_IO,       /* the n-th change fails, once */
  FAILING_NO_SPACE, /* from the n-th change on nothing gets more room: files cannot be made, or become longer */
  FAILING_SHORT,    /* the n-th change, where it is a write, moves half of its bytes */
  FAILING_READ      /* the n-th reading fails, once */
};

/* `frozen` lies in memory that all processes share. */
void failing_start(const char *folder, enum failing_kind kind, long nth, volatile int *frozen);
/* How many calls there were of the kind that was counted. */
long failing_stop(void);

#ifdef __cplusplus
}
#endif
