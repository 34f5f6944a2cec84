// SPDX-License-Identifier: BSD-3-Clause
#include "locks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace striped_store {
namespace {

using namespace std::chrono_literals;

constexpr int64_t k_all = std::numeric_limits<int64_t>::max();
constexpr int64_t k_page = 4096;

// Takes a lock and is done with it.
ExtentLocks::Grant take(ExtentLocks& locks, int client, Mode mode, int64_t begin, int64_t end) {
  const ExtentLocks::Grant grant = locks.acquire(client, mode, begin, end, 0ns);
  locks.release(grant.lock, {});
  return grant;
}

TEST(ExtentLocks, are_as_large_as_others_allow) {
  ExtentLocks locks;
  const auto first = take(locks, 0, Mode::write, 10, 20);
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(first.lock->begin, 0);
  EXPECT_EQ(first.lock->end, k_all);
  EXPECT_FALSE(take(locks, 0, Mode::write, 1 << 30, 1 << 31).is_new);
  EXPECT_FALSE(take(locks, 0, Mode::read, 0, 1).is_new);
}

TEST(ExtentLocks, pass_whole_to_who_needs_a_part) {
  ExtentLocks locks;
  take(locks, 0, Mode::write, 0, k_page);
  for (int turn = 0; turn < 3; ++turn) {
    for (const int client : {1, 0}) {
      const auto grant = take(locks, client, Mode::write, client * k_page, (client + 1) * k_page);
      EXPECT_EQ(grant.taken_away, 1);
      EXPECT_EQ(grant.lock->end, k_all);
    }
  }
}

// As long as client 0 is at work, `count` others come for a page each, ten pages apart; then all that they got.
std::vector<ExtentLocks::Grant> after_waiting(ExtentLocks& locks, int count) {
  const auto first = locks.acquire(0, Mode::write, 0, 1, 0ns);
  std::vector<ExtentLocks::Grant> grants(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int other = 0; other < count; ++other) {
    threads.emplace_back([&, other] {
      grants[static_cast<size_t>(other)] =
          take(locks, other + 1, Mode::write, other * 10 * k_page, other * 10 * k_page + 1);
    });
    while (locks.waiting() <= static_cast<size_t>(other))
      std::this_thread::sleep_for(1ms);
  }
  locks.release(first.lock, {});
  for (std::thread& thread : threads)
    thread.join();
  return grants;
}

TEST(ExtentLocks, of_several_at_a_time_in_places_of_their_own_are_side_by_side) {
  ExtentLocks locks;
  const std::vector<ExtentLocks::Grant> grants = after_waiting(locks, 3);
  EXPECT_EQ(grants[0].taken_away, 1);
  EXPECT_EQ(grants[0].lock->end, 10 * k_page);
  EXPECT_EQ(grants[1].taken_away, 0);
  EXPECT_EQ(grants[1].lock->begin, 10 * k_page);
  EXPECT_EQ(grants[1].lock->end, 20 * k_page);
  EXPECT_EQ(grants[2].taken_away, 0);
  EXPECT_EQ(grants[2].lock->end, k_all);
  for (int client = 1; client <= 3; ++client)
    EXPECT_FALSE(take(locks, client, Mode::write, (client - 1) * 10 * k_page, (client - 1) * 10 * k_page + 5).is_new);
}

TEST(ExtentLocks, grow_less_among_many) {
  ExtentLocks few, many;
  EXPECT_EQ(take(few, 9, Mode::write, 0, 1).lock->end, k_all);
  const std::vector<ExtentLocks::Grant> grants = after_waiting(many, 40);
  EXPECT_EQ(grants[39].lock->begin, 390 * k_page);
  EXPECT_EQ(grants[39].lock->end, 390 * k_page + 32 * 1024 * 1024);
}

TEST(ExtentLocks, of_readers_are_shared_and_one_that_writes_too_takes_them) {
  ExtentLocks locks;
  for (int client = 0; client < 5; ++client)
    EXPECT_EQ(take(locks, client, Mode::read, 0, 1).taken_away, 0);
  EXPECT_EQ(take(locks, 2, Mode::write, 0, 1).taken_away, 4);
  EXPECT_EQ(take(locks, 3, Mode::read, 100 * k_page, 101 * k_page).taken_away, 1);
}

TEST(ExtentLocks, cover_whole_pages) {
  ExtentLocks locks;
  const auto grant = locks.acquire(0, Mode::write, 0, 1, 0ns);
  std::atomic<bool> is_through = false;
  std::thread other([&] {
    take(locks, 1, Mode::write, k_page - 1, k_page);
    is_through = true;
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(is_through);  // would say nothing of a thread that has not begun, but then of no wrong lock either
  locks.release(grant.lock, {});
  other.join();
}

// For any requests, two clients never hold locks of a range that one of them writes.
TEST(ExtentLocks, exclude_writers) {
  constexpr int k_clients = 6, k_pages = 8;
  ExtentLocks locks;
  std::vector<std::atomic<int>> inside(k_pages);  // a writer counts 1000, a reader 1
  std::vector<std::thread> threads;
  for (int client = 0; client < k_clients; ++client) {
    threads.emplace_back([&, client] {
      std::mt19937_64 random(static_cast<uint64_t>(client));
      for (int turn = 0; turn < 300; ++turn) {
        const auto first = static_cast<int64_t>(random() % k_pages),
                   last = first + static_cast<int64_t>(random() % static_cast<uint64_t>(k_pages - first));
        const Mode mode = random() % 3 == 0 ? Mode::write : Mode::read;
        const int weight = mode == Mode::write ? 1000 : 1;
        const auto grant = locks.acquire(client, mode, first * k_page, last * k_page + 1, 10us);
        for (int64_t page = first; page <= last; ++page) {
          const int before = inside[static_cast<size_t>(page)].fetch_add(weight);
          EXPECT_TRUE(before == 0 || (before < 1000 && mode == Mode::read)) << before;
        }
        if (turn % 10 == 0)
          std::this_thread::sleep_for(100us);
        for (int64_t page = first; page <= last; ++page)
          inside[static_cast<size_t>(page)] -= weight;
        locks.release(grant.lock, Clock::now() + 20us);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace striped_store
