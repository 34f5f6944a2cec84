// SPDX-License-Identifier: BSD-3-Clause
// How one waits for what another rank or thread does.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace windrow {

// The system's own: what a program has in the place of sched_yield() to tame an MPI library that polls may sleep, and
// whoever waits here sleeps by itself.
inline void give_core_away() noexcept {
  syscall(SYS_sched_yield);
}

// Ranks outnumber cores as often as not: one that waits gives its core away, and soon sleeps, so that those that copy
// or write get it whole. Not by yielding alone: where many ranks do only that, Linux' scheduler lets other processes
// wait for seconds and more (Linux 6.18, 16 ranks on two cores and a compiler beside them: 80 s).
class Backoff {
 public:
  Backoff() = default;
  // `ranks_per_core`: that move messages. To look for one takes some calls of the system, and who wakes up for it takes
  // the core from one that works: with 8 ranks a core an exchange took a fifth longer at 50 us each. Not where ranks
  // wait for memory that they share, which costs a look alone.
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
      give_core_away();
      return;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = sleep_ns_};
    nanosleep(&pause, nullptr);
  }
  void reset() noexcept { turns_ = 0; }  // something has happened

 private:
  int turns_ = 0, yields_ = 64;
  long sleep_ns_ = 50'000;
};

}  // namespace windrow
