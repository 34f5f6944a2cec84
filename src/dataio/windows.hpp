// SPDX-License-Identifier: BSD-3-Clause
// StorageSink and StorageFetcher: windows to and from the file, as the access rule says; by the rank itself, or by its
// I/O thread while the next windows fill.
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

// What both do: a ring of windows that are at work, and who works.
class StorageWindows {
 public:
  StorageWindows(const StorageWindows&) = delete;
  StorageWindows& operator=(const StorageWindows&) = delete;

 protected:
  // `thread`: nullptr, or one that runs.
  StorageWindows(DataFile& file, AccessRule rule, IoThread* thread)
      : file_(file), rule_(rule), thread_(thread), base_(thread != nullptr ? thread->posted() : 0) {}
  ~StorageWindows() = default;
  void
  finish() noexcept;  // waits for what the thread has still to do; by the destructors of those that say what that is

  struct Filled {
    Window window;
    std::byte* slot = nullptr;
    PieceView covered;
  };
  bool has_room() const noexcept {
    return thread_ == nullptr || thread_->posted() - thread_->done() < IoThread::k_jobs;
  }
  void move(const Filled& filled);
  bool works_behind() const noexcept { return thread_ != nullptr; }
  int64_t moved() const noexcept { return thread_ == nullptr ? moved_ : std::max<int64_t>(0, thread_->done() - base_); }

  // By who works: the window of that number, or nullptr while nobody has asked for it.
  const Filled* asked(int64_t number) const noexcept {
    return number < asked_.load(std::memory_order_acquire) ? &ring_[static_cast<size_t>(number % IoThread::k_jobs)]
                                                           : nullptr;
  }

  DataFile& file_;
  AccessRule rule_;

 private:
  virtual void work(const Filled& filled, int64_t number) = 0;  // of all, from 0 on
  static void work_on(void* self, int64_t number) noexcept;

  IoThread* thread_;
  int64_t base_;  // jobs of the thread before these
  int64_t moved_ = 0;
  std::atomic<int64_t> asked_{0};
  UnsetArray<Filled, IoThread::k_jobs> ring_;  // with a thread only
};

// A collector's windows go to the file.
class StorageSink final : public Sink, private StorageWindows {
 public:
  // `fill`: what holes are filled with, or nullptr. `never_written`: what requests with holes need not read before they
  // write it, or nullptr.
  StorageSink(DataFile& file, AccessRule rule, IoThread* thread, bool locked, WindowFill* fill,
              const FillMap* never_written)
      : StorageWindows(file, rule, thread),
        locked_(locked),
        fill_(fill),
        never_written_(never_written),
        filled_to_(fill != nullptr ? fill->windows.domain.begin : 0) {}
  ~StorageSink() override;
  void expect(PieceView covered) override;
  bool ready() override { return has_room(); }
  void consume(int64_t step, const Window& window, const std::byte* slot, PieceView covered) override;
  int64_t done() const override { return moved(); }
  bool lasts() const override { return true; }
  void fill_rest();  // behind the last window, once all have been written

 private:
  void work(const Filled& filled, int64_t number) override;
  void work_and_fill(const Filled& filled);
  void fill_until(int64_t end);
  void tell_file();

  bool locked_;
  Extent expected_;  // all bytes of which are to be written; empty: none that the file has not been told of
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
  // What a window needs; those of two windows, since the next one's are begun while the last of this one's are under
  // way.
  struct Requests {
    int64_t number = -1;  // of the window that they are all of
    size_t count = 0;
    UnsetArray<ReadRequest, 256> each;
    std::span<const ReadRequest> first(size_t of_them) const noexcept { return {each.data(), of_them}; }
  };
  void work(const Filled& filled, int64_t number) override;
  template <class Visit>
  void for_each_read(const Filled& filled, Visit&& visit) const;
  bool gather(const Filled& filled, int64_t number);  // false: there are too many

  bool several_;  // of a window's requests at the same time: with threads
  std::array<Requests, 2> requests_;
};

}  // namespace windrow
