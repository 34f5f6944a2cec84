// SPDX-License-Identifier: BSD-3-Clause
// How one waits for what another rank or thread does.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace windrow {

// The system's own: what a program has in the place of sched_yield() to tame an MPI library that polls may sleep, and whoever waits here sleeps by itself.
inline void give_core_away() noexcept { syscall(SYS_sched_yield); }

// Ranks outnumber cores as often as not: one that waits gives its core away, and soon sleeps, so that those that copy or write get it whole. Not by yielding
// alone: where many ranks do only that, Linux' scheduler lets other processes wait for seconds and more (Linux 6.18, 16 ranks on two cores and a
// compiler beside them: 80 s).
class Patience {
 public:
  void wait() noexcept {
    constexpr int k_yields = 64;
    constexpr long k_sleep_ns = 50'000;
    if (turns_ < k_yields) {
      ++turns_;
      give_core_away();
      return;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = k_sleep_ns};
    nanosleep(&pause, nullptr);
  }
  void reset() noexcept { turns_ = 0; }  // something has happened

 private:
  int turns_ = 0;
};

}  // namespace windrow
