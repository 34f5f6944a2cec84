// SPDX-License-Identifier: BSD-3-Clause
#include "locks.hpp"

#include <algorithm>
#include <limits>
#include <thread>

namespace striped_store {
namespace {

constexpr int64_t k_page = 4096;  // clients cache pages, so they lock pages
// Where many locks of others are about, a new one does not grow towards the beginning, and of still more it grows
// little.
constexpr int k_some = 4;
constexpr int k_many = 32;
constexpr int64_t k_little = 32 * 1024 * 1024;

bool exclude_each_other(const Lock& a, const Lock& b) {
  return a.client != b.client && (a.mode == Mode::write || b.mode == Mode::write);
}

bool overlap(const Lock& a, const Lock& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

ExtentLocks::Grant ExtentLocks::acquire(int client, Mode mode, int64_t begin, int64_t end,
                                        std::chrono::nanoseconds hand_over) {
  begin -= begin % k_page;
  end += (k_page - end % k_page) % k_page;
  std::unique_lock guard(mutex_);
  if (Lock* lock = use_held(client, mode, begin, end))
    return {.lock = lock};
  const Lock wanted{.client = client, .mode = mode, .begin = begin, .end = end};
  waiting_.push_back(&wanted);
  changed_.wait(guard, [&] { return waiting_.front() == &wanted; });
  Grant grant{.lock =
                  use_held(client, mode, begin, end)};  // another request of this client may have brought it meanwhile
  if (grant.lock == nullptr) {
    grant.taken_away = take_away(guard, wanted, hand_over);
    grant.lock = give(wanted);
    grant.is_new = true;
  }
  waiting_.pop_front();
  changed_.notify_all();
  return grant;
}

void ExtentLocks::release(Lock* lock, Clock::time_point busy_until) {
  const std::lock_guard guard(mutex_);
  lock->busy_until = std::max(lock->busy_until, busy_until);
  --lock->users;
  changed_.notify_all();
}

size_t ExtentLocks::waiting() {
  const std::lock_guard guard(mutex_);
  return waiting_.size();
}

Lock* ExtentLocks::use_held(int client, Mode mode, int64_t begin, int64_t end) {
  for (Lock& lock : locks_) {
    if (lock.client != client || lock.called_back || lock.begin > begin || lock.end < end)
      continue;
    if (mode == Mode::write && lock.mode == Mode::read)
      continue;
    ++lock.users;
    return &lock;
  }
  return nullptr;
}

int64_t ExtentLocks::take_away(std::unique_lock<std::mutex>& guard, const Lock& wanted,
                               std::chrono::nanoseconds hand_over) {
  const auto stands_in_the_way = [&](const Lock& lock) {
    return exclude_each_other(lock, wanted) && overlap(lock, wanted);
  };
  for (Lock& lock : locks_)
    if (stands_in_the_way(lock))
      lock.called_back = true;
  // Only the request in service takes locks, and this is it: no other one interferes.
  changed_.wait(guard, [&] {
    return std::none_of(locks_.begin(), locks_.end(),
                        [&](const Lock& lock) { return stands_in_the_way(lock) && lock.users > 0; });
  });
  Clock::time_point start = Clock::now();
  int64_t count = 0;
  for (auto lock = locks_.begin(); lock != locks_.end();) {
    if (!stands_in_the_way(*lock)) {
      ++lock;
      continue;
    }
    start = std::max(start, lock->busy_until);
    lock = locks_.erase(lock);
    ++count;
  }
  if (count == 0)
    return 0;
  guard.unlock();
  std::this_thread::sleep_until(start + hand_over);
  guard.lock();
  return count;
}

// Grows as far as others' locks let it, and no further than to what others wait for: so clients that write in places of
// their own at the same time end with a lock each.
Lock* ExtentLocks::give(Lock wanted) {
  const Lock asked = wanted;
  wanted.begin = 0;
  wanted.end = std::numeric_limits<int64_t>::max();
  int others = 0;
  const auto stay_clear_of = [&](const Lock& lock) {
    if (!exclude_each_other(lock, asked))
      return;
    ++others;
    if (lock.end <= asked.begin)
      wanted.begin = std::max(wanted.begin, lock.end);
    if (lock.begin >= asked.end)
      wanted.end = std::min(wanted.end, lock.begin);
  };
  for (const Lock& lock : locks_)
    stay_clear_of(lock);
  for (const Lock* lock : waiting_)
    stay_clear_of(*lock);
  if (others > k_some)
    wanted.begin = asked.begin;
  if (others > k_many && asked.mode == Mode::write)
    wanted.end = std::min(wanted.end, std::max(asked.end, asked.begin + k_little));
  // The client's own smaller locks are of no more use. One that is in use, or whose requests the target still does,
  // stays.
  const Clock::time_point now = Clock::now();
  locks_.remove_if([&](const Lock& lock) {
    return lock.client == wanted.client && lock.users == 0 && lock.busy_until <= now && lock.begin >= wanted.begin &&
           lock.end <= wanted.end && (lock.mode == Mode::read || wanted.mode == Mode::write);
  });
  wanted.users = 1;
  return &locks_.emplace_back(wanted);
}

}  // namespace striped_store
