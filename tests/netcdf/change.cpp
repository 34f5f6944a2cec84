// SPDX-License-Identifier: BSD-3-Clause
// Adds a long attribute and a growing variable to a file that exists, so that all its data move.   change FILE FAULT
#include <mpi.h>

#include <cstdio>
#include <string>
#include <windrow/windrow.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = argc == 3 ? 0 : 2;
  try {
    windrow::Options options{{"buffer", "4096"}};
    if (argc == 3 && *argv[2] != '\0')
      options.set("store", "faulty").set("fault", argv[2]);
    windrow::File file = windrow::File::open(MPI_COMM_WORLD, argv[1], windrow::Mode::update, options);
    file.put_attribute("/", "history", std::string(20000, 'h'));
    (void)file.define_variable("added", WINDROW_INT16, {0, 3},
                               windrow::Options{{"extendible", "true"}, {"fill_value", "-1"}});
    file.close();
  } catch (const windrow::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
