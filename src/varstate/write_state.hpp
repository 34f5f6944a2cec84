// SPDX-License-Identifier: BSD-3-Clause
// WriteState: which variables of an open file have been written. The same on every rank. Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace windrow {

struct VariableState {
  // The fill value of a contiguous variable: written, missing, or being written by a batch in flight.
  enum class Fill : uint8_t {
    complete,
    missing,
    under_way
  };

  Fill fill = Fill::complete;
  bool never_written = false;  // contiguous, no fill value, created in this session, not written yet: reads as zeros
  bool moving = false;         // a write is in flight
  bool undefined = false;      // undefined after a failed write, in a file that is changed in place
  bool unsynced = false;       // written since the last sync
  bool changed = false;        // written since the file was opened
  int64_t filled_records = 0;  // interleaved records: records that were filled

  bool needs_fill() const noexcept { return fill != Fill::complete; }
};

// Sets of variables in messages: variable i is bit i % 64 of number i / 64.
inline bool is_among(size_t variable, std::span<const int64_t> bits) noexcept {
  return variable / 64 < bits.size() && (static_cast<uint64_t>(bits[variable / 64]) >> (variable % 64) & 1) != 0;
}

// Calls visit(variable) for each of the first `count` variables whose bit is set, in O(count / 64 + set bits) steps.
template <class Visit>
void for_each_among(std::span<const int64_t> bits, size_t count, Visit&& visit) {
  for (size_t word = 0; word < std::min(bits.size(), (count + 63) / 64); ++word)
    for (auto rest = static_cast<uint64_t>(bits[word]); rest != 0; rest &= rest - 1)
      if (const size_t variable = word * 64 + static_cast<size_t>(std::countr_zero(rest)); variable < count)
        visit(variable);
}

class WriteState {
 public:
  using Flag = bool VariableState::*;

  // May throw std::bad_alloc.
  void grow(size_t variables) { variables_.resize(std::max(variables, variables_.size())); }
  VariableState& operator[](size_t variable) noexcept { return variables_[variable]; }
  const VariableState& operator[](size_t variable) const noexcept { return variables_[variable]; }

  // Adds a new contiguous variable.
  void add_contiguous(size_t variable, bool has_fill_value) noexcept;

  bool any_needs_fill(std::span<const int64_t> bits) const noexcept;
  bool any_needs_fill() const noexcept;
  void begin_filling(std::span<const int64_t> bits) noexcept;
  void end_filling(bool filled) noexcept;  // the fill values in flight were written, or are missing again
  void mark_filled(std::span<const int64_t> bits) noexcept;

  // Marks the variables with picks(variable) as being written, and no others.
  template <class Picks>
  void set_moving(Picks&& picks) noexcept {
    for (size_t i = 0; i < variables_.size(); ++i)
      variables_[i].moving = picks(i);
    moving_ = {0, variables_.size()};
  }
  // Begins the writes of a batch. `bits`: all variables that it changes; picks(variable): those among them that it
  // writes.
  template <class Picks>
  void start_writing(std::span<const int64_t> bits, Picks&& picks) noexcept {
    for (size_t i = moving_.first; i < moving_.second; ++i)
      variables_[i].moving = false;
    moving_ = {variables_.size(), 0};
    for_each_among(bits, variables_.size(), [&](size_t i) {
      VariableState& each = variables_[i];
      each.changed = true;
      each.moving = picks(i);
      each.unsynced = each.unsynced || each.moving;
      if (each.moving)
        moving_ = {std::min(moving_.first, i), i + 1};
    });
  }
  void mark_written(std::span<const int64_t> bits) noexcept;
  void end_whole() noexcept;  // the writes in flight have ended; their variables are complete
  void mark_undefined(Flag which) noexcept;
  void mark_synced() noexcept;

  bool any(Flag which) const noexcept;
  // Sets the bits of the variables with this flag. `bits` is long enough for all.
  void pack(Flag which, std::span<int64_t> bits) const noexcept;
  void unpack(Flag which, std::span<const int64_t> bits) noexcept;

 private:
  std::pair<size_t, size_t> moving_{0, 0};  // a range that has all variables whose `moving` is set
  std::vector<VariableState> variables_;    // longer than needed if memory was reserved for failed definitions
};

}  // namespace windrow
