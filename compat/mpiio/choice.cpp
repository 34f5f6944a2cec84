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

}  // namespace

int Choice::size_of(int64_t bytes) noexcept {
  return std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes))) - 1, k_sizes - 1);
}

bool Choice::Times::passes(int size) const noexcept {
  if (passed.best() < k_clearly * taken.best())
    return passed.calls() < k_trials || (taken.calls() + passed.calls()) % k_again != 0;
  const int64_t first = size < k_cheap ? k_first_trial_of_cheap : k_first_trial;
  return taken.calls() >= std::max(first, trial_at);
}

const Choice::Sizes& Choice::sizes(bool writes, bool is_contiguous) const noexcept {
  return sizes_[(writes ? 2U : 0U) + (is_contiguous ? 1U : 0U)];
}

int64_t Choice::passing(bool writes, bool is_contiguous) const noexcept {
  const Sizes& all = sizes(writes, is_contiguous);
  int64_t bits = 0;
  for (int size = 0; size < k_sizes; ++size)
    if (all[static_cast<size_t>(size)].passes(size))
      bits |= int64_t{1} << size;
  return bits;
}

void Choice::add(bool writes, bool is_contiguous, int64_t bytes, bool passed, double seconds) noexcept {
  const auto size = static_cast<size_t>(size_of(bytes));
  Times& times = const_cast<Sizes&>(sizes(writes, is_contiguous))[size];
  (passed ? times.passed : times.taken).add(seconds);
  if (passed)
    times.trial_at = k_next_trial * times.taken.calls();
}

}  // namespace mpiio
