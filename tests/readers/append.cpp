// SPDX-License-Identifier: BSD-3-Clause
// Appends steps to growing variables of a new file. After each sync it waits until another program has checked it:
// until FILE.step, which has the number of steps, is removed.
//   append FILE STEPS [KEY=VALUE ...]
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

constexpr int64_t k_rows = 11, k_columns = 5;

// Rank 0 waits, the others for it.
void wait_for_reader(const std::string& path, int64_t steps) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string mark = path + ".step";
  if (rank == 0) {
    std::ofstream(mark + ".new") << steps << '\n';
    std::filesystem::rename(mark + ".new", mark);
    while (std::filesystem::exists(mark))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void append(const std::string& path, int64_t steps, const windrow::Options& options) {
  windrow::File file = windrow::File::create(MPI_COMM_WORLD, path, options);
  const int field = file.define_variable("a field", WINDROW_FLOAT64, {0, k_rows, k_columns},
                                         {{"extendible", "true"}, {"chunks", "2x4x5"}, {"filters", "deflate:1"}});
  const int times = file.define_variable("times", WINDROW_INT32, {0}, {{"extendible", "true"}});
  file.put_attribute("a field", "units", "K");
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, k_rows),
             all = windrow::Decomposition::same(MPI_COMM_WORLD, {});
  const auto mine = rows.my_rows();
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<double> data;
    for (int64_t i = mine.first * k_columns; i < (mine.first + mine.count) * k_columns; ++i)
      data.push_back(static_cast<double>(step * k_rows * k_columns + i));
    const std::vector<int32_t> time{static_cast<int32_t>(step) * 10};
    file.put_record(field, step, rows, data);
    file.put_record(times, step, all, time);
    file.sync();
    wait_for_reader(path, step + 1);
  }
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = argc >= 3 ? 0 : 2;
  try {
    windrow::Options options;
    for (int i = 3; i < argc; ++i) {
      const std::string setting = argv[i];
      options.set(setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1));
    }
    if (code == 0)
      append(argv[1], std::stoll(argv[2]), options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
