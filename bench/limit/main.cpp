// SPDX-License-Identifier: BSD-3-Clause
// bench-limit: what the machine gives at most. 1 or 2 processes write, or read, the scenario's bytes into one file,
// each a contiguous part in calls of 1 MiB, from a buffer as large as its part. No MPI. Systems: "limit-1", "limit-2".
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/command.hpp"

namespace bench {
namespace {

constexpr int64_t k_call = 1 << 20;
constexpr int k_most = 2;

// Shared by parent and children. A process that fails leaves its end at -1.
struct Times {
  double begin = 0;
  double end = -1;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Part {
  std::string path;
  int64_t begin = 0, end = 0;
  bool write = true, durable = false;
};

bool move(const Part& part, std::byte* buffer) {
  const int file = ::open(part.path.c_str(), part.write ? O_WRONLY | O_CREAT : O_RDONLY, 0644);
  if (file < 0) return false;
  for (int64_t offset = part.begin; offset < part.end;) {
    const auto size = static_cast<size_t>(std::min(k_call, part.end - offset));
    std::byte* bytes = buffer + (offset - part.begin);
    const ssize_t done = part.write ? ::pwrite(file, bytes, size, offset) : ::pread(file, bytes, size, offset);
    if (done <= 0) return false;
    offset += done;
  }
  if (part.durable && ::fdatasync(file) != 0) return false;
  return ::close(file) == 0;
}

// The child: touches its buffer, says that it is ready, waits for the gate to open, and measures itself.
[[noreturn]] void run_child(const Part& part, Times* times, int ready, int gate) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that is ended by a time limit leaves no child behind
  const auto size = static_cast<size_t>(part.end - part.begin);
  void* buffer = ::mmap(nullptr, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED) ::_exit(1);
  std::memset(buffer, 0x5A, size + 1);
  char signal = 'r';
  if (::write(ready, &signal, 1) != 1 || ::read(gate, &signal, 1) != 1) ::_exit(1);
  times->begin = now();
  if (move(part, static_cast<std::byte*>(buffer))) times->end = now();
  ::_exit(0);
}

// Seconds from the first begin to the last end, or -1.
double measure(int processes, const Part& whole) {
  auto* times = static_cast<Times*>(
      ::mmap(nullptr, k_most * sizeof(Times), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int ready[2], gate[2];
  if (times == MAP_FAILED || ::pipe(ready) != 0 || ::pipe(gate) != 0) return -1;
  char signals[k_most] = {};
  for (int p = 0; p < processes; ++p) {
    Part part = whole;
    part.begin = whole.end * p / processes;
    part.end = whole.end * (p + 1) / processes;
    times[p] = {};
    if (::fork() == 0) run_child(part, &times[p], ready[1], gate[0]);
  }
  bool good = true;
  for (int p = 0; p < processes; ++p) good = ::read(ready[0], signals, 1) == 1 && good;
  good = ::write(gate[1], signals, static_cast<size_t>(processes)) == processes && good;
  for (int p = 0; p < processes; ++p) ::wait(nullptr);
  double begin = times[0].begin, end = times[0].end;
  for (int p = 0; p < processes; ++p) {
    good = good && times[p].end >= 0;
    begin = std::min(begin, times[p].begin);
    end = std::max(end, times[p].end);
  }
  for (int file : {ready[0], ready[1], gate[0], gate[1]}) ::close(file);
  ::munmap(times, k_most * sizeof(Times));
  return good ? end - begin : -1;
}

void run(const Command& command, int ranks) {
  CaseSettings scenario = command.scenario;
  scenario.ranks = ranks;
  const int64_t bytes = make_case(scenario).file_bytes();
  const int processes = command.system == "limit-2" ? 2 : 1;
  nlohmann::json line{
      {"scenario", scenario.scenario}, {"system", command.system}, {"ranks", ranks}, {"repetition", command.repetition},
      {"durable", command.durable},    {"file_bytes", bytes},      {"format", "raw"}};
  std::filesystem::remove_all(command.directory);
  std::filesystem::create_directories(command.directory);
  Part part{command.directory + "/limit.raw", 0, bytes, true, command.durable};
  line["write_s"] = measure(processes, part);
  if (!command.durable) {
    part.write = false;
    line["read_s"] = measure(processes, part);
  }
  if (line["write_s"] < 0 || line.value("read_s", 0.0) < 0) line["wrong"] = "a call failed";
  std::filesystem::remove_all(command.directory);
  std::printf("BENCH %s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace bench

// The first argument is the number of ranks of the scenario whose bytes are moved; the others are those of every
// program.
int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 0;
  if (ranks < 1) {
    std::fprintf(stderr, "usage: bench-limit RANKS --scenario NAME --system limit-1|limit-2 --dir FOLDER ...\n");
    return 2;
  }
  argv[1] = argv[0];
  try {
    return bench::run_commands(argc - 1, argv + 1, 0,
                               [&](const bench::Command& command) { bench::run(command, ranks); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-limit: %s\n", error.what());
    return 1;
  }
}
