// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host_rounds.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "comm/backoff.hpp"

namespace windrow {
namespace {

// A rank's part: one word with the count of numbers, whether rank 0 does work in between, and the kind of the round;
// the number of its call; the numbers. A result has the same format, or k_mixed and a mismatch.
constexpr size_t k_part_head = 2, k_part_words = k_part_head + HostRounds::k_most;
constexpr int64_t k_mixed = -1;
constexpr int64_t k_part_bytes = static_cast<int64_t>(k_part_words * sizeof(int64_t));
constexpr int k_controls = 2;
constexpr int64_t k_has_between = int64_t{1} << 32, k_kind = int64_t{1} << 33;
constexpr int64_t k_page = 4096;

// Between processes, so without the private flag that std::atomic::wait() may use.
void wake_all(std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}
void wait_while(std::atomic<uint32_t>& word, uint32_t value, long nanoseconds) noexcept {
  const timespec limit{.tv_sec = 0, .tv_nsec = nanoseconds};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void set(std::atomic<uint32_t>& word, uint64_t round) noexcept {
  word.store(static_cast<uint32_t>(round), std::memory_order_release);
  wake_all(word);
}

}  // namespace

// State of a group of ranks. There are two at the start of rank 0's bytes, followed by its part and the results of both
// groups. Results are separate, since a rank outside the smaller group may not have read the last result of all yet.
struct HostRounds::Control {
  alignas(64) std::atomic<uint64_t> arrived;  // total over all rounds of the group
  alignas(64) std::atomic<uint32_t> done;     // last round with a result, modulo 2^32
  std::atomic<uint32_t> complete;  // last round that all ranks have entered while rank 0 waited for them, modulo 2^32
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "shared between processes");

HostRounds::Control& HostRounds::control_of(const Group& group) const noexcept {
  return reinterpret_cast<Control*>(segment_.base_of(0))[group.control];
}

int64_t* HostRounds::numbers_of(int rank) const noexcept {
  return reinterpret_cast<int64_t*>(segment_.base_of(rank) + (rank == 0 ? k_controls * sizeof(Control) : 0));
}

int64_t* HostRounds::result_of(const Group& group) const noexcept {
  return reinterpret_cast<int64_t*>(reinterpret_cast<std::byte*>(numbers_of(0)) + (1 + group.control) * k_part_bytes);
}

namespace {

// Bytes of a rank's memory before its room.
constexpr int64_t before_room(int rank) noexcept {
  const int64_t bytes = rank == 0 ? k_page + (1 + k_controls) * k_part_bytes : k_part_bytes;
  return (bytes + k_page - 1) / k_page * k_page;
}

}  // namespace

std::byte* HostRounds::room_of(int rank) const noexcept {
  return segment_.base_of(rank) + before_room(rank);
}

void HostRounds::prepare(MPI_Comm host, int rank, int size, int64_t room, long ranks_per_core) {
  static_assert(k_controls * sizeof(Control) <= k_page);
  auto reserved = segment_.reserve(host, before_room(rank) + room);
  room_ = reserved.ok() && reserved.value();
  if (!room_)
    reserved = segment_.reserve(
        host, before_room(rank));  // the same on all ranks: a rank without memory gets an error, the others a refusal
  if (!reserved.ok() || !reserved.value())
    return;  // messages are used instead
  constexpr long k_oversubscribed = 4, k_sleep_ns_each = 50'000, k_most_sleep_ns = 1'000'000;
  if (ranks_per_core >= k_oversubscribed) {
    yields_ = 8;
    sleep_ns_ = std::min(ranks_per_core * k_sleep_ns_each, k_most_sleep_ns);
  }
  rank_ = rank;
  size_ = all_.count = some_.count = size;
  if (rank == 0)
    for (const Group& group : {all_, some_}) {
      control_of(group).arrived.store(0, std::memory_order_relaxed);
      control_of(group).done.store(0, std::memory_order_relaxed);
      control_of(group).complete.store(0, std::memory_order_relaxed);
    }
  MPI_Barrier(host);
}

void HostRounds::wait_for(std::atomic<uint32_t>& word, uint64_t round, MPI_Comm progress) const noexcept {
  for (int turn = 0;; ++turn) {
    const uint32_t now = word.load(std::memory_order_acquire);
    if (now == static_cast<uint32_t>(round))
      return;
    if (turn < yields_) {
      yield_core();
      continue;
    }
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, progress, &found, MPI_STATUS_IGNORE);
    wait_while(word, now, sleep_ns_);
  }
}

void HostRounds::start_some(int spacing, int count) noexcept {
  some_ = {.control = some_.control, .spacing = spacing, .count = count, .round = 0};
  if (rank_ > 0)
    return;
  control_of(some_).arrived.store(0, std::memory_order_relaxed);
  control_of(some_).done.store(0, std::memory_order_relaxed);
}

bool HostRounds::run(Group& group, const Round& round, Mismatch& mismatch) noexcept {
  const auto& [numbers, step, combine, progress, between] = round;
  ++group.round;
  Control& control = control_of(group);
  const int64_t head = static_cast<int64_t>(numbers.size()) + (between ? k_has_between : 0) + step.kind * k_kind;
  int64_t* const mine = numbers_of(rank_);
  mine[0] = head;
  mine[1] = step.call;
  std::copy(numbers.begin(), numbers.end(), mine + k_part_head);
  // A rank's numbers stay valid until the last rank of this round has combined them, because nobody enters the next
  // round before. Nobody combines in the next round before all have read this result. Both groups use the same numbers
  // of a rank: a member of the smaller group enters the next round of all after its last smaller round, and the numbers
  // of non-members are not read meanwhile.
  const bool last =
      control.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == group.round * static_cast<uint64_t>(group.count);
  const bool works = between && rank_ == 0, mixed = last && !is_one_kind(group);
  if (last && (!between || works || mixed)) {
    publish(group, mixed, combine, between);
    if (mixed)
      set(control.complete, group.round);  // rank 0 may be waiting for it
  } else if (last) {
    set(control.complete, group.round);
  } else if (works) {
    wait_for(control.complete, group.round, progress);
    if (control.done.load(std::memory_order_acquire) != static_cast<uint32_t>(group.round))
      publish(group, false, combine, between);
  }
  wait_for(control.done, group.round, progress);
  const int64_t* const result = result_of(group);
  if (result[0] == k_mixed) {
    mismatch = Mismatch::read(result + k_part_head);
    return false;
  }
  std::copy_n(result + k_part_head, numbers.size(), numbers.begin());
  return true;
}

bool HostRounds::is_one_kind(const Group& group) const noexcept {
  for (int i = 1; i < group.count; ++i)
    if (!std::equal(numbers_of(0), numbers_of(0) + k_part_head, numbers_of(i * group.spacing)))
      return false;
  return true;
}

void HostRounds::publish(const Group& group, bool mixed, Combine combine, Between between) noexcept {
  int64_t* const result = result_of(group);
  const int64_t count = numbers_of(0)[0] % k_has_between;
  if (mixed) {
    result[0] = k_mixed;
    Mismatch found = Mismatch::of(0, numbers_of(0)[1]);
    for (int i = 1; i < group.count; ++i)
      found.combine(Mismatch::of(i * group.spacing, numbers_of(i * group.spacing)[1]));
    found.store(result + k_part_head);
  } else {
    const auto length = static_cast<size_t>(count);
    std::copy_n(numbers_of(0), k_part_head + length, result);
    for (int i = 1; i < group.count; ++i)
      combine(numbers_of(i * group.spacing) + k_part_head, result + k_part_head, length);
    if (between)
      between(std::span(result + k_part_head, length));
  }
  set(control_of(group).done, group.round);
}

}  // namespace windrow
