// SPDX-License-Identifier: BSD-3-Clause
// Extents and runs: ranges of bytes in a file and their positions in memory. Pure algebra: no MPI, no clock, no files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace windrow {

// A half-open range of bytes in a file (or of elements, where a function says so).
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const noexcept { return end - begin; }
  bool empty() const noexcept { return end <= begin; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

inline Extent intersect(Extent a, Extent b) noexcept {
  const Extent both{a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.empty() ? Extent{both.begin, both.begin} : both;
}

// A regular sequence of extents: extent i (0 <= i < count) covers file bytes [file + i * file_stride, + length) and is
// in memory at memory + i * memory_stride. Invariants: length > 0, count > 0; count > 1 implies file_stride >= length,
// with equality only if memory_stride != length.
struct Run {
  int64_t file = 0;
  int64_t memory = 0;  // bytes from the start of the buffer that belongs to the list
  int64_t length = 0;
  int64_t file_stride = 0;
  int64_t memory_stride = 0;
  int64_t count = 1;

  int64_t bytes() const noexcept { return length * count; }
  int64_t file_end() const noexcept { return file + (count - 1) * file_stride + length; }
  friend bool operator==(const Run&, const Run&) = default;
};

// One extent of a list and its position in memory.
struct Piece {
  int64_t file = 0;
  int64_t memory = 0;
  int64_t length = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

}  // namespace windrow
