// SPDX-License-Identifier: BSD-3-Clause
// ByteRuns: byte ranges of a file with their places in memory, and what a plan asks of them. Pure.
#pragma once

#include <cstdint>
#include <memory>

#include "extent/pieces.hpp"

namespace windrow {

// A list of elements seen as bytes, and what every flush asks of it. Keeps the list alive.
struct ByteRuns {
  Pieces elements;
  PieceView runs;
  Extent hull;
  int64_t total = 0;  // bytes
  int64_t pieces = 0;
  // Those of at least `limit` bytes, which may go their own way; apart from the others where there are both.
  int64_t limit = 0, long_bytes = 0, long_pieces = 0;
  Pieces long_elements, short_elements;
  PieceView long_runs, short_runs;

  // Takes a view of `elements`, and counts.
  void see(PieceView view) noexcept;
  // Then: takes the long ones apart. `element_bytes`: the scale of the view.
  void part_long(int64_t element_bytes, int64_t long_limit);
};

// What becomes of bytes of an array whose rows of `row` bytes lie `stride` apart in the file. `bytes`: as kept by a
// decomposition.
std::shared_ptr<const ByteRuns> interleaved(const ByteRuns& bytes, int64_t row, int64_t stride);

}  // namespace windrow
