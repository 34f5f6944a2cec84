// SPDX-License-Identifier: BSD-3-Clause
// bench-tpc: the irregular writes of the paper on compressed two-phase I/O (bench/README.md, "tpc"). One run is one
// mesh, one number of ranks and one type; files of several codecs are written in turns. Prints lines "TPC {...}": a
// case, a flush, a codec that is absent, a wrong file.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>
#include <windrow/windrow.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "device.hpp"
#include "mesh/parts.hpp"

namespace bench {
namespace {

using nlohmann::json;
using windrow::mesh::Part;

constexpr int k_stamp_bits = 4;

// Of a codec that is not built in, or not known: no failure, and the same on all ranks.
class Absent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void check(int code) {
  if (code == WINDROW_UNSUPPORTED)
    throw Absent(windrow_error_message());
  if (code != WINDROW_OK)
    throw std::runtime_error(windrow_error_message());
}

// What is written in one load and share of zeros, by all codecs in turns.
struct JobSettings {
  int64_t load = 0;
  int zeros = 0;  // % of the nodes
  int files = 1;  // of each codec
  std::vector<std::string> codecs;
};

struct Settings {
  std::string mesh, directory, type = "float32", format = "raw";
  std::vector<std::string> jobs, options;
  int noise_bits = 0, flushes = 2;
  int64_t buffer = int64_t{4} << 20;
};

// "200:0:3:off,auto"
JobSettings parse_job(const std::string& text) {
  JobSettings job;
  char codecs[256] = {};
  const bool read = std::sscanf(text.c_str(), "%ld:%d:%d:%255s", &job.load, &job.zeros, &job.files, codecs) == 4;
  if (!read || job.load < 1 || job.load > 1000000 || job.zeros < 0 || job.zeros > 100 || job.files < 1 ||
      job.files > 1000)
    throw std::runtime_error("a job is LOAD:ZEROS:FILES:CODEC,CODEC,... and not \"" + text + "\"");
  std::string all = codecs;
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(',', begin), all.size());
    job.codecs.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return job;
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The messages of TP I/O for these data as the paper describes it: every rank has an even part of the file as its
// domain and fills it in buffers. Its Tables 2 and 5 seem to count the messages of one buffer of each rank: with the
// total, at load 1000, each message would be longer than a buffer. So both are printed: the total, and the sum over
// ranks of their mean per buffer.
json count_as_paper(const std::vector<Part>& parts, int64_t nodes, int64_t node_bytes, int64_t buffer) {
  const auto ranks = static_cast<int64_t>(parts.size());
  std::vector<int64_t> owner(static_cast<size_t>(nodes), -1);
  for (int64_t part = 0; part < ranks; ++part) {
    const Part& held = parts[static_cast<size_t>(part)];
    for (size_t i = 0; i < held.numbers.size(); ++i)
      if (held.owned[i])
        owner[static_cast<size_t>(held.numbers[i])] = part;
  }
  const int64_t file = nodes * node_bytes;
  int64_t messages = 0, rounds = 0, exchanged = 0;
  double messages_a_buffer = 0;
  for (int64_t writer = 0; writer < ranks; ++writer) {
    const int64_t begin = file * writer / ranks, end = file * (writer + 1) / ranks;
    int64_t mine = 0, windows = 0;
    for (int64_t at = begin; at < end; at += buffer, ++windows) {
      const int64_t until = std::min(end, at + buffer);
      std::vector<char> sends(parts.size(), 0);
      for (int64_t node = at / node_bytes; node * node_bytes < until; ++node) {
        const int64_t from = owner[static_cast<size_t>(node)];
        if (from == writer || from < 0)
          continue;
        sends[static_cast<size_t>(from)] = 1;
        exchanged += std::min(until, (node + 1) * node_bytes) - std::max(at, node * node_bytes);
      }
      mine += std::accumulate(sends.begin(), sends.end(), int64_t{0});
    }
    messages += mine;
    rounds = std::max(rounds, windows);
    if (windows > 0)
      messages_a_buffer += static_cast<double>(mine) / static_cast<double>(windows);
  }
  return {{"messages", messages}, {"messages_a_buffer", messages_a_buffer}, {"bytes", exchanged}, {"rounds", rounds}};
}

// The outermost nodes, so many per cent of all: 1 for each of them. Equal on all ranks.
std::vector<char> zero_nodes(const std::vector<Part>& parts, int64_t nodes, int percent) {
  constexpr double k_low[3] = {0, 0, -6}, k_high[3] = {12, 10, 0};
  std::vector<std::pair<double, int64_t>> depths;
  for (const Part& part : parts)
    for (size_t i = 0; i < part.numbers.size(); ++i) {
      if (!part.owned[i])
        continue;
      double depth = 1e9;
      for (size_t d = 0; d < 3; ++d) {
        const double x = part.coordinates[3 * i + d];
        depth = std::min({depth, x - k_low[d], k_high[d] - x});
      }
      depths.emplace_back(depth, part.numbers[i]);
    }
  const auto count = static_cast<size_t>(nodes * percent / 100);
  std::sort(depths.begin(), depths.end());
  std::vector<char> zero(static_cast<size_t>(nodes), 0);
  for (size_t i = 0; i < std::min(count, depths.size()); ++i)
    zero[static_cast<size_t>(depths[i].second)] = 1;
  return zero;
}

// The fields of a report that the tables need; a field that this library does not report is omitted.
json essence(const char* report, bool first) {
  const json all = json::parse(report);
  json kept;
  for (const char* name : {"seconds", "bytes", "messages", "bytes_sent", "bytes_before_codec", "description_messages",
                           "description_bytes", "description_bytes_before_codec", "codecs", "writers", "io_threads",
                           "peak_memory", "bytes_shared", "bytes_direct"})
    if (all.contains(name))
      kept[name] = all[name];
  if (!all.contains("plans") || all["plans"].empty())
    return kept;
  const json& plan = all["plans"].back();
  kept["kept"] = plan.value("cached", false);
  kept["codec"] = plan.value("codec", "");
  if (first && plan.contains("reasons"))
    kept["reasons"] = plan["reasons"];
  const int64_t buffer = plan.value("buffer", int64_t{0});
  int64_t rounds = 0;
  if (buffer > 0 && plan.contains("domain_bytes"))
    for (const json& domain : plan["domain_bytes"])
      rounds = std::max(rounds, (domain[1].get<int64_t>() - domain[0].get<int64_t>() + buffer - 1) / buffer);
  kept["buffer"] = buffer;
  kept["rounds"] = rounds;
  return kept;
}

class Bench {
 public:
  Bench(Settings settings, int rank, int ranks)
      : settings_(std::move(settings)), kind_(kind_of(settings_.type)), rank_(rank), ranks_(ranks) {
    const std::string path = settings_.mesh + "." + std::to_string(ranks) + ".parts";
    const auto header = windrow::mesh::read_parts_header(path);
    if (header.parts != ranks || header.components != 3)
      throw std::runtime_error("\"" + path + "\" is not of a mesh for so many ranks");
    nodes_ = header.points;
    for (int part = 0; part < ranks; ++part)
      parts_.push_back(windrow::mesh::read_part(path, part));
    check(windrow_points(MPI_COMM_WORLD, nodes_, static_cast<int64_t>(mine().numbers.size()), mine().numbers.data(),
                         mine().owned.data(), &decomposition_));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { windrow_decomposition_free(decomposition_); }

  // Returns whether every file was right.
  bool run(const JobSettings& job) {
    fill(job);
    bool right = true;
    for (int file = 0; file < job.files; ++file)
      for (size_t turn = 0; turn < job.codecs.size(); ++turn) {
        // The first to go is another one each time: what drifts falls on all.
        const std::string& codec = job.codecs[(turn + static_cast<size_t>(file)) % job.codecs.size()];
        if (std::find(absent_.begin(), absent_.end(), codec) == absent_.end())
          right = write_file(job, codec, file) && right;
      }
    return right;
  }

 private:
  const Part& mine() const { return parts_[static_cast<size_t>(rank_)]; }

  void tell(json line, const JobSettings& job) const {
    if (rank_ != 0)
      return;
    line["load"] = job.load;
    line["zeros"] = job.zeros;
    std::printf("TPC %s\n", line.dump().c_str());
    std::fflush(stdout);
  }

  void fill(const JobSettings& job) {
    const Device device({job.load, kind_, settings_.noise_bits});
    node_bytes_ = device.node_bytes();
    const size_t count = mine().numbers.size();
    data_.assign(count * static_cast<size_t>(node_bytes_), std::byte{0});
    zero_ = zero_nodes(parts_, nodes_, job.zeros);
    Entropy entropy(kind_);
    for (size_t i = 0; i < count; ++i) {
      if (zero_at(i)) {
        if (mine().owned[i])
          entropy.add(at(i), job.load);
        continue;
      }
      device.fill(std::span<const double, 3>(mine().coordinates.data() + 3 * i, 3), mine().numbers[i], at(i));
      if (mine().owned[i])
        entropy.add(at(i), job.load);
    }
    std::vector<int64_t> sum(entropy.counts().size());
    MPI_Allreduce(entropy.counts().data(), sum.data(), static_cast<int>(sum.size()), MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    entropy.counts() = sum;
    int64_t held = static_cast<int64_t>(count), all = 0;
    MPI_Allreduce(&held, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ != 0)
      return;
    tell({{"kind", "case"},
          {"nodes", nodes_},
          {"held", all},
          {"bytes", nodes_ * node_bytes_},
          {"element_bits", 8 * size_of(kind_)},
          {"noise_bits", settings_.noise_bits},
          {"entropy_elements", entropy.of_elements()},
          {"entropy_differences", entropy.of_differences()},
          {"as_paper", count_as_paper(parts_, nodes_, node_bytes_, settings_.buffer)}},
         job);
  }

  std::byte* at(size_t i) { return data_.data() + i * static_cast<size_t>(node_bytes_); }
  bool zero_at(size_t i) const { return zero_[static_cast<size_t>(mine().numbers[i])] != 0; }

  // Low bits of each node's first element are the flush's number, so that a flush that did not arrive is found. Zeros
  // stay zeros.
  void stamp(int flush) {
    for (size_t i = 0; i < mine().numbers.size(); ++i)
      if (!zero_at(i)) {
        auto low = std::to_integer<unsigned>(*at(i)) >> k_stamp_bits << k_stamp_bits;
        *at(i) = static_cast<std::byte>(low | (static_cast<unsigned>(flush) & ((1u << k_stamp_bits) - 1)));
      }
  }

  bool write_file(const JobSettings& job, const std::string& codec, int file) {
    windrow_file* handle = nullptr;
    windrow_options* options = nullptr;
    bool right = true;
    try {
      options = make_options(codec);
      const std::string path = settings_.directory + "/device." + (settings_.format == "raw" ? "raw" : "h5");
      right = write_with(job, codec, file, path, options, handle);
    } catch (const Absent& reason) {  // the same on all ranks
      windrow_discard(handle);
      absent_.push_back(codec);
      tell({{"kind", "absent"}, {"codec", codec}, {"reason", reason.what()}}, job);
    }
    windrow_options_free(options);
    return right;
  }

  windrow_options* make_options(const std::string& codec) const {
    windrow_options* options = nullptr;
    check(windrow_options_create(&options));
    const auto set = [&](const std::string& key, const std::string& value) {
      return windrow_options_set(options, key.c_str(), value.c_str());
    };
    // Extended two-phase I/O, each axis by its name: of a preset, codec=auto would be the preset's own.
    for (const auto& [key, value] :
         {std::pair{"owner", "partitioner"}, {"gather", "none"}, {"domains", "even"}, {"access", "contiguous"}})
      check(set(key, value));
    check(set("writers", std::to_string(ranks_)));
    check(set("buffer", std::to_string(settings_.buffer)));
    check(set("format", settings_.format));
    for (const std::string& option : settings_.options) {
      const size_t equals = option.find('=');
      if (equals == std::string::npos)
        throw std::runtime_error("--option is KEY=VALUE and not \"" + option + "\"");
      check(set(option.substr(0, equals), option.substr(equals + 1)));
    }
    if (set("codec", codec) != WINDROW_OK) {
      const std::string reason = windrow_error_message();
      windrow_options_free(options);
      throw Absent(reason);
    }
    return options;
  }

  bool write_with(const JobSettings& job, const std::string& codec, int file, const std::string& path,
                  windrow_options* options, windrow_file*& handle) {
    const std::vector<int64_t> shape{nodes_, job.load};
    int variable = 0;
    const int type = kind_ == Kind::int32 ? WINDROW_INT32 : kind_ == Kind::float32 ? WINDROW_FLOAT32 : WINDROW_FLOAT64;
    check(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &handle));
    check(windrow_define_variable(handle, "device", type, 2, shape.data(), &variable));
    for (int flush = 0; flush < settings_.flushes; ++flush) {
      stamp(++stamp_);
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = now();
      check(windrow_put(handle, variable, decomposition_, data_.data()));
      check(windrow_flush(handle));
      double mine[2] = {-begin, now()}, all[2] = {0, 0};
      MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      const char* report = nullptr;
      check(windrow_report(handle, "json", &report));
      if (rank_ == 0)
        tell({{"kind", "flush"},
              {"codec", codec},
              {"file", file},
              {"flush", flush},
              {"wall_s", all[1] + all[0]},
              {"report", essence(report, flush == 0)}},
             job);
    }
    windrow_variable_info info{};
    info.size = sizeof info;
    check(windrow_inquire_variable(handle, variable, &info));
    const int64_t offset = info.offset;
    const int code = windrow_close(handle);
    handle = nullptr;
    check(code);
    return file > 0 || is_right(path, offset, job, codec);
  }

  // Every byte of every node that this rank holds, replicas too. Collective.
  bool is_right(const std::string& path, int64_t offset, const JobSettings& job, const std::string& codec) {
    const int file = ::open(path.c_str(), O_RDONLY);
    const auto size = static_cast<size_t>(offset + nodes_ * node_bytes_);
    void* bytes = MAP_FAILED;
    if (file >= 0 && offset >= 0 && ::lseek(file, 0, SEEK_END) >= static_cast<off_t>(size))
      bytes = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    int64_t wrong = bytes == MAP_FAILED ? 0 : nodes_;
    for (size_t i = 0; bytes != MAP_FAILED && i < mine().numbers.size(); ++i)
      if (std::memcmp(static_cast<const std::byte*>(bytes) + offset + mine().numbers[i] * node_bytes_, at(i),
                      static_cast<size_t>(node_bytes_)) != 0)
        wrong = std::min(wrong, mine().numbers[i]);
    if (bytes != MAP_FAILED)
      ::munmap(bytes, size);
    if (file >= 0)
      ::close(file);
    int64_t lowest = 0;
    MPI_Allreduce(&wrong, &lowest, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    tell({{"kind", "check"},
          {"codec", codec},
          {"right", lowest == nodes_},
          {"wrong_node", lowest == nodes_ ? json(nullptr) : json(lowest)}},
         job);
    return lowest == nodes_;
  }

  Settings settings_;
  Kind kind_;
  int rank_, ranks_, stamp_ = 0;
  int64_t nodes_ = 0, node_bytes_ = 0;
  std::vector<Part> parts_;
  std::vector<std::byte> data_;
  std::vector<char> zero_;
  std::vector<std::string> absent_;
  windrow_decomposition* decomposition_ = nullptr;
};

int run(int argc, char** argv, int rank, int ranks) {
  CLI::App app{"Irregular writes of a mesh's nodes with compressed messages; see bench/README.md"};
  Settings settings;
  app.add_option("--mesh", settings.mesh, "Prefix of the mesh's parts files, PREFIX.RANKS.parts")->required();
  app.add_option("--dir", settings.directory, "Folder for the files; emptied before and after")->required();
  app.add_option("--job", settings.jobs,
                 "LOAD:ZEROS:FILES:CODEC,CODEC,...: elements a node, % of the nodes that are zero, files of each "
                 "codec, and what is compared")
      ->required();
  app.add_option("--type", settings.type, "int32, float32 or float64");
  app.add_option("--noise", settings.noise_bits, "Random low bits of each element")
      ->check(CLI::Range(0, k_most_noise_bits));
  app.add_option("--flushes", settings.flushes, "Flushes of each file")->check(CLI::Range(1, 1000));
  app.add_option("--buffer", settings.buffer, "Bytes of a writer's buffer");
  app.add_option("--format", settings.format, "raw or hdf5");
  app.add_option("--option", settings.options, "KEY=VALUE: any other option of Windrow");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return rank == 0 ? app.exit(error) : error.get_exit_code();
  }
  if (rank == 0)
    std::filesystem::remove_all(settings.directory);
  if (rank == 0)
    std::filesystem::create_directories(settings.directory);
  MPI_Barrier(MPI_COMM_WORLD);
  bool right = true;
  Bench bench(settings, rank, ranks);
  for (const std::string& job : settings.jobs)
    right = bench.run(parse_job(job)) && right;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    std::filesystem::remove_all(settings.directory);
  return right ? 0 : 3;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, code = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    code = bench::run(argc, argv, rank, ranks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
