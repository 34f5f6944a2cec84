/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI: prints its arguments. */
#include <stdio.h>

int main(int count, char **words) {
  for (int i = 1; i < count; ++i)
    printf("%s\n", words[i]);
  return 0;
}
