// SPDX-License-Identifier: BSD-3-Clause
// The value that each element must have: known from variable, element and repetition, so that any byte of any file can
// be checked, and a byte left over from an earlier run is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "case.hpp"

namespace bench {

struct Pattern {
  ElementType type = ElementType::float64;
  uint64_t variable = 0;
  uint64_t repetition = 0;
  std::vector<int64_t> smooth = {};  // float64 only: the array's three dimensions, when its values are a smooth field
};

inline constexpr std::byte k_never_written{0xA5};  // guard cells, and buffers before a read

// Values of elements [first, first + count).
void fill(const Pattern& pattern, int64_t first, int64_t count, std::byte* out);

// The first element of the piece that is wrong, or -1.
int64_t first_wrong(const Pattern& pattern, int64_t first, int64_t count, const std::byte* bytes, bool big_endian);

}  // namespace bench
