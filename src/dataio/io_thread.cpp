// SPDX-License-Identifier: BSD-3-Clause
#include "dataio/io_thread.hpp"

#include <sched.h>

#include <csignal>

namespace windrow {

int usable_cores() noexcept {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

bool IoThread::start() noexcept {
  if (running_)
    return true;
  // Signals are left to the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
    return false;
  running_ = pthread_create(&thread_, nullptr, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return running_;
}

IoThread::~IoThread() {
  if (!running_)
    return;
  stop_.store(true, std::memory_order_relaxed);
  posted_.fetch_add(1, std::memory_order_release);
  posted_.notify_one();
  pthread_join(thread_, nullptr);
}

void IoThread::post(const Job& job) noexcept {
  jobs_.set(static_cast<size_t>(posted_now_ % k_jobs), job);
  ++posted_now_;
  posted_.fetch_add(1, std::memory_order_release);
  posted_.notify_one();
}

void* IoThread::run(void* self) noexcept {
  static_cast<IoThread*>(self)->work();
  return nullptr;
}

void IoThread::work() noexcept {
  for (int64_t next = 0;; ++next) {
    posted_.wait(static_cast<uint32_t>(next), std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed))
      return;
    const Job& job = jobs_[static_cast<size_t>(next % k_jobs)];
    job.work(job.object, job.argument);
    done_.store(next + 1, std::memory_order_release);
  }
}

}  // namespace windrow
