// SPDX-License-Identifier: BSD-3-Clause
#include "filling/undefined_elements.hpp"

#include <fmt/format.h>

#include <utility>

namespace windrow {

Status UndefinedElements::add_names(Status failure, WriteState::Flag which) const {
  if (in_place_)
    write_state_.mark_undefined(which);
  const WriteState::Flag shown = in_place_ ? &VariableState::undefined : which;
  if (!write_state_.any(shown))
    return failure;
  Status named = failure;
  (void)guard([&] {
    named = Status{failure.code(), fmt::format("{}; undefined now: {}", failure.message(), names_of(shown)),
                   failure.rank()};
    return Status{};
  });
  return named;
}

Status UndefinedElements::end_sync(Status verdict) const {
  if (verdict.ok()) {
    write_state_.mark_synced();
    return verdict;
  }
  if (!in_place_ || verdict.code() == Code::out_of_memory)
    return verdict;
  return add_names(std::move(verdict), &VariableState::unsynced);
}

std::string UndefinedElements::names_of(WriteState::Flag which) const {
  constexpr int k_shown = 8;
  std::string names;
  int count = 0;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!(write_state_[i].*which))
      continue;
    if (++count <= k_shown)
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", catalog_.variables[i].path);
  }
  if (count > k_shown)
    names += fmt::format(" and {} more", count - k_shown);
  return names;
}

}  // namespace windrow
