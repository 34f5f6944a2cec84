// SPDX-License-Identifier: BSD-3-Clause
// Which variables a failure leaves undefined: those that were moving, in a file that is changed in place those that earlier failures have left so and nobody
// has written as a whole since, and where they cannot be stored all that were written since they were stored last.
#include <fmt/format.h>

#include <algorithm>

#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {

// Local, as most of these, and the same on every rank. Chunked variables move in waves of their own, whose only one they are.
void File::start_writing(const Wave& wave, std::span<const int64_t> variables) noexcept {
  mark_changed(variables);
  pick_moving([&](size_t i) { return is_among(i, variables) && (wave.layout || !is_chunked(static_cast<int>(i))); });
  for (size_t i = 0; i < moving_bits_.size(); ++i) unsynced_bits_[i] |= moving_bits_[i];
}

// What was moving has been written as a whole.
void File::end_whole() noexcept {
  for (size_t i = 0; i < moving_bits_.size(); ++i) undefined_bits_[i] &= ~moving_bits_[i];
}

// After a failure: those too that hold some of this flush's puts, and will not get the others.
void File::mark_unfinished() {
  if (put_waves_ <= 1) return;
  for (const auto& [variable, count] : put_counts_) {
    const auto word = static_cast<size_t>(variable) / 64;
    if (count > std::max<int64_t>(put_wave_, 1) && word < moving_bits_.size()) moving_bits_[word] |= static_cast<int64_t>(uint64_t{1} << (variable % 64));
  }
  (void)agree(*comm_, Status{}, Pulse{.maximum = {}, .sum = {}, .bits = moving_bits_});
}

Status File::with_undefined(Status verdict, std::span<const int64_t> variables) {
  if (!is_draft())
    for (size_t i = 0; i < std::min(variables.size(), undefined_bits_.size()); ++i) undefined_bits_[i] |= variables[i];
  const std::span<const int64_t> shown = is_draft() ? variables : std::span<const int64_t>(undefined_bits_);
  if (std::all_of(shown.begin(), shown.end(), [](int64_t word) { return word == 0; })) return verdict;
  Status told = verdict;
  (void)guard([&] {
    told = Status{verdict.code(), fmt::format("{}; undefined now: {}", verdict.message(), names_of(shown)), verdict.rank()};
    return Status{};
  });
  return told;
}

// Local; `fatal_` was agreed when it was set.
Status File::beyond_publishing() const {
  Status told = fatal_;
  (void)guard([&] {
    told = Status{fatal_.code(), fmt::format("{}; since then this new file cannot be published any more", fatal_.message()), fatal_.rank()};
    return Status{};
  });
  return told;
}

// After a sync, or the end. Without memory nothing was lost: it can be made again.
Status File::end_sync(Status verdict) {
  if (!verdict.ok()) return is_draft() || verdict.code() == Code::out_of_memory ? verdict : with_undefined(std::move(verdict), unsynced_bits_);
  std::fill(unsynced_bits_.begin(), unsynced_bits_.end(), 0);
  return verdict;
}

}  // namespace windrow
