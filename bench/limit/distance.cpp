// SPDX-License-Identifier: BSD-3-Clause
#include "limit/distance.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace bench {
namespace {

constexpr int k_parts = 21, k_trips = 1000;

void stay_on(size_t core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  (void)::sched_setaffinity(0, sizeof one, &one);  // of this thread
}

}  // namespace

double round_trip_ns() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
    return 0;
  size_t first = 0, last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(first, &allowed))
    ++first;
  while (!CPU_ISSET(last, &allowed))
    --last;
  alignas(64) std::atomic<int> there = 0;
  alignas(64) std::atomic<int> back = 0;
  std::thread answers([&] {
    stay_on(last);
    for (int trip = 1; trip <= k_parts * k_trips; ++trip) {
      while (there.load(std::memory_order_acquire) != trip)
        continue;
      back.store(trip, std::memory_order_release);
    }
  });
  std::array<double, k_parts> parts;
  std::thread asks([&] {
    stay_on(first);
    int trip = 0;
    for (double& part : parts) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < k_trips; ++i) {
        there.store(++trip, std::memory_order_release);
        while (back.load(std::memory_order_acquire) != trip)
          continue;
      }
      part = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / k_trips;
    }
  });
  asks.join();
  answers.join();
  std::nth_element(parts.begin(), parts.begin() + k_parts / 2, parts.end());
  return parts[k_parts / 2];
}

}  // namespace bench
