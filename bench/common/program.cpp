// SPDX-License-Identifier: BSD-3-Clause
// run_program(): the protocol of a measurement, the same for all systems whose ranks measure together.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>

#include "check.hpp"
#include "folder.hpp"
#include "system.hpp"
#include "tools.hpp"

namespace bench {
namespace {

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Seconds from the first rank's begin to the last rank's end, after a barrier. Not the longest of the ranks' own times:
// with more ranks than cores, ranks that do not wait for each other run one after the other, and each one's own time
// would hide that. The clock is the machine's: all ranks must be on one.
// What the ranks used up meanwhile is kept too, for bench/profile.
class Watch {
 public:
  void start() {
    MPI_Barrier(MPI_COMM_WORLD);
    ::getrusage(RUSAGE_SELF, &before_);
    begin_ = now();
  }
  double stop(const char* what) {
    double mine[2] = {-begin_, now()}, all[2] = {0, 0};
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    const double used[5] = {static_cast<double>(after.ru_minflt - before_.ru_minflt),
                            static_cast<double>(after.ru_nvcsw - before_.ru_nvcsw),
                            static_cast<double>(after.ru_nivcsw - before_.ru_nivcsw),
                            seconds(after.ru_utime) - seconds(before_.ru_utime),
                            seconds(after.ru_stime) - seconds(before_.ru_stime)};
    double sum[5] = {};
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Reduce(used, sum, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    clock_.push_back({{"what", what},
                      {"begin", -all[0]},
                      {"end", all[1]},
                      {"page_faults", sum[0]},
                      {"waits", sum[1]},
                      {"preemptions", sum[2]},
                      {"user_s", sum[3]},
                      {"system_s", sum[4]}});
    return all[1] + all[0];
  }
  const nlohmann::json& clock() const { return clock_; }

 private:
  static double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }

  double begin_ = 0;
  rusage before_{};
  nlohmann::json clock_ = nlohmann::json::array();
};

// How much memory a rank has had at most since the begin, beyond what it had then: the rank with the most.
class MemoryPeak {
 public:
  MemoryPeak() {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
    before_ = kib_of("VmRSS:");
  }
  int64_t bytes() const {
    const int64_t mine = kib_of("VmHWM:") - before_;
    int64_t most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most * 1024;
  }

 private:
  static int64_t kib_of(const std::string& name) {
    std::ifstream status("/proc/self/status");
    int64_t kib = 0;
    for (std::string word; kib == 0 && status >> word;)
      if (word == name)
        status >> kib;
    return kib;
  }

  int64_t before_ = 0;
};

// The complaint of the lowest rank that has one; on all ranks.
std::string lowest_complaint(const std::string& mine, int rank, int ranks) {
  int candidate = mine.empty() ? ranks : rank, lowest = ranks;
  MPI_Allreduce(&candidate, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (lowest == ranks)
    return {};
  int size = static_cast<int>(mine.size());
  MPI_Bcast(&size, 1, MPI_INT, lowest, MPI_COMM_WORLD);
  std::string text = rank == lowest ? mine : std::string(static_cast<size_t>(size), ' ');
  MPI_Bcast(text.data(), size, MPI_CHAR, lowest, MPI_COMM_WORLD);
  return "rank " + std::to_string(lowest) + ": " + text;
}

// On rank 0; no rank continues before it is done.
void make_folder_on_root(const Job& job, int rank) {
  if (rank == 0)
    make_folder(job.directory, job.data.file_bytes());
  MPI_Barrier(MPI_COMM_WORLD);
}

struct Outcome {
  double write_s = -1;
  double read_s = -1;
  double first_s = -1;             // with rewrites: from before open to the end of the first write,
  std::vector<double> rewrites_s;  // and of each later one, in the open file
  int64_t memory_bytes = 0;        // at most on any rank, for the descriptions and the writes
  std::string wrong;
};

void describe(System& system, const Job& job, Watch& watch) {
  watch.start();
  system.describe(job);
  watch.stop("describe");
}

// Reads what another run of the same system wrote; the buffers hold it afterwards. The file stays.
void read_input(System& input, const Job& job, const Command& command, Watch& watch, Outcome& outcome) {
  const int rank = command.scenario.rank, ranks = command.scenario.ranks;
  fill_buffers(job.data, job.buffers, command.repetition);
  input.prepare(job);
  describe(input, job, watch);
  make_folder_on_root(job, rank);
  input.write(job);
  clear_buffers(job.buffers);
  watch.start();
  input.read(job);
  outcome.read_s = watch.stop("read");
  outcome.wrong = lowest_complaint(check_buffers(job.data, job.buffers, command.repetition), rank, ranks);
}

// A case that copies: one file is read, and what was read is written to another.
Outcome measure_copy(System& input, System& output, const Job& job, const Command& command, Watch& watch) {
  const int rank = command.scenario.rank, ranks = command.scenario.ranks;
  Outcome outcome;
  Job from{job.data, job.buffers, job.directory + "/input"}, to{job.data, job.buffers, job.directory + "/output"};
  from.explain = to.explain = job.explain;
  read_input(input, from, command, watch, outcome);
  if (!outcome.wrong.empty())
    return outcome;
  output.prepare(to);
  describe(output, to, watch);
  make_folder_on_root(to, rank);
  watch.start();
  output.write(to);
  outcome.write_s = watch.stop("write");
  if (!command.check_file)
    return outcome;
  const std::vector<Location> read = input.locate(from), written = output.locate(to);
  outcome.wrong = lowest_complaint(check_file(job.data, written, command.repetition), rank, ranks);
  if (outcome.wrong.empty() && output.format() == "hdf5")
    outcome.wrong = lowest_complaint(rank == 0 ? difference(read.front().path, written.front().path) : "", rank, ranks);
  return outcome;
}

Outcome measure(System& system, Job& job, const Command& command, Watch& watch) {
  const int rank = command.scenario.rank, ranks = command.scenario.ranks;
  Outcome outcome;
  int last = command.repetition;  // whose values the file must have in the end
  job.rewrites = command.rewrites;
  if (command.rewrites > 0) {
    job.rewrite = [&](const std::function<void()>& again) {
      outcome.first_s = watch.stop("first");
      while (last < command.repetition + command.rewrites) {
        fill_buffers(job.data, job.buffers, ++last);
        watch.start();
        again();
        outcome.rewrites_s.push_back(watch.stop("again"));
      }
    };
  }
  fill_buffers(job.data, job.buffers, command.repetition);
  system.prepare(job);
  const MemoryPeak peak;
  describe(system, job, watch);
  make_folder_on_root(job, rank);
  watch.start();
  system.write(job);
  if (command.rewrites == 0)
    outcome.write_s = watch.stop("write");
  outcome.memory_bytes = peak.bytes();
  if (command.check_file || command.rewrites > 0)
    outcome.wrong = lowest_complaint(check_file(job.data, system.locate(job), last), rank, ranks);
  if (!outcome.wrong.empty() || job.durable || command.rewrites > 0)
    return outcome;
  clear_buffers(job.buffers);
  watch.start();
  system.read(job);
  outcome.read_s = watch.stop("read");
  outcome.wrong = lowest_complaint(check_buffers(job.data, job.buffers, command.repetition), rank, ranks);
  return outcome;
}

nlohmann::json run(const Command& command, const SystemFactory& make_system, int ranks) {
  nlohmann::json line{{"scenario", command.scenario.scenario},
                      {"system", command.system},
                      {"ranks", ranks},
                      {"repetition", command.repetition},
                      {"durable", command.durable}};
  const auto system = make_system(command.system);
  const Case data = make_case(command.scenario);
  std::vector<Buffer> buffers;
  for (const Variable& variable : data.variables)
    buffers.emplace_back(data.memory_elements(variable) * element_size(variable.type));
  Job job{data, buffers, command.directory, command.durable};
  job.explain = command.check_file;
  line["file_bytes"] = data.file_bytes();
  line["format"] = system->format();
  try {
    Watch watch;
    // What is only written is written once, by the system that would write the copy.
    const bool copies = data.copies && command.rewrites == 0 && !command.durable;
    const auto output = copies ? make_system(command.system) : nullptr;
    const Outcome outcome =
        copies ? measure_copy(*system, *output, job, command, watch) : measure(*system, job, command, watch);
    line["clock"] = watch.clock();
    if (outcome.write_s >= 0)
      line["write_s"] = outcome.write_s;
    if (outcome.first_s >= 0)
      line["first_s"] = outcome.first_s, line["rewrites_s"] = outcome.rewrites_s;
    if (outcome.read_s >= 0)
      line["read_s"] = outcome.read_s;
    if (outcome.memory_bytes > 0)
      line["memory_bytes"] = outcome.memory_bytes;
    if (!outcome.wrong.empty())
      line["wrong"] = outcome.wrong;
    if (!system->report().empty())
      line["report"] = nlohmann::json::parse(system->report());
  } catch (const NotApplicable& reason) {
    line["not_applicable"] = reason.what();
  }
  if (command.scenario.rank == 0)
    std::filesystem::remove_all(command.directory);
  return line;
}

}  // namespace

Buffer::Buffer(int64_t bytes)
    : size_(bytes),
      data_(static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<size_t>((bytes + 4096) / 4096 * 4096))),
            std::free) {
  if (!data_)
    throw std::bad_alloc();
}

void sync_from_rank_0(const std::string& path) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const int file = ::open(path.c_str(), O_WRONLY);
    require(file >= 0 && ::fdatasync(file) == 0 && ::close(file) == 0, "fdatasync of \"" + path + "\"");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int run_program(int argc, char** argv, const SystemFactory& make_system) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 1;
  try {
    code = run_commands(argc, argv, rank, [&](Command command) {
      command.scenario.rank = rank;
      command.scenario.ranks = ranks;
      const nlohmann::json line = run(command, make_system, ranks);
      if (rank == 0) {
        std::printf("BENCH %s\n", line.dump().c_str());
        std::fflush(stdout);
      }
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}

}  // namespace bench
