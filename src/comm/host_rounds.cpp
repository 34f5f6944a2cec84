// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host_rounds.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "comm/patience.hpp"

namespace windrow {
namespace {

// A rank's part: how many numbers, then the numbers.
constexpr size_t k_part_words = 1 + HostRounds::k_most;
constexpr int64_t k_part_bytes = static_cast<int64_t>(k_part_words * sizeof(int64_t));
constexpr int64_t k_control_bytes = 128;

// Between processes, so not the private form that std::atomic::wait() may use.
void wake_all(std::atomic<uint32_t>& word) noexcept { syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0); }
void wait_while(std::atomic<uint32_t>& word, uint32_t value, long nanoseconds) noexcept {
  const timespec limit{.tv_sec = 0, .tv_nsec = nanoseconds};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

}  // namespace

// At the begin of rank 0's bytes; its part is behind it, and the result behind that.
struct HostRounds::Control {
  alignas(64) std::atomic<uint64_t> arrived;  // of all rounds
  alignas(64) std::atomic<uint32_t> done;     // the last round whose result is there, modulo 2^32
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "shared between processes");

HostRounds::Control& HostRounds::control() const noexcept {
  static_assert(sizeof(Control) <= k_control_bytes);
  return *reinterpret_cast<Control*>(segment_.base_of(0));
}

// `rank` -1: the result.
int64_t* HostRounds::numbers_of(int rank) const noexcept {
  std::byte* const begin = rank > 0 ? segment_.base_of(rank) : segment_.base_of(0) + k_control_bytes + (rank < 0 ? k_part_bytes : 0);
  return reinterpret_cast<int64_t*>(begin);
}

void HostRounds::prepare(MPI_Comm host, int rank, int size) {
  const auto reserved = segment_.reserve(host, rank == 0 ? k_control_bytes + 2 * k_part_bytes : k_part_bytes);
  if (!reserved.ok() || !reserved.value()) return;  // by messages then
  rank_ = rank;
  size_ = size;
  if (rank == 0) {
    control().arrived.store(0, std::memory_order_relaxed);
    control().done.store(0, std::memory_order_relaxed);
  }
  MPI_Barrier(host);
}

bool HostRounds::run(std::span<int64_t> numbers, Combine combine, MPI_Comm progress) noexcept {
  ++round_;
  int64_t* const mine = numbers_of(rank_);
  mine[0] = static_cast<int64_t>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), mine + 1);
  // Nobody comes to the next round before the last of this one has combined, so its numbers stay until then; and nobody combines in the
  // next before all have taken the result of this one.
  if (control().arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == round_ * static_cast<uint64_t>(size_))
    publish(combine);
  else
    wait(static_cast<uint32_t>(round_), progress);
  const int64_t* const result = numbers_of(-1);
  if (result[0] != static_cast<int64_t>(numbers.size())) return false;
  std::copy_n(result + 1, numbers.size(), numbers.begin());
  return true;
}

void HostRounds::publish(Combine combine) noexcept {
  int64_t* const result = numbers_of(-1);
  const int64_t count = numbers_of(0)[0];
  std::copy_n(numbers_of(0), 1 + count, result);
  for (int rank = 1; rank < size_; ++rank) {
    const int64_t* const from = numbers_of(rank);
    if (from[0] != count) result[0] = -1;
    if (result[0] == count) combine(from + 1, result + 1, static_cast<size_t>(count));
  }
  control().done.store(static_cast<uint32_t>(round_), std::memory_order_release);
  wake_all(control().done);
}

void HostRounds::wait(uint32_t round, MPI_Comm progress) const noexcept {
  constexpr int k_yields = 64;  // with 16, 8 ranks on 2 cores that write 0.4 MB to a new file took 13 % longer: most waits end within some 100 us
  constexpr long k_sleep_ns = 100'000;
  std::atomic<uint32_t>& done = control().done;
  for (int turn = 0; done.load(std::memory_order_acquire) != round; ++turn) {
    if (turn < k_yields) {
      give_core_away();
      continue;
    }
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, progress, &found, MPI_STATUS_IGNORE);
    wait_while(done, round - 1, k_sleep_ns);
  }
}

}  // namespace windrow
