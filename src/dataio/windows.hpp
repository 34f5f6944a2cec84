// SPDX-License-Identifier: BSD-3-Clause
// StorageSink and StorageFetcher: write windows to the file and read them from it, according to the access rule; in the
// main thread, or in the I/O thread while the next windows fill.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "base/unset_array.hpp"
#include "dataio/data_file.hpp"
#include "dataio/fill_map.hpp"
#include "dataio/io_thread.hpp"
#include "exchange/role.hpp"
#include "plan/access.hpp"

namespace windrow {

// Common to both: a ring of windows in progress, and the thread that works.
class StorageWindows {
 public:
  StorageWindows(const StorageWindows&) = delete;
  StorageWindows& operator=(const StorageWindows&) = delete;

 protected:
  // `thread`: nullptr, or a running one.
  StorageWindows(DataFile& file, AccessRule rule, IoThread* thread)
      : file_(file), rule_(rule), thread_(thread), base_(thread != nullptr ? thread->posted() : 0) {}
  ~StorageWindows() = default;
  void finish() noexcept;  // waits for the thread; called by the destructors of derived classes, whose members it uses

  struct Filled {
    Window window;
    std::byte* slot = nullptr;
    PieceView covered;
  };
  bool has_room() const noexcept {
    return thread_ == nullptr || thread_->posted() - thread_->done() < IoThread::k_jobs;
  }
  void move(const Filled& filled);
  bool works_asynchronously() const noexcept { return thread_ != nullptr; }
  int64_t moved() const noexcept { return thread_ == nullptr ? moved_ : std::max<int64_t>(0, thread_->done() - base_); }

  // For the working thread: the window of that number, or nullptr if it was not posted yet.
  const Filled* asked(int64_t number) const noexcept {
    return number < asked_.load(std::memory_order_acquire) ? &ring_[static_cast<size_t>(number % IoThread::k_jobs)]
                                                           : nullptr;
  }

  DataFile& file_;
  AccessRule rule_;

 private:
  virtual void work(const Filled& filled, int64_t number) = 0;  // `number`: counts all windows from 0
  static void work_on(void* self, int64_t number) noexcept;

  IoThread* thread_;
  int64_t base_;  // earlier jobs of the thread
  int64_t moved_ = 0;
  std::atomic<int64_t> asked_{0};
  UnsetArray<Filled, IoThread::k_jobs> ring_;  // only with a thread
};

// Writes the windows of a collector to the file.
class StorageSink final : public Sink, private StorageWindows {
 public:
  // What is known of holes between the pieces.
  struct Holes {
    WindowFill* fill = nullptr;              // fill values for them, or nullptr
    const FillMap* never_written = nullptr;  // ranges that a request need not read first, or nullptr
  };
  StorageSink(DataFile& file, AccessRule rule, IoThread* thread, bool locked, const Holes& holes)
      : StorageWindows(file, rule, thread),
        locked_(locked),
        fill_(holes.fill),
        never_written_(holes.never_written),
        filled_to_(holes.fill != nullptr ? holes.fill->windows.domain.begin : 0) {}
  ~StorageSink() override;
  void expect(PieceView covered) override;
  bool ready() override { return has_room(); }
  void consume(int64_t step, const Window& window, const std::byte* slot, PieceView covered) override;
  int64_t done() const override { return moved(); }
  bool is_asynchronous() const override { return true; }
  void fill_rest();  // after the last window, once all are written

 private:
  void work(const Filled& filled, int64_t number) override;
  void write(const Filled& filled);
  void work_and_fill(const Filled& filled);
  void fill_until(int64_t end);
  void announce();

  bool locked_;
  Extent expected_;  // will be written completely and is not announced to the file yet; or empty
  WindowFill* fill_;
  const FillMap* never_written_;
  int64_t filled_to_;
};

class StorageFetcher final : public Fetcher, private StorageWindows {
 public:
  StorageFetcher(DataFile& file, AccessRule rule, IoThread* thread)
      : StorageWindows(file, rule, thread), several_(thread != nullptr) {}
  ~StorageFetcher() override { finish(); }
  bool ready() override { return has_room(); }
  void start(int64_t step, const Window& window, std::byte* slot, PieceView covered) override;
  int64_t done() override { return moved(); }

 private:
  // The requests of a window. There are two: the requests of the next window start while the last of this one are in
  // flight.
  struct Requests {
    int64_t number = -1;  // the window that they belong to
    size_t count = 0;
    UnsetArray<ReadRequest, 256> each;
    std::span<const ReadRequest> first(size_t of_them) const noexcept { return {each.data(), of_them}; }
  };
  void work(const Filled& filled, int64_t number) override;
  template <class Visit>
  void for_each_read(const Filled& filled, Visit&& visit) const;
  bool gather(const Filled& filled, int64_t number);  // false: there are too many

  bool several_;  // several concurrent requests for a window: with threads
  std::array<Requests, 2> requests_;
};

}  // namespace windrow
