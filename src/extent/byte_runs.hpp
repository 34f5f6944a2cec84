// SPDX-License-Identifier: BSD-3-Clause
// ByteRuns: byte ranges of a file with their places in memory, and the counts that a plan needs. Pure.
#pragma once

#include <cstdint>
#include <memory>

#include "extent/pieces.hpp"

namespace windrow {

// A list of elements as bytes, with the counts that every flush needs. Keeps the list alive.
struct ByteRuns {
  Pieces elements;
  PieceView runs;
  Extent hull;
  int64_t total = 0;  // bytes
  int64_t pieces = 0;
  // The pieces of at least `limit` bytes, which may be written independently; kept apart if both kinds exist.
  int64_t limit = 0, long_bytes = 0, long_pieces = 0;
  Pieces long_elements, short_elements;
  PieceView long_runs, short_runs;

  // Sets the view of `elements` and counts.
  void see(PieceView view) noexcept;
  // Then: separates the long pieces. `element_bytes`: the scale of the view.
  void part_long(int64_t element_bytes, int64_t long_limit);
};

// Bytes of an array whose rows of `row` bytes are `stride` apart in the file. `bytes`: as cached by a decomposition.
std::shared_ptr<const ByteRuns> interleaved(const ByteRuns& bytes, int64_t row, int64_t stride);

}  // namespace windrow
