// SPDX-License-Identifier: BSD-3-Clause
// windrow-demo-table FOLDER PARTS: the checkpoint by each preset, against what one process writes of the same bytes
// contiguously. Seconds are from before create to after close, the slowest rank's; the old file is removed before the
// clock starts; the presets take turns, and the median of the rounds counts. No fsync on either side.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>

#include "demo.hpp"

namespace {

constexpr int k_rounds = 5;

struct Row {
  std::string strategy;
  std::string not_built;  // the library's answer, when it does not have the preset
  std::vector<double> seconds;
  nlohmann::json report;
  double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

// Waiting ranks sleep: on few cores, ranks that poll would slow down the one that is measured.
void wait_for_all() {
  MPI_Request request{};
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// The limit: rank 0 alone, in calls of 1 MiB, from a buffer as large as the data, which it keeps, as programs keep what
// they compute: memory that was just given back is slow to get again on a virtual machine.
double contiguous_write(const std::string& path, const std::vector<char>& data, int rank) {
  double seconds = 0;
  bool complete = true;
  if (rank == 0) {
    const auto bytes = static_cast<int64_t>(data.size());
    unlink(path.c_str());
    const double start = MPI_Wtime();
    const int file = open(path.c_str(), O_CREAT | O_WRONLY, 0666);
    for (int64_t offset = 0; offset < bytes && complete; offset += 1 << 20) {
      const auto size = static_cast<size_t>(std::min<int64_t>(1 << 20, bytes - offset));
      complete = pwrite(file, data.data() + offset, size, offset) == static_cast<ssize_t>(size);
    }
    complete = close(file) == 0 && complete;
    seconds = MPI_Wtime() - start;
    unlink(path.c_str());
    if (!complete)
      throw std::runtime_error("cannot write " + path);
  }
  wait_for_all();
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

// One run of a preset. What it says when it is not built yet is kept, and it is not tried again.
void run_once(Row& row, const demo::Checkpoint& checkpoint, const std::string& path, int rank) {
  if (rank == 0)
    unlink(path.c_str());
  wait_for_all();
  const double start = MPI_Wtime();
  std::optional<windrow::File> file;
  try {
    file.emplace(windrow::File::create(MPI_COMM_WORLD, path, {{"strategy", row.strategy}}));
    checkpoint.fill(*file);
    row.report = nlohmann::json::parse(file->report("json"));
    file->close();
  } catch (const windrow::Error& error) {  // on every rank
    if (error.code() != WINDROW_UNSUPPORTED)
      throw;
    row.not_built = error.what();
    if (file)
      file->discard();
    return;
  }
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  row.seconds.push_back(seconds);
}

int64_t number(const nlohmann::json& report, const char* key) {
  return report.contains(key) && report[key].is_number() ? report[key].get<int64_t>() : 0;
}

void print_table(const std::vector<Row>& rows, double limit, double megabytes) {
  std::printf("   %-12s %8s %8s %9s %10s %11s %9s %8s\n", "strategy", "seconds", "MB/s", "x limit", "messages", "moved",
              "requests", "writers");
  std::printf("   %-12s %8.3f %8.0f %9.2f %10s %11s %9.0f %8d\n", "(limit)", limit, megabytes / limit, 1.0, "-", "-",
              std::max(1.0, megabytes * 1e6 / (1 << 20)), 1);
  for (const Row& row : rows) {
    if (!row.not_built.empty()) {
      std::printf("   %-12s not built yet\n", row.strategy.c_str());
      continue;
    }
    std::printf("   %-12s %8.3f %8.0f %9.2f %10lld %8.1f MB %9lld %8lld\n", row.strategy.c_str(), row.median(),
                megabytes / row.median(), row.median() / limit, static_cast<long long>(number(row.report, "messages")),
                static_cast<double>(number(row.report, "bytes_sent") + number(row.report, "bytes_shared")) / 1e6,
                static_cast<long long>(number(row.report, "storage_requests")),
                static_cast<long long>(number(row.report, "writers")));
  }
}

int table(const std::vector<std::string>& words) {
  if (words.size() < 2)
    throw std::runtime_error("usage: windrow-demo-table FOLDER PARTS");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const demo::Checkpoint checkpoint(MPI_COMM_WORLD, words[1]);
  std::vector<Row> rows;
  for (const char* name : {"auto", "scorpio", "two-phase", "list", "tpc", "idg", "ylib", "bips3d-tree"})
    rows.push_back({name, {}, {}, {}});
  Row limit;
  const std::vector<char> data(rank == 0 ? static_cast<size_t>(checkpoint.bytes()) : 0, 'w');
  for (int round = 0; round < k_rounds; ++round) {
    limit.seconds.push_back(contiguous_write(words[0] + "/limit.raw", data, rank));
    for (Row& row : rows)
      if (row.not_built.empty())
        run_once(row, checkpoint, words[0] + "/table.h5", rank);
  }
  if (rank == 0) {
    unlink((words[0] + "/table.h5").c_str());
    print_table(rows, limit.median(), static_cast<double>(checkpoint.bytes()) / 1e6);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return demo::run_program(argc, argv, "windrow-demo-table", table);
}
