// SPDX-License-Identifier: BSD-3-Clause
// steps PATH STEPS: writes a grid, cut into columns, into one variable after the other; a line of JSON for each, with
// its seconds and what was sent; then every rank reads another's columns. Fails when a value is wrong. For bed_test.py.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr int64_t k_rows = 4096, k_columns = 64;  // the columns of each rank: 2 MiB

int failed(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, windrow_error_message());
  return 1;
}

double value(int step, int rank, int64_t place) {
  return step * 1e9 + rank * 1e7 + static_cast<double>(place);
}

int write(const char* path, int steps, int rank, int size) {
  const int64_t shape[2] = {k_rows, k_columns * size}, start[2] = {0, k_columns * rank}, count[2] = {k_rows, k_columns};
  std::vector<double> data(static_cast<size_t>(k_rows * k_columns));
  windrow_file* file = nullptr;
  if (windrow_create(MPI_COMM_WORLD, path, nullptr, &file) != WINDROW_OK)
    return failed("create");
  for (int step = 0; step < steps; ++step) {
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = value(step, rank, static_cast<int64_t>(i));
    const double begin = MPI_Wtime();
    int variable = -1;
    const std::string name = "step " + std::to_string(step);
    if (windrow_define_variable(file, name.c_str(), WINDROW_FLOAT64, 2, shape, &variable) != WINDROW_OK)
      return failed("define");
    if (windrow_write_block(file, variable, start, count, data.data()) != WINDROW_OK)
      return failed("write");
    const char* text = nullptr;
    if (windrow_report(file, "json", &text) != WINDROW_OK)
      return failed("report");
    const nlohmann::json report = nlohmann::json::parse(text);
    nlohmann::json line{{"seconds", MPI_Wtime() - begin}};
    for (const char* key : {"bytes", "bytes_sent", "bytes_written"})
      line[key] = report[key];
    if (rank == 0)
      std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
  return windrow_close(file) == WINDROW_OK ? 0 : failed("close");
}

int read(const char* path, int steps, int rank, int size) {
  const int other = size - 1 - rank;
  const int64_t start[2] = {0, k_columns * other}, count[2] = {k_rows, k_columns};
  std::vector<double> data(static_cast<size_t>(k_rows * k_columns));
  windrow_file* file = nullptr;
  if (windrow_open(MPI_COMM_WORLD, path, WINDROW_READ, nullptr, &file) != WINDROW_OK)
    return failed("open");
  int wrong = 0;
  for (int step = 0; step < steps; ++step) {
    int variable = -1;
    const std::string name = "step " + std::to_string(step);
    if (windrow_find_variable(file, name.c_str(), &variable) != WINDROW_OK)
      return failed("find");
    if (windrow_read_block(file, variable, start, count, data.data()) != WINDROW_OK)
      return failed("read");
    for (size_t i = 0; i < data.size(); ++i)
      wrong |= data[i] != value(step, other, static_cast<int64_t>(i)) ? 1 : 0;
  }
  if (wrong != 0)
    std::fprintf(stderr, "rank %d: a value is wrong\n", rank);
  if (windrow_close(file) != WINDROW_OK)
    return failed("close");
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3)
    return 2;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = write(argv[1], std::atoi(argv[2]), rank, size);
  if (code == 0)
    code = read(argv[1], std::atoi(argv[2]), rank, size);
  MPI_Finalize();
  return code;
}
