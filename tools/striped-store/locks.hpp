// SPDX-License-Identifier: BSD-3-Clause
// Extent locks of one object, as Lustre's servers give them to clients: each as large as others' locks allow, kept
// after use, and taken away whole from a client when another needs some of it. The time that a hand-over takes passes
// in here. Source: lustre/ldlm/ldlm_extent.c, without its rounding to the request's alignment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>

namespace striped_store {

using Clock = std::chrono::steady_clock;

enum class Mode {
  read,
  write
};

struct Lock {
  int client = 0;
  Mode mode = Mode::read;
  int64_t begin = 0;
  int64_t end = 0;
  int users = 0;             // requests that go on under it
  bool called_back = false;  // another client waits for it: no new request may use it
  Clock::time_point busy_until{};
};

class ExtentLocks {
 public:
  struct Grant {
    Lock* lock = nullptr;
    bool is_new = false;     // not one that the client held already
    int64_t taken_away = 0;  // locks of other clients that had to go
  };

  // Waits until `client` holds a lock of [begin, end), widened to whole pages; where others' locks have to go, until
  // what runs under them is done and `hand_over` longer. One such wait at a time, in the order of coming. End with
  // release().
  Grant acquire(int client, Mode mode, int64_t begin, int64_t end, std::chrono::nanoseconds hand_over);

  // `busy_until`: when the target will have done what was asked under the lock.
  void release(Lock* lock, Clock::time_point busy_until);

  size_t waiting();  // requests that are in acquire() for a new lock

 private:
  Lock* use_held(int client, Mode mode, int64_t begin, int64_t end);
  int64_t take_away(std::unique_lock<std::mutex>& guard, const Lock& wanted, std::chrono::nanoseconds hand_over);
  Lock* give(Lock wanted);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Lock> locks_;
  std::deque<const Lock*> waiting_;  // in the order of coming; the first is served
};

}  // namespace striped_store
