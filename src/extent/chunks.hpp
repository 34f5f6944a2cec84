// SPDX-License-Identifier: BSD-3-Clause
// Chunks: an array cut into boxes of one shape, each stored as a whole. Where its elements lie is told in the chunks'
// own line: chunk after chunk in C order of their grid, each with all its elements in C order, those outside the array
// too. So a list of elements of the array becomes a list of places in that line, and a window of whole chunks is a
// window like any other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

class ChunkGrid {
 public:
  // Code::bad_argument: no dimensions, not as many as the shape's, a chunk without elements, or a line longer than 2^62
  // elements.
  static Result<ChunkGrid> make(std::span<const int64_t> shape, std::span<const int64_t> chunk);

  int64_t count() const noexcept { return count_; }        // of chunks; 0 when the array has no elements
  int64_t elements() const noexcept { return elements_; }  // of a chunk
  std::span<const int64_t> shape() const noexcept { return shape_; }
  std::span<const int64_t> chunk() const noexcept { return chunk_; }
  std::vector<int64_t> first_element(int64_t number) const;  // [dimensions] where a chunk begins
  int64_t elements_inside(int64_t number) const noexcept;    // of a chunk, inside the array

  // Pieces of the array (element numbers in C order from `first` on; all inside it) as pieces of the line, each at the
  // same place of memory. May throw std::bad_alloc. O(rows of chunks that the pieces meet).
  Pieces place(PieceView pieces, int64_t first = 0) const;

  // How far the line goes from one layer of chunks along the slowest dimension to the next: what lies in row r of that
  // dimension lies r / chunk()[0] layers behind what lies in row r % chunk()[0].
  int64_t layer() const noexcept { return grid_strides_[0] * elements_; }
  int64_t row() const noexcept;  // elements of one index of the slowest dimension

 private:
  void add_row(int64_t element, int64_t length, int64_t memory, auto&& add) const;

  std::vector<int64_t> shape_, chunk_, grid_;  // grid_: chunks along each dimension
  std::vector<int64_t> chunk_strides_;         // elements of a chunk from one index of a dimension to the next
  std::vector<int64_t> grid_strides_;          // chunks
  int64_t count_ = 0, elements_ = 0;
};

}  // namespace windrow
