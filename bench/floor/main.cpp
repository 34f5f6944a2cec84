// SPDX-License-Identifier: BSD-3-Clause
// bench-floor: what the ranks of a scenario can do on one host without a library. It has no format, no temporary name
// and no agreement, and an error ends the program. All offsets are known before the clock starts, and memory is
// allocated and touched. Systems:
//   "direct"                       each rank moves its own pieces, in calls of 1 MiB
//   "raked-KIB-BUFFERS-SERVERS"    ranks copy rows into, or out of, shared buffers; threads of SERVERS ranks write
//                                  them, or read ahead
//   "any-KIB-BUFFERS"              the same without threads: the rank that fills a window last writes it, and a rank
//                                  that waits for one reads the next that no rank has begun
//   "mapped"                       raked-1024-8-1 to write; to read, each rank maps the file and copies its rows
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>

#include "common/system.hpp"

namespace bench {
namespace {

constexpr int64_t k_call = 1 << 20;           // bytes a call: as the limit
constexpr int64_t k_direct_piece = 64 << 10;  // shorter ones are no case for a call each

// Bytes that follow each other in the file and in memory.
struct Run {
  int64_t file = 0;
  std::byte* memory = nullptr;
  int64_t length = 0;
};

// For all bytes at once, if the file system supports it: half of a plain first write is the allocation, page by page.
void ask_for_room([[maybe_unused]] int file, [[maybe_unused]] int64_t bytes) {
#ifdef FALLOC_FL_KEEP_SIZE
  (void)::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, bytes);
#endif
}

// Increases from one pass to the next, so that it is never reset.
using Flag = std::atomic<int64_t>;

void wait_for(const Flag& flag, int64_t value) {
  while (flag.load(std::memory_order_acquire) < value)
    ::sched_yield();
}

void move_all(bool write, int file, std::byte* memory, int64_t offset, int64_t bytes) {
  while (bytes > 0) {
    const auto size = static_cast<size_t>(std::min(bytes, k_call));
    const ssize_t done = write ? ::pwrite(file, memory, size, offset) : ::pread(file, memory, size, offset);
    require(done > 0, write ? "pwrite" : "pread");
    memory += done;
    offset += done;
    bytes -= done;
  }
}

class Floor : public System {
 public:
  explicit Floor(const std::string& name) : direct_(name == "direct"), mapped_(name == "mapped") {
    int kib = 0;
    const bool raked = std::sscanf(name.c_str(), "raked-%d-%d-%d", &kib, &buffers_, &servers_) == 3;
    any_ = std::sscanf(name.c_str(), "any-%d-%d", &kib, &buffers_) == 2;
    require(direct_ || mapped_ || ((raked || any_) && kib > 0 && servers_ > 0 && buffers_ >= servers_),
            "system \"" + name + "\" of bench-floor");
    if (raked || any_)
      window_ = int64_t{kib} << 10;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    servers_ = std::min(servers_, ranks_);
  }

  ~Floor() override {
    if (shared_ != MPI_WIN_NULL)
      MPI_Win_free(&shared_);
  }

  void prepare(const Job& job) override {
    path_ = job.directory + "/floor.raw";
    bytes_ = job.data.file_bytes();
    written_ = runs_of(job, true);
    read_ = runs_of(job, false);
    if (direct_)
      return check_lengths();
    windows_ = (bytes_ + window_ - 1) / window_;
    writers_of_ = ranks_of_windows(written_);
    readers_of_ = ranks_of_windows(read_);
    const int64_t flags = (4 * windows_ + 1) * static_cast<int64_t>(sizeof(Flag));
    const int64_t flags_room = (flags + 4095) / 4096 * 4096;
    if (shared_ != MPI_WIN_NULL)
      MPI_Win_free(&shared_);
    std::byte* base = nullptr;
    MPI_Win_allocate_shared(rank_ == 0 ? flags_room + buffers_ * window_ : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            static_cast<void*>(&base), &shared_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(shared_, 0, &size, &unit, static_cast<void*>(&base));
    if (rank_ == 0)
      std::memset(base, 0, static_cast<size_t>(size));
    for (int64_t at = 0; at < size; at += 4096)
      touched_ += static_cast<int>(reinterpret_cast<const volatile char*>(base)[at]);
    auto* all = reinterpret_cast<Flag*>(base);
    filled_ = all;
    flushed_ = all + windows_;
    fetched_ = all + 2 * windows_;
    taken_ = all + 3 * windows_;
    begun_ = all + 4 * windows_;
    memory_ = base + flags_room;
    writes_ = reads_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void write(const Job& job) override {
    const bool opens = direct_ || serves();
    const int file = opens ? ::open(path_.c_str(), O_RDWR | O_CREAT, 0644) : -1;
    require(!opens || file >= 0, "open of \"" + path_ + "\"");
    if (rank_ == 0)
      ask_for_room(file, bytes_);
    const auto put_all = [&] {
      direct_ ? move_own(true, file, written_) : any_ ? aggregate_in_turn(file) : rake(file);
    };
    put_all();
    job.rewrite(put_all);
    if (!opens)
      return;
    if (job.durable)
      require(::fdatasync(file) == 0, "fdatasync");
    require(::close(file) == 0, "close");
  }

  void read(const Job&) override {
    const bool opens = direct_ || mapped_ || serves();
    const int file = opens ? ::open(path_.c_str(), O_RDONLY) : -1;
    require(!opens || file >= 0, "open of \"" + path_ + "\"");
    if (direct_)
      move_own(false, file, read_);
    else if (mapped_)
      copy_from_map(file);
    else if (any_)
      spread_in_turn(file);
    else
      spread(file);
    if (opens)
      require(::close(file) == 0, "close");
  }

  std::vector<Location> locate(const Job& job) override {
    std::vector<Location> locations;
    int64_t offset = 0;
    for (const Variable& variable : job.data.variables) {
      locations.push_back({path_, offset, false, false});
      offset += job.data.file_bytes(variable);
    }
    return locations;
  }

  std::string format() const override { return "raw"; }

 private:
  // All of this rank's, ascending in the file: variables follow each other there.
  static std::vector<Run> runs_of(const Job& job, bool owned) {
    std::vector<Run> runs;
    int64_t offset = 0;
    for (size_t v = 0; v < job.data.variables.size(); ++v) {
      const Variable& variable = job.data.variables[v];
      const int64_t size = element_size(variable.type);
      for (const Piece& piece : job.data.pieces(variable, owned))
        runs.push_back({offset + piece.file * size, job.buffers[v].data() + piece.memory * size, piece.length * size});
      offset += job.data.file_bytes(variable);
    }
    return runs;
  }

  // The same answer on all ranks.
  void check_lengths() const {
    int64_t shortest = INT64_MAX, all = 0;
    for (const auto* runs : {&written_, &read_})
      for (const Run& run : *runs)
        shortest = std::min(shortest, run.length);
    MPI_Allreduce(&shortest, &all, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (all < k_direct_piece)
      throw NotApplicable("pieces are too short for a call each");
  }

  // How many ranks have bytes in each window.
  std::vector<int> ranks_of_windows(const std::vector<Run>& runs) const {
    std::vector<int> mine(static_cast<size_t>(windows_)), all(mine.size());
    for (const Run& run : runs)
      for (int64_t window = run.file / window_; window * window_ < run.file + run.length; ++window)
        mine[static_cast<size_t>(window)] = 1;
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(windows_), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  // The ranks whose threads serve are spread over all.
  int server() const {
    for (int s = 0; s < servers_; ++s)
      if (rank_ == ranks_ * s / servers_)
        return s;
    return -1;
  }
  bool serves() const { return any_ || server() >= 0; }

  std::byte* buffer_of(int64_t window) const { return memory_ + window % buffers_ * window_; }
  int64_t size_of(int64_t window) const { return std::min(window_, bytes_ - window * window_); }

  static void move_own(bool write, int file, const std::vector<Run>& runs) {
    for (const Run& run : runs)
      move_all(write, file, run.memory, run.file, run.length);
  }

  // copy(run, part's offset in the window, in the run, bytes) for all of the window; `next` is the first run that may
  // reach into it.
  template <typename Copy>
  bool for_each_part(const std::vector<Run>& runs, size_t& next, int64_t window, Copy copy) const {
    const int64_t begin = window * window_, end = begin + size_of(window);
    bool any = false;
    for (; next < runs.size() && runs[next].file < end; ++next) {
      const Run& run = runs[next];
      const int64_t from = std::max(run.file, begin), to = std::min(run.file + run.length, end);
      copy(run, from - begin, from - run.file, static_cast<size_t>(to - from));
      any = true;
      if (run.file + run.length > end)
        break;
    }
    return any;
  }

  // A thread of a rank that serves, which does move(window) for its windows in turn.
  template <typename Move>
  std::thread serve(Move move) const {
    if (!serves())
      return {};
    return std::thread([this, move] {
      for (int64_t window = server(); window < windows_; window += servers_)
        move(window);
    });
  }

  void rake(int file) {
    const int64_t pass = ++writes_;
    std::thread thread = serve([this, file, pass](int64_t window) {
      wait_for(filled_[window], pass * writers_of_[static_cast<size_t>(window)]);
      move_all(true, file, buffer_of(window), window * window_, size_of(window));
      flushed_[window].store(pass, std::memory_order_release);
    });
    size_t next = 0;
    for (int64_t window = 0; window < windows_ && next < written_.size(); ++window) {
      if (written_[next].file >= window * window_ + size_of(window))
        continue;
      if (window >= buffers_)
        wait_for(flushed_[window - buffers_], pass);
      std::byte* buffer = buffer_of(window);
      const bool any =
          for_each_part(written_, next, window, [&](const Run& run, int64_t at, int64_t in_run, size_t bytes) {
            std::memcpy(buffer + at, run.memory + in_run, bytes);
          });
      if (any)
        filled_[window].fetch_add(1, std::memory_order_release);
    }
    if (thread.joinable())
      thread.join();
  }

  void spread(int file) {
    const int64_t pass = ++reads_;
    std::thread thread = serve([this, file, pass](int64_t window) {
      if (window >= buffers_)
        wait_for(taken_[window - buffers_], pass * readers_of_[static_cast<size_t>(window - buffers_)]);
      move_all(false, file, buffer_of(window), window * window_, size_of(window));
      fetched_[window].store(pass, std::memory_order_release);
    });
    size_t next = 0;
    for (int64_t window = 0; window < windows_ && next < read_.size(); ++window) {
      if (read_[next].file >= window * window_ + size_of(window))
        continue;
      wait_for(fetched_[window], pass);
      const std::byte* buffer = buffer_of(window);
      const bool any =
          for_each_part(read_, next, window, [&](const Run& run, int64_t at, int64_t in_run, size_t bytes) {
            std::memcpy(run.memory + in_run, buffer + at, bytes);
          });
      if (any)
        taken_[window].fetch_add(1, std::memory_order_release);
    }
    if (thread.joinable())
      thread.join();
  }

  void aggregate_in_turn(int file) {
    const int64_t pass = ++writes_;
    size_t next = 0;
    for (int64_t window = 0; window < windows_ && next < written_.size(); ++window) {
      if (written_[next].file >= window * window_ + size_of(window))
        continue;
      if (window >= buffers_ && writers_of_[static_cast<size_t>(window - buffers_)] > 0)
        wait_for(flushed_[window - buffers_], pass);
      std::byte* buffer = buffer_of(window);
      const bool any =
          for_each_part(written_, next, window, [&](const Run& run, int64_t at, int64_t in_run, size_t bytes) {
            std::memcpy(buffer + at, run.memory + in_run, bytes);
          });
      if (!any || filled_[window].fetch_add(1, std::memory_order_acq_rel) + 1 !=
                      pass * writers_of_[static_cast<size_t>(window)])
        continue;
      move_all(true, file, buffer, window * window_, size_of(window));
      flushed_[window].store(pass, std::memory_order_release);
    }
  }

  // Reads the next window that no rank has begun, if its buffer is free.
  bool read_one(int file, int64_t pass) {
    int64_t begun = begun_->load(std::memory_order_acquire);
    const int64_t window = begun - (pass - 1) * windows_;
    if (window >= windows_)
      return false;
    if (window >= buffers_ && taken_[window - buffers_].load(std::memory_order_acquire) <
                                  pass * readers_of_[static_cast<size_t>(window - buffers_)])
      return false;
    if (!begun_->compare_exchange_strong(begun, begun + 1, std::memory_order_acq_rel))
      return false;
    move_all(false, file, buffer_of(window), window * window_, size_of(window));
    fetched_[window].store(pass, std::memory_order_release);
    return true;
  }

  void spread_in_turn(int file) {
    const int64_t pass = ++reads_;
    size_t next = 0;
    for (int64_t window = 0; window < windows_ && next < read_.size(); ++window) {
      if (read_[next].file >= window * window_ + size_of(window))
        continue;
      while (fetched_[window].load(std::memory_order_acquire) < pass)
        if (!read_one(file, pass))
          ::sched_yield();
      const std::byte* buffer = buffer_of(window);
      const bool any =
          for_each_part(read_, next, window, [&](const Run& run, int64_t at, int64_t in_run, size_t bytes) {
            std::memcpy(run.memory + in_run, buffer + at, bytes);
          });
      if (any)
        taken_[window].fetch_add(1, std::memory_order_release);
    }
  }

  void copy_from_map(int file) const {
    if (read_.empty())
      return;
    const int64_t begin = read_.front().file / 4096 * 4096, end = read_.back().file + read_.back().length;
    void* map = ::mmap(nullptr, static_cast<size_t>(end - begin), PROT_READ, MAP_SHARED, file, begin);
    require(map != MAP_FAILED, "mmap of \"" + path_ + "\"");
    for (const Run& run : read_)
      std::memcpy(run.memory, static_cast<const std::byte*>(map) + (run.file - begin), static_cast<size_t>(run.length));
    ::munmap(map, static_cast<size_t>(end - begin));
  }

  bool direct_, mapped_, any_ = false;
  int buffers_ = 8, servers_ = 1;
  int64_t window_ = k_call;
  int rank_ = 0, ranks_ = 1;
  std::string path_;
  int64_t bytes_ = 0, windows_ = 0;
  std::vector<Run> written_, read_;
  std::vector<int> writers_of_, readers_of_;
  MPI_Win shared_ = MPI_WIN_NULL;
  Flag *filled_ = nullptr, *flushed_ = nullptr, *fetched_ = nullptr, *taken_ = nullptr;  // of each window
  Flag* begun_ = nullptr;  // windows that a rank reads, of all passes together
  std::byte* memory_ = nullptr;
  int64_t writes_ = 0, reads_ = 0;  // passes so far
  int touched_ = 0;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, [](const std::string& name) { return std::make_unique<bench::Floor>(name); });
}
