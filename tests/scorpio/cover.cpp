// SPDX-License-Identifier: BSD-3-Clause
// The header in C++, in a program as codes in C++ have it: each rank writes its rows and reads them back.
#include <cstring>

#include "checks.h"

static void cover() {
  iogroup_conf_t configuration;
  configuration.numIOgroups = 0;
  configuration.preferredGroupSize = 2;
  configuration.commIncoming = MPI_COMM_WORLD;
  auto* group = new iogroup_t;
  EXPECT(scorpio_IOgroup_init(&configuration, group) == 0);
  const int file = scorpio_open_file(path_of("cover.h5", 0), group, SCORPIO_FILE_CREATE);
  int global[] = {ranks, 2}, local[] = {1, 2};
  double written[] = {rank + 0.25, rank + 0.5}, read[2] = {};
  char name[] = "rows";
  EXPECT(scorpio_write_dataset(written, SCORPIO_DOUBLE, 2, global, local, file, name, group,
                               SCORPIO_NONUNIFORM_CONTIGUOUS_WRITE) == 0);
  EXPECT(scorpio_read_dataset(read, SCORPIO_DOUBLE, 2, global, local, file, name, group,
                              SCORPIO_NONUNIFORM_CONTIGUOUS_READ) == 0);
  EXPECT(std::memcmp(written, read, sizeof read) == 0);
  EXPECT(scorpio_close_file(file, group) == 0);
  EXPECT(scorpio_IOgroup_cleanup(group) == 0);
  delete group;
}

int main(int argc, char** argv) {
  const test tests[] = {{"cover", cover}};
  return run_test(argc, argv, tests, 1);
}
