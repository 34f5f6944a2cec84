// SPDX-License-Identifier: BSD-3-Clause
// bench-limit: the limit of the machine. 1 or 2 processes write, or read, the scenario's bytes into one file, each a
// contiguous part in calls of 1 MiB, from a buffer as large as its part. No MPI. Systems: "limit-1", "limit-2", and the
// same through io_uring for comparison: "uring-1-4", ... for 1 process and 4 requests in flight. "bench-limit distance"
// prints the nanoseconds of a round trip of a cache line between two cores.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "common/command.hpp"
#include "common/folder.hpp"
#include "limit/distance.hpp"
#include "limit/ring.hpp"

namespace bench {
namespace {

constexpr int k_most = 2;

// Shared by parent and children.
struct Shared {
  pthread_barrier_t gate;  // of the children, before each pass
  bool failed[k_most] = {};
  // By child and pass: pass 0 from before open, or to after close when it is the only one; the others in the open file.
  double begin[k_most][1 + k_most_rewrites] = {};
  double end[k_most][1 + k_most_rewrites] = {};
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Part {
  std::string path;
  int64_t begin = 0, end = 0;
  int rewrites = 0;
  int depth = 0;  // of io_uring; 0: pwrite and pread
  bool write = true, durable = false;
};

bool move_by_calls(const Part& part, int file, std::byte* buffer) {
  for (int64_t offset = part.begin; offset < part.end;) {
    const auto size = static_cast<size_t>(std::min(k_call, part.end - offset));
    std::byte* bytes = buffer + (offset - part.begin);
    const ssize_t done = part.write ? ::pwrite(file, bytes, size, offset) : ::pread(file, bytes, size, offset);
    if (done <= 0)
      return false;
    offset += done;
  }
  return true;
}

// One process's passes. A failure does not end them: the other process waits at the gate.
bool run_passes(const Part& part, int process, Shared& shared, std::byte* buffer) {
  const auto size = static_cast<size_t>(part.end - part.begin);
  const bool once = part.rewrites == 0;
  bool good = true;
  int file = -1;
  Ring ring;  // made at the first pass, on the clock, as a program that opens one file would
  for (int pass = 0; pass <= part.rewrites; ++pass) {
    std::memset(buffer, 0x5A + pass, size);
    ::pthread_barrier_wait(&shared.gate);
    shared.begin[process][pass] = now();
    if (pass == 0) {
      file = ::open(part.path.c_str(), part.write ? O_WRONLY | O_CREAT : O_RDONLY, 0644);
      good = file >= 0 && (part.depth == 0 || ring.open(part.depth));
    }
    if (good)
      good = part.depth == 0 ? move_by_calls(part, file, buffer)
                             : ring.move(part.write, file, buffer, part.begin, part.end);
    if (good && part.durable)
      good = ::fdatasync(file) == 0;
    if (good && once) {
      ring.close();
      good = ::close(file) == 0;
    }
    shared.end[process][pass] = now();
  }
  return good;
}

// The child: touches its buffer and measures itself.
[[noreturn]] void run_child(const Part& part, int process, Shared& shared) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if a time limit ends the parent, the child ends too
  const auto size = static_cast<size_t>(part.end - part.begin);
  void* buffer = ::mmap(nullptr, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED)
    ::abort();
  shared.failed[process] = !run_passes(part, process, shared, static_cast<std::byte*>(buffer));
  ::_exit(0);
}

// Seconds from the first begin to the last end of each pass; none when a call failed.
std::vector<double> measure(int processes, const Part& whole) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return {};
  auto& shared = *new (memory) Shared;
  pthread_barrierattr_t attributes;
  ::pthread_barrierattr_init(&attributes);
  ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_barrier_init(&shared.gate, &attributes, static_cast<unsigned>(processes));
  for (int p = 0; p < processes; ++p) {
    Part part = whole;
    part.begin = whole.end * p / processes;
    part.end = whole.end * (p + 1) / processes;
    if (::fork() == 0)
      run_child(part, p, shared);
  }
  bool good = true;
  for (int p = 0, status = 0; p < processes; ++p)
    good = ::wait(&status) > 0 && status == 0 && good;
  for (int p = 0; p < processes; ++p)
    good = good && !shared.failed[p];
  std::vector<double> seconds;
  for (int pass = 0; good && pass <= whole.rewrites; ++pass) {
    double begin = shared.begin[0][pass], end = shared.end[0][pass];
    for (int p = 1; p < processes; ++p) {
      begin = std::min(begin, shared.begin[p][pass]);
      end = std::max(end, shared.end[p][pass]);
    }
    seconds.push_back(end - begin);
  }
  ::munmap(memory, sizeof(Shared));
  return seconds;
}

// Systems: "limit-PROCESSES" and "uring-PROCESSES-DEPTH".
void run(const Command& command, int ranks) {
  CaseSettings scenario = command.scenario;
  scenario.ranks = ranks;
  const int64_t bytes = make_case(scenario).file_bytes();
  int processes = 1;
  Part part{command.directory + "/limit.raw", 0, bytes, command.rewrites, 0, true, command.durable};
  if (std::sscanf(command.system.c_str(), "uring-%d-%d", &processes, &part.depth) != 2 &&
      std::sscanf(command.system.c_str(), "limit-%d", &processes) != 1)
    throw std::runtime_error("no system \"" + command.system + "\"");
  processes = std::clamp(processes, 1, k_most);
  nlohmann::json line{
      {"scenario", scenario.scenario}, {"system", command.system}, {"ranks", ranks}, {"repetition", command.repetition},
      {"durable", command.durable},    {"file_bytes", bytes},      {"format", "raw"}};
  if (part.depth > 0 && !Ring().open(part.depth)) {
    line["not_applicable"] = std::string("io_uring: ") + std::strerror(errno);
  } else {
    make_folder(command.directory, bytes);
    std::vector<double> seconds = measure(processes, part);
    bool good = !seconds.empty();
    if (good && command.rewrites > 0) {
      line["first_s"] = seconds[0];
      line["rewrites_s"] = std::vector<double>(seconds.begin() + 1, seconds.end());
    } else if (good) {
      line["write_s"] = seconds[0];
    }
    if (good && !command.durable && command.rewrites == 0) {
      part.write = false;
      seconds = measure(processes, part);
      good = !seconds.empty();
      line["read_s"] = good ? seconds[0] : -1;
    }
    if (!good)
      line["wrong"] = "a call failed";
    std::filesystem::remove_all(command.directory);
  }
  std::printf("BENCH %s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace bench

// The first argument is the number of ranks of the scenario whose bytes are moved; the others are those of every
// program.
int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "distance") == 0) {
    std::printf("%.0f\n", bench::round_trip_ns());
    return 0;
  }
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 0;
  if (ranks < 1) {
    std::fprintf(stderr,
                 "usage: bench-limit RANKS --scenario NAME --system limit-1|limit-2|uring-1-4|... --dir FOLDER ...\n"
                 "       bench-limit distance\n");
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
