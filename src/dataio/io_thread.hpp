// SPDX-License-Identifier: BSD-3-Clause
// IoThread: a second thread of a writer or reader, which makes the storage's calls while the rank's own thread goes on
// with the exchange. It never calls MPI, so MPI_THREAD_SINGLE suffices. It does the jobs in the order in which they
// come; nothing is allocated for one.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/unset_array.hpp"

namespace windrow {

// Cores that this process may run on.
int usable_cores() noexcept;

class IoThread {
 public:
  // What can wait or be at work at the same time: more than a writer has slots.
  static constexpr int64_t k_jobs = 80;

  struct Job {
    void (*work)(void* object, int64_t argument) noexcept = nullptr;
    void* object = nullptr;
    int64_t argument = 0;
  };

  IoThread() = default;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;
  ~IoThread();

  // False where the system gives no thread; the caller then does the work itself. Started once, it is there until
  // destruction.
  bool start() noexcept;
  bool is_running() const noexcept { return running_; }

  // Both by the thread that has called start(). At most k_jobs posted and not yet done.
  void post(const Job& job) noexcept;
  int64_t posted() const noexcept { return posted_now_; }
  // How many of all posted jobs are done; what they wrote can be read then.
  int64_t done() const noexcept { return done_.load(std::memory_order_acquire); }

 private:
  static void* run(void* self) noexcept;
  void work() noexcept;

  pthread_t thread_{};
  bool running_ = false;
  int64_t posted_now_ = 0;
  UnsetArray<Job, k_jobs> jobs_;
  std::atomic<uint32_t> posted_{0};  // modulo 2^32, as wait() likes it
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0};
};

}  // namespace windrow
