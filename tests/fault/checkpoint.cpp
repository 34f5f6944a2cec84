// SPDX-License-Identifier: BSD-3-Clause
// checkpoint PATH NUMBER FAULT KEY=VALUE...: writes a grid of that number with all ranks, or dies of the fault ("":
// none). With WINDROW_REPORT in the environment rank 0 prints the report of the write. For kill_test.py and
// small_shared_memory_test.py.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int failed(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, windrow_error_message());
  return 1;
}

int write(const char* path, double number, const windrow_options* options) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int64_t k_rows = 64, k_columns = 128;
  const int64_t shape[2] = {k_rows, k_columns * size}, start[2] = {0, k_columns * rank}, count[2] = {k_rows, k_columns};
  const std::vector<double> data(static_cast<size_t>(k_rows * k_columns), number);
  windrow_file* file = nullptr;
  int variable = -1;
  if (windrow_create(MPI_COMM_WORLD, path, options, &file) != WINDROW_OK)
    return failed("create");
  if (windrow_define_variable(file, "grid", WINDROW_FLOAT64, 2, shape, &variable) != WINDROW_OK)
    return failed("define");
  if (windrow_write_block(file, variable, start, count, data.data()) != WINDROW_OK)
    return failed("write");
  const char* report = nullptr;
  if (windrow_report(file, "text", &report) != WINDROW_OK)
    return failed("report");
  if (rank == 0 && std::getenv("WINDROW_REPORT") != nullptr)
    std::puts(report);
  return windrow_close(file) == WINDROW_OK ? 0 : failed("close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4)
    return 2;
  windrow_options* options = nullptr;
  if (windrow_options_create(&options) != WINDROW_OK)
    return failed("options");
  std::vector<std::string> settings(argv + 4, argv + argc);
  if (argv[3][0] != '\0') {
    settings.emplace_back("store=faulty");
    settings.push_back(std::string("fault=") + argv[3]);
  }
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (windrow_options_set(options, setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str()) !=
        WINDROW_OK)
      return failed("option");
  }
  const int code = write(argv[1], std::atof(argv[2]), options);
  windrow_options_free(options);
  MPI_Finalize();
  return code;
}
