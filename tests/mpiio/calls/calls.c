/* SPDX-License-Identifier: BSD-3-Clause */
/* Single properties of MPI-IO, a case each: calls CASE[,CASE…] FOLDER [judged]. Each case has a folder of its name. It
 * knows MPI alone. Lines that begin with "result" are the same with and without another library. With "judged" it also
 * expects what MPI itself does wrong or differently: only a library that takes the calls does that right. */
#include "calls.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct named_case *find_case(const char *name) {
  static const struct named_case *const lists[] = {data_cases, pointer_cases, error_cases,
                                                   file_cases, opening_cases, comm_cases};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i)
    for (const struct named_case *each = lists[i]; each->name != NULL; ++each)
      if (strcmp(each->name, name) == 0)
        return each;
  return NULL;
}

static void run_case(const char *name, const char *parent) {
  static char own[1000];
  const struct named_case *found = find_case(name);
  snprintf(own, sizeof own, "%s/%s", parent, name);
  folder = own;
  current = name;
  if (rank == 0 && mkdir(folder, 0755) != 0)
    fault("mkdir %s", folder);
  wait_for_all();
  if (found == NULL) {
    fault("there is no such case");
    return;
  }
  found->run();
  wait_for_all();
}

int main(int count, char **words) {
  int level = 0, all = 0;
  if (count < 3)
    return 2;
  MPI_Init_thread(&count, &words, strcmp(words[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  judged = count > 3 && strcmp(words[3], "judged") == 0;
  for (char *name = strtok(words[1], ","); name != NULL; name = strtok(NULL, ","))
    run_case(name, words[2]);
  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all > 0;
}
