// SPDX-License-Identifier: BSD-3-Clause
// Waiting for another rank or thread.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace windrow {

// Calls the kernel directly. A program may replace sched_yield() to tame an MPI library that polls, and the replacement
// may sleep; callers here sleep by themselves.
inline void yield_core() noexcept {
  syscall(SYS_sched_yield);
}

// Ranks often outnumber cores. A waiting rank therefore yields its core, and soon sleeps, so that ranks that copy or
// write can run. Yielding alone is not enough: if many ranks only yield, the Linux scheduler lets other processes
// starve for seconds (docs/internals/notes/2026-11-30-numbers-from-comments.md).
class Backoff {
 public:
  Backoff() = default;
  // `ranks_per_core`: ranks that exchange messages. Each poll for a message takes several system calls, and a wake-up
  // takes the core from a rank that works; more ranks a core therefore sleep longer. Not used for waits on shared
  // memory, where a poll is a load.
  explicit Backoff(long ranks_per_core) noexcept {
    constexpr long k_oversubscribed = 4, k_most = 20, k_sleep_ns_each = 50'000;
    if (ranks_per_core < k_oversubscribed)
      return;
    yields_ = 8;
    sleep_ns_ = std::min(ranks_per_core, k_most) * k_sleep_ns_each;
  }

  void wait() noexcept {
    if (turns_ < yields_) {
      ++turns_;
      yield_core();
      return;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = sleep_ns_};
    nanosleep(&pause, nullptr);
  }
  void reset() noexcept { turns_ = 0; }  // there was progress

 private:
  int turns_ = 0, yields_ = 64;
  long sleep_ns_ = 50'000;
};

}  // namespace windrow
