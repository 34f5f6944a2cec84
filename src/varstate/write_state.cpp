// SPDX-License-Identifier: BSD-3-Clause
#include "varstate/write_state.hpp"

namespace windrow {

using Fill = VariableState::Fill;

void WriteState::add_contiguous(size_t variable, bool has_fill_value) noexcept {
  variables_[variable].fill = has_fill_value ? Fill::missing : Fill::complete;
  variables_[variable].never_written = !has_fill_value;
}

bool WriteState::any_needs_fill(std::span<const int64_t> bits) const noexcept {
  bool any = false;
  for_each_among(bits, variables_.size(), [&](size_t i) { any = any || variables_[i].needs_fill(); });
  return any;
}

bool WriteState::any_needs_fill() const noexcept {
  return std::any_of(variables_.begin(), variables_.end(), [](const VariableState& each) { return each.needs_fill(); });
}

void WriteState::begin_filling(std::span<const int64_t> bits) noexcept {
  for_each_among(bits, variables_.size(), [&](size_t i) {
    if (variables_[i].needs_fill())
      variables_[i].fill = Fill::under_way;
  });
}

void WriteState::end_filling(bool filled) noexcept {
  for (VariableState& each : variables_)
    if (each.fill == Fill::under_way)
      each.fill = filled ? Fill::complete : Fill::missing;
}

void WriteState::mark_filled(std::span<const int64_t> bits) noexcept {
  for_each_among(bits, variables_.size(), [&](size_t i) { variables_[i].fill = Fill::complete; });
}

void WriteState::mark_written(std::span<const int64_t> bits) noexcept {
  for_each_among(bits, variables_.size(), [&](size_t i) { variables_[i].never_written = false; });
}

void WriteState::end_whole() noexcept {
  for (size_t i = moving_.first; i < moving_.second; ++i)
    if (variables_[i].moving)
      variables_[i].undefined = false;
}

void WriteState::mark_undefined(Flag which) noexcept {
  for (VariableState& each : variables_)
    if (each.*which)
      each.undefined = true;
}

void WriteState::mark_synced() noexcept {
  for (VariableState& each : variables_)
    each.unsynced = false;
}

bool WriteState::any(Flag which) const noexcept {
  return std::any_of(variables_.begin(), variables_.end(), [which](const VariableState& each) { return each.*which; });
}

void WriteState::pack(Flag which, std::span<int64_t> bits) const noexcept {
  std::fill(bits.begin(), bits.end(), 0);
  for (size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i].*which)
      bits[i / 64] |= static_cast<int64_t>(uint64_t{1} << (i % 64));
}

void WriteState::unpack(Flag which, std::span<const int64_t> bits) noexcept {
  for (size_t i = 0; i < variables_.size(); ++i)
    variables_[i].*which = is_among(i, bits);
  moving_ = {0, variables_.size()};
}

}  // namespace windrow
