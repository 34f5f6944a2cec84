// SPDX-License-Identifier: BSD-3-Clause
// bench-targets: one array on striped storage, written and read by systems in turns (bench/README.md, "targets"). One
// run is one place, one number of ranks, and one way in which the ranks hold the array. Prints lines "TARGETS {...}":
// one for each file written, and for each read.
#include <mpi.h>
#include <windrow/windrow.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

namespace bench {
namespace {

using nlohmann::json;

void check(int code) {
  if (code != WINDROW_OK)
    throw std::runtime_error(windrow_error_message());
}
void require(bool good, const char* what) {
  if (!good)
    throw std::runtime_error(std::string(what) + " failed");
}

struct Settings {
  std::string directory, start = "columns";
  std::vector<std::string> systems;
  int64_t bytes = int64_t{64} << 20, stripe = int64_t{1} << 20, targets = 4, piece = 4096;
  int repeat = 3, read_from = -1;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What this rank holds of the array, in bytes of it; consecutive in memory.
struct Piece {
  int64_t begin, length;
};

// conforming: an even part, as in a contiguous write. one-to-one: the stripes of one target, or of several, or a share
// of one's. columns: `piece` bytes of each row of a matrix. holes: the same, with a hole of as many bytes after each
// piece, which no rank holds.
std::vector<Piece> held(const Settings& settings, int64_t rank, int64_t ranks) {
  if (settings.start == "conforming") {
    const int64_t begin = settings.bytes * rank / ranks, end = settings.bytes * (rank + 1) / ranks;
    return {{begin, end - begin}};
  }
  std::vector<Piece> pieces;
  if (settings.start == "columns" || settings.start == "holes") {
    const int64_t cell = settings.start == "holes" ? 2 * settings.piece : settings.piece;
    for (int64_t at = rank * cell; at + settings.piece <= settings.bytes; at += ranks * cell)
      pieces.push_back({at, settings.piece});
    return pieces;
  }
  require(settings.start == "one-to-one", "the start, conforming, one-to-one, columns or holes,");
  const int64_t sharers = std::max<int64_t>(1, ranks / settings.targets);
  for (int64_t stripe = 0; stripe * settings.stripe < settings.bytes; ++stripe) {
    const int64_t target = stripe % settings.targets, row = stripe / settings.targets;
    const int64_t holder =
        ranks < settings.targets ? target * ranks / settings.targets : target * sharers + row % sharers;
    if (holder == rank)
      pieces.push_back(
          {stripe * settings.stripe, std::min(settings.stripe, settings.bytes - stripe * settings.stripe)});
  }
  return pieces;
}

// Every 8 bytes follow from their place and the repetition.
uint64_t value_at(int64_t place, int repetition) {
  return (static_cast<uint64_t>(place) + static_cast<uint64_t>(repetition) + 1) * 0x9e3779b97f4a7c15U;
}

struct Data {
  std::vector<Piece> pieces;
  std::vector<uint64_t> memory;

  template <class Visit>
  void for_each(Visit&& visit) {
    size_t at = 0;
    for (const Piece& piece : pieces)
      for (int64_t place = piece.begin; place < piece.begin + piece.length; place += 8)
        visit(memory[at++], place);
  }
  void fill(int repetition) {
    for_each([&](uint64_t& word, int64_t place) { word = value_at(place, repetition); });
  }
  int64_t wrong(int repetition) {
    int64_t count = 0;
    for_each([&](uint64_t& word, int64_t place) { count += word != value_at(place, repetition) ? 1 : 0; });
    return count;
  }
};

class System {
 public:
  virtual ~System() = default;
  virtual void write(const std::string& path, Data& data) = 0;
  virtual void read(const std::string& path, Data& data) = 0;
  virtual int64_t offset(const std::string&) { return 0; }  // of the array in the file
  virtual json plan() { return nullptr; }
  virtual double aside() { return 0; }  // seconds of the last call that are no part of writing and reading: its report
};

class Windrow : public System {
 public:
  Windrow(const Settings& settings, const std::vector<Piece>& pieces,
          const std::vector<std::pair<std::string, std::string>>& options)
      : bytes_(settings.bytes) {
    check(windrow_options_create(&options_));
    check(windrow_options_set(options_, "format", "raw"));
    for (const auto& [key, value] : options)
      check(windrow_options_set(options_, key.c_str(), value.c_str()));
    const int64_t shape[1] = {bytes_ / 8};
    std::vector<int64_t> starts, counts;
    for (const Piece& piece : pieces)
      starts.push_back(piece.begin / 8), counts.push_back(piece.length / 8);
    check(windrow_blocks(MPI_COMM_WORLD, 1, shape, static_cast<int64_t>(pieces.size()), starts.data(), counts.data(),
                         nullptr, nullptr, &decomposition_));
  }
  ~Windrow() override {
    windrow_decomposition_free(decomposition_);
    windrow_options_free(options_);
  }
  void write(const std::string& path, Data& data) override {
    windrow_file* file = nullptr;
    const int64_t shape[1] = {bytes_ / 8};
    int variable = 0;
    check(windrow_create(MPI_COMM_WORLD, path.c_str(), options_, &file));
    check(windrow_define_variable(file, "array", WINDROW_UINT64, 1, shape, &variable));
    check(windrow_put(file, variable, decomposition_, data.memory.data()));
    finish(file);
  }
  void read(const std::string& path, Data& data) override {
    windrow_file* file = nullptr;
    int variable = 0;
    check(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, options_, &file));
    check(windrow_find_variable(file, "array", &variable));
    check(windrow_get(file, variable, decomposition_, data.memory.data()));
    finish(file);
  }
  int64_t offset(const std::string& path) override {
    windrow_file* file = nullptr;
    windrow_variable_info info{};
    info.size = sizeof info;
    int variable = 0;
    check(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, options_, &file));
    check(windrow_find_variable(file, "array", &variable));
    check(windrow_inquire_variable(file, variable, &info));
    check(windrow_close(file));
    return info.offset;
  }
  json plan() override {
    const json report = json::parse(report_);
    json plan = report["plans"][0];
    return {{"domains", plan["domains"]},
            {"access", plan["access"]},
            {"writers", plan["writers"].size()},
            {"buffer", plan["buffer"]},
            {"stripes_with_two_writers", plan["stripes_with_two_writers"]},
            {"targets", report["targets"]},
            {"seconds", report["seconds"]},
            {"predicted", plan.value("predicted", json())}};
  }
  double aside() override { return aside_; }

 private:
  // The report is made outside the clocks, and by one rank, because all of them would use other ranks' cores. The time
  // that it waits for the slowest flush is not lost, because the time of the slowest counts.
  void finish(windrow_file* file) {
    const char* text = nullptr;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(windrow_flush(file));
    const double begin = now();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      check(windrow_report(file, "json", &text));
      report_ = text;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    aside_ = now() - begin;
    check(windrow_close(file));
  }

  int64_t bytes_;
  windrow_options* options_ = nullptr;
  windrow_decomposition* decomposition_ = nullptr;
  std::string report_;
  double aside_ = 0;
};

// collective, or independent: one vectored request. Hints are ROMIO's or OMPIO's; which it is has been decided by --mca
// io.
class MpiIo : public System {
 public:
  MpiIo(const std::vector<Piece>& pieces, const std::vector<std::pair<std::string, std::string>>& hints,
        bool collective)
      : collective_(collective) {
    std::vector<MPI_Aint> places;
    std::vector<int> lengths;
    for (const Piece& piece : pieces)
      places.push_back(piece.begin), lengths.push_back(static_cast<int>(piece.length));
    MPI_Type_create_hindexed(static_cast<int>(places.size()), lengths.data(), places.data(), MPI_BYTE, &view_);
    MPI_Type_commit(&view_);
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints)
      MPI_Info_set(info_, key.c_str(), value.c_str());
  }
  ~MpiIo() override {
    MPI_Info_free(&info_);
    MPI_Type_free(&view_);
  }
  void write(const std::string& path, Data& data) override { move(path, data, true); }
  void read(const std::string& path, Data& data) override { move(path, data, false); }

 private:
  void move(const std::string& path, Data& data, bool write) {
    MPI_File file = MPI_FILE_NULL;
    require(MPI_File_open(MPI_COMM_WORLD, path.c_str(), write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY,
                          info_, &file) == MPI_SUCCESS,
            "MPI_File_open");
    require(MPI_File_set_view(file, 0, MPI_BYTE, view_, "native", info_) == MPI_SUCCESS, "MPI_File_set_view");
    const int words = static_cast<int>(data.memory.size());
    const auto transfer = [&](auto call) {
      return call(file, 0, data.memory.data(), words, MPI_UINT64_T, MPI_STATUS_IGNORE);
    };
    const int code = write ? transfer(collective_ ? MPI_File_write_at_all : MPI_File_write_at)
                           : transfer(collective_ ? MPI_File_read_at_all : MPI_File_read_at);
    require(code == MPI_SUCCESS, write ? "MPI_File_write" : "MPI_File_read");
    require(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
  }

  bool collective_;
  MPI_Datatype view_ = MPI_DATATYPE_NULL;
  MPI_Info info_ = MPI_INFO_NULL;
};

// "NAME" or "NAME:key=value,key=value", where NAME begins with windrow, collective or independent.
std::unique_ptr<System> make_system(const Settings& settings, const std::vector<Piece>& pieces,
                                    const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  std::vector<std::pair<std::string, std::string>> words;
  for (size_t at = name.size() + 1; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    require(equals < end, "a system's options, key=value,");
    words.emplace_back(text.substr(at, equals - at), text.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  if (name.starts_with("windrow"))
    return std::make_unique<Windrow>(settings, pieces, words);
  require(name.starts_with("collective") || name.starts_with("independent"),
          "a system, windrow, collective or independent,");
  return std::make_unique<MpiIo>(pieces, words, name.starts_with("collective"));
}

// The store's own record of what came to it; nothing where the place is none.
class Record {
 public:
  explicit Record(const std::string& directory) : path_(directory + "/.striped-store") {}
  void reset() const {
    if (std::filesystem::exists(path_))
      std::ofstream(path_) << "reset\n";
  }
  json read() const {
    if (!std::filesystem::exists(path_))
      return nullptr;
    const json all = json::parse(std::ifstream(path_));
    int64_t shared = 0;
    for (const json& file : all["files"])
      shared += file["stripes_with_several_writers"].get<int64_t>();
    const auto sum = [&](const char* name) {
      int64_t total = 0;
      for (const json& row : all["matrix"][name])
        for (const json& each : row)
          total += each.get<int64_t>();
      return total;
    };
    return {{"bytes_written", all["matrix"]["bytes_written"]}, {"bytes_read", all["matrix"]["bytes_read"]},
            {"requests_written", sum("requests_written")},     {"requests_read", sum("requests_read")},
            {"lock_hand_overs", sum("lock_hand_overs")},       {"stripes_with_several_writers", shared}};
  }

 private:
  std::string path_;
};

class Bench {
 public:
  explicit Bench(const Settings& settings) : settings_(settings), record_(settings.directory) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    data_.pieces = held(settings_, rank_, ranks_);
    int64_t bytes = 0;
    for (const Piece& piece : data_.pieces)
      bytes += piece.length;
    data_.memory.resize(static_cast<size_t>(bytes / 8));
    for (const std::string& text : settings_.systems)
      systems_.push_back(make_system(settings_, data_.pieces, text));
    if (settings_.read_from >= static_cast<int>(systems_.size()))
      throw std::runtime_error("--read-from: there are not so many systems");
  }

  // Each repetition has another order, the same on all ranks, because what one system leaves in caches and on cores
  // affects the next. The readers of the lines ignore the first repetition: plans, pages and decompositions are new.
  void run() {
    std::vector<size_t> order(systems_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::minstd_rand numbers(1);
    for (int repetition = 0; repetition <= settings_.repeat; ++repetition) {
      for (size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[numbers() % left]);
      for (const size_t number : order)
        run_one(number, repetition);
    }
  }

 private:
  void run_one(size_t number, int repetition) {
    System& system = *systems_[number];
    const std::string path = settings_.directory + "/array.raw";
    if (rank_ == 0)
      std::filesystem::remove(path);
    data_.fill(repetition);
    const double written = timed(system, [&] { system.write(path, data_); });
    tell(number, repetition, "write", written, repetition == 0 ? wrong_in_file(system, path, repetition) : 0);
    if (settings_.read_from >= 0 && static_cast<size_t>(settings_.read_from) != number) {
      if (rank_ == 0)
        std::filesystem::remove(path);
      MPI_Barrier(MPI_COMM_WORLD);
      systems_[static_cast<size_t>(settings_.read_from)]->write(path, data_);
    }
    std::fill(data_.memory.begin(), data_.memory.end(), 0);
    const double read = timed(system, [&] { system.read(path, data_); });
    tell(number, repetition, "read", read, data_.wrong(repetition));
  }

  // From the first rank's begin to the last one's end.
  template <class Work>
  double timed(System& system, Work&& work) {
    if (rank_ == 0)
      record_.reset();
    MPI_Barrier(MPI_COMM_WORLD);
    double times[2] = {-now(), 0};
    work();
    times[1] = now() - system.aside();
    double all[2];
    MPI_Allreduce(times, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    seen_ = rank_ == 0 ? record_.read() : json();
    return all[1] + all[0];
  }

  // Each rank checks an even part, of any writer.
  int64_t wrong_in_file(System& system, const std::string& path, int repetition) {
    if (settings_.start == "holes" || settings_.bytes % settings_.piece != 0)
      return 0;  // the content of bytes that no rank writes is unknown
    const int64_t offset = system.offset(path);
    Settings even = settings_;
    even.start = "conforming";
    Data part{.pieces = held(even, (rank_ + 1) % ranks_, ranks_), .memory = {}};
    part.memory.resize(static_cast<size_t>(part.pieces[0].length / 8));
    std::ifstream stream(path, std::ios::binary);
    stream.seekg(offset + part.pieces[0].begin);
    stream.read(reinterpret_cast<char*>(part.memory.data()), part.pieces[0].length);
    return part.wrong(repetition);
  }

  void tell(size_t number, int repetition, const char* direction, double seconds, int64_t wrong) {
    int64_t all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ != 0)
      return;
    const json line{{"system", settings_.systems[number]},
                    {"repetition", repetition},
                    {"direction", direction},
                    {"seconds", seconds},
                    {"wrong", all},
                    {"plan", systems_[number]->plan()},
                    {"store", seen_}};
    std::printf("TARGETS %s\n", line.dump().c_str());
    std::fflush(stdout);
  }

  Settings settings_;
  Record record_;
  Data data_;
  std::vector<std::unique_ptr<System>> systems_;
  json seen_;
  int rank_ = 0, ranks_ = 1;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Settings settings;
  CLI::App app{"One array on striped storage, written and read by several systems in turns: bench/targets starts it."};
  app.add_option("--dir", settings.directory, "a folder of the storage")->required();
  app.add_option("--start", settings.start, "how ranks hold the array: conforming, one-to-one, columns or holes");
  app.add_option("--piece", settings.piece, "bytes of a piece of columns and holes, a multiple of 8");
  app.add_option("--system", settings.systems, "NAME or NAME:key=value,...; windrow..., collective..., independent...")
      ->required();
  app.add_option("--bytes", settings.bytes, "of the array");
  app.add_option("--stripe", settings.stripe, "of the storage, for one-to-one");
  app.add_option("--targets", settings.targets, "of the storage, for one-to-one");
  app.add_option("--read-from", settings.read_from,
                 "all read files that the system of this number (from 0) has written, not their own");
  app.add_option("--repeat", settings.repeat, "files of each system, beside one that is not counted");
  try {
    app.parse(argc, argv);
    bench::Bench(settings).run();
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    MPI_Finalize();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-targets: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
