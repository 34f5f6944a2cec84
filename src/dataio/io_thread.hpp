// SPDX-License-Identifier: BSD-3-Clause
// IoThread: a second thread of an aggregator, which makes storage calls while the main thread continues the exchange.
// It never calls MPI, so MPI_THREAD_SINGLE suffices. It runs jobs in the order of posting; a job needs no allocation.
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
  // Capacity of waiting and running jobs: more than the slots of an aggregator.
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

  // False if the system cannot create a thread; the caller then does the work itself. Runs until destruction.
  bool start() noexcept;
  bool is_running() const noexcept { return running_; }

  // Called by the thread that called start(). At most k_jobs may be posted and not yet done.
  void post(const Job& job) noexcept;
  int64_t posted() const noexcept { return posted_now_; }
  // Number of posted jobs that are done; their results are then visible.
  int64_t done() const noexcept { return done_.load(std::memory_order_acquire); }

 private:
  static void* run(void* self) noexcept;
  void work() noexcept;

  pthread_t thread_{};
  bool running_ = false;
  int64_t posted_now_ = 0;
  UnsetArray<Job, k_jobs> jobs_;
  std::atomic<uint32_t> posted_{0};  // modulo 2^32, the type that wait() supports best
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0};
};

}  // namespace windrow
