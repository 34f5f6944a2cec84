// SPDX-License-Identifier: BSD-3-Clause
#include "choice.hpp"

#include <algorithm>
#include <bit>

namespace mpiio {
namespace {

// MPI's function is tried early where a call is cheap, and late where it may cost many times Windrow's.
constexpr int k_cheap = 22;  // calls under 4 MiB
constexpr int64_t k_first_trial_of_cheap = 4;
constexpr int64_t k_first_trial = 64;
constexpr int64_t k_next_trial = 4;  // the next one after so many times as many calls
constexpr int64_t k_trials = 2;      // one time may be an exception
constexpr double k_clearly = 0.8;    // of Windrow's time
// Windrow's way is tried again: one of so many calls.
constexpr int64_t k_again = 64;
// Timing a call that goes to MPI needs a barrier, so only one of this many is timed.
constexpr int64_t k_timed = 16;

// After this many small calls of one size, Windrow's way is tried a few times. The first trial also makes a plan.
constexpr int64_t k_many_small = 32;
constexpr int64_t k_trials_of_small = 3;
constexpr double k_clearly_small = 1.1;  // of Windrow's time: it must be the faster one

}  // namespace

int Choice::size_of(int64_t bytes) noexcept {
  return std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes))) - 1, k_sizes - 1);
}

Choice::Way Choice::Times::next(int size, bool is_small) const noexcept {
  const Way take, pass{.passed = true}, timed_pass{.passed = true, .timed = true};
  if (is_small) {
    if (calls < k_many_small)
      return pass;
    if (taken.calls() < k_trials_of_small)
      return take;
    if (passed.calls() < k_trials)
      return timed_pass;
  }
  if (passed.best() < (is_small ? k_clearly_small : k_clearly) * taken.best()) {
    if (passed.calls() < k_trials)
      return timed_pass;
    if (calls % k_again == 0)
      return take;
    return calls % k_timed == 0 ? timed_pass : pass;
  }
  const int64_t first = size < k_cheap ? k_first_trial_of_cheap : k_first_trial;
  return taken.calls() >= std::max(first, trial_at) ? timed_pass : take;
}

const Choice::Sizes& Choice::sizes(bool writes, bool is_contiguous) const noexcept {
  return sizes_[(writes ? 2U : 0U) + (is_contiguous ? 1U : 0U)];
}

Choice::Ways Choice::ways(bool writes, bool is_contiguous, int64_t least) const noexcept {
  const Sizes& all = sizes(writes, is_contiguous);
  Ways ways;
  for (int size = 0; size < k_sizes; ++size) {
    const int64_t bit = int64_t{1} << size;
    const Way way = all[static_cast<size_t>(size)].next(size, bit < least);
    ways.passed |= way.passed ? bit : 0;
    ways.timed |= way.timed ? bit : 0;
  }
  return ways;
}

void Choice::add(bool writes, bool is_contiguous, int64_t bytes, bool passed, double seconds) noexcept {
  const auto size = static_cast<size_t>(size_of(bytes));
  Times& times = const_cast<Sizes&>(sizes(writes, is_contiguous))[size];
  ++times.calls;
  if (seconds < 0)
    return;
  (passed ? times.passed : times.taken).add(seconds);
  if (passed)
    times.trial_at = k_next_trial * times.taken.calls();
}

}  // namespace mpiio
