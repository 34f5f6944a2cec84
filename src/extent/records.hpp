// SPDX-License-Identifier: BSD-3-Clause
// The format of a list of pieces in memory: one record a nest, as differences from the previous record. encode.cpp has
// the wire format, which is smaller; this format is decoded while data is copied. The first two bytes of a record hold
// all widths, so finding the next record needs no dependent loads and no branches.
//   record := widths [count] begin length stride memory memory_stride [loops]
//   begin and memory: relative to the end of the last piece of the previous record; strides: relative to the length;
//   memory in zigzag. A width of 0: the length or the stride is unchanged, or memory continues packed. count: 1, 2, a
//   byte (count - 3), or 8 bytes. The highest bit of the 8 bytes says that loops follow: their number, then each in
//   full.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "extent/nest.hpp"

namespace windrow {

// The state that a record refers to. All zeros before the first record.
struct RecordState {
  int64_t file_end = 0;
  int64_t memory_end = 0;
  int64_t length = 0;
  int64_t file_stride = 0;
};

// Bit positions of the width codes in the first two bytes. Code 7 means 8 bytes. The code of the length has two bits.
inline constexpr unsigned k_begin_at = 0, k_stride_at = 3, k_memory_at = 6, k_memory_stride_at = 9, k_length_at = 12,
                          k_count_at = 14;
inline constexpr std::array<uint8_t, 8> k_widths{0, 1, 2, 3, 4, 5, 6, 8};
inline constexpr std::array<uint8_t, 4> k_length_widths{0, 1, 2, 8};
inline constexpr unsigned k_count_byte = 2, k_count_word = 3;
inline constexpr uint64_t k_loops_follow = uint64_t{1} << 63;
// Readers may load this many bytes past the end of a record.
inline constexpr size_t k_record_padding = 8;
inline constexpr size_t k_record_bytes = 2 + 6 * 8 + 1 + 24 * k_max_loops;  // at most

// The lowest `width` bytes of those at `from`.
inline uint64_t load_field(const std::byte* from, unsigned width) noexcept {
  constexpr std::array<uint64_t, 9> k_masks{
      0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, ~uint64_t{0}};
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big)
    word = __builtin_bswap64(word);
  return word & k_masks[width];
}

inline int64_t unzigzag(uint64_t value) noexcept {
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

const std::byte* take_loops(const std::byte* from, Nest& nest) noexcept;

// Reads the record at `from` and advances `from` past it. `run` is always set and thus stays in registers; `nest` is
// complete only if there are loops, otherwise its depth is 0.
inline void take_record(const std::byte*& from, RecordState& state, Run& run, Nest& nest) noexcept {
  const auto widths = static_cast<unsigned>(load_field(from, 2));
  const std::byte* at = from + 2;
  const unsigned code = widths >> k_count_at;
  uint64_t count = code + 1;
  if (code >= k_count_byte) {
    const unsigned width = code == k_count_byte ? 1 : 8;
    count = load_field(at, width) + (code == k_count_byte ? 3 : 0);
    at += width;
  }
  const auto take = [&at](unsigned width) {
    const uint64_t value = load_field(at, width);
    at += width;
    return value;
  };
  const unsigned length_width = k_length_widths[widths >> k_length_at & 3];
  const unsigned stride_width = k_widths[widths >> k_stride_at & 7];
  run.file = state.file_end + static_cast<int64_t>(take(k_widths[widths >> k_begin_at & 7]));
  const auto length = static_cast<int64_t>(take(length_width));
  if (length_width != 0)
    state.length = length;
  run.length = state.length;
  const auto stride = static_cast<int64_t>(take(stride_width));
  if (stride_width != 0)
    state.file_stride = run.length + stride;
  run.count = static_cast<int64_t>(count & ~k_loops_follow);
  run.file_stride = run.count > 1 ? state.file_stride : 0;
  run.memory = state.memory_end;
  run.memory_stride = run.count > 1 ? run.length : 0;
  if ((widths >> k_memory_at & 63) != 0) {
    run.memory += unzigzag(take(k_widths[widths >> k_memory_at & 7]));
    run.memory_stride += unzigzag(take(k_widths[widths >> k_memory_stride_at & 7]));
  }
  nest.depth = 0;
  from = at;
  if ((count & k_loops_follow) == 0) {
    state.file_end = run.file_end();
    state.memory_end = run.memory + (run.count - 1) * run.memory_stride + run.length;
  } else {
    nest.run = run;
    from = take_loops(at, nest);
    state.file_end = nest.file_end();
    state.memory_end = last_memory_end(nest);
  }
}

// Writes one record to `to`, which has room for k_record_bytes. Returns its end.
std::byte* put_record(const Nest& nest, RecordState& state, std::byte* to) noexcept;

}  // namespace windrow
