// SPDX-License-Identifier: BSD-3-Clause
// Which variables a failure leaves undefined: those that were moving, in a file that is changed in place those that
// earlier failures have left so and nobody has written as a whole since, and where they cannot be stored all that were
// written since they were stored last.
#include <fmt/format.h>

#include <algorithm>

#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {

// Local, as most of these, and the same on every rank. Chunked variables move in batches of their own, whose only one
// they are.
void File::start_writing(const VariableBatch& batch, std::span<const int64_t> variables) noexcept {
  write_state_.start_writing(variables, [&](size_t i) { return batch.layout || !is_chunked(static_cast<int>(i)); });
}

// After a failure: those too that hold some of this flush's puts, and will not get the others.
void File::mark_unfinished() {
  if (put_batches_ <= 1)
    return;
  for (const auto& [variable, count] : put_counts_)
    if (count > std::max<int64_t>(put_batch_, 1))
      write_state_[static_cast<size_t>(variable)].moving = true;
  const std::span<int64_t> bits = std::span(chunked_bits_).first(variable_words());
  write_state_.pack(&VariableState::moving, bits);
  (void)agree(*comm_, Status{}, Reduction{.maximum = {}, .sum = {}, .bits = bits});
  write_state_.unpack(&VariableState::moving, bits);
}

Status File::with_undefined(Status verdict, WriteState::Flag which) {
  if (!is_temporary_file())
    write_state_.mark_undefined(which);
  const WriteState::Flag shown = is_temporary_file() ? which : &VariableState::undefined;
  if (!write_state_.any(shown))
    return verdict;
  Status told = verdict;
  (void)guard([&] {
    told = Status{verdict.code(), fmt::format("{}; undefined now: {}", verdict.message(), names_of(shown)),
                  verdict.rank()};
    return Status{};
  });
  return told;
}

// After a sync, or the end. Without memory nothing was lost: it can be made again.
Status File::end_sync(Status verdict) {
  if (!verdict.ok())
    return is_temporary_file() || verdict.code() == Code::out_of_memory
               ? verdict
               : with_undefined(std::move(verdict), &VariableState::unsynced);
  write_state_.mark_synced();
  return verdict;
}

}  // namespace windrow
