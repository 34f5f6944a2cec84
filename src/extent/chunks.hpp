// SPDX-License-Identifier: BSD-3-Clause
// Chunks: an array cut into boxes of one shape, each stored as a whole. Element positions are offsets in a linear chunk
// space: chunk after chunk in C order of their grid, each with all its elements in C order, including those outside the
// array. A list of elements of the array thus becomes a list of offsets in that space, and a window of whole chunks is
// an ordinary window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

class ChunkGrid {
 public:
  // Code::bad_argument: no dimensions, a number of dimensions that differs from the shape's, a chunk without elements,
  // or a linear space of more than 2^62 elements.
  static Result<ChunkGrid> make(std::span<const int64_t> shape, std::span<const int64_t> chunk);

  int64_t count() const noexcept { return count_; }        // number of chunks; 0 if the array has no elements
  int64_t elements() const noexcept { return elements_; }  // elements of a chunk
  std::span<const int64_t> shape() const noexcept { return shape_; }
  std::span<const int64_t> chunk() const noexcept { return chunk_; }
  std::vector<int64_t> first_element(int64_t number) const;  // [dimensions] first element of a chunk
  int64_t elements_inside(int64_t number) const noexcept;    // elements of a chunk that are inside the array

  // Converts pieces of the array (element numbers in C order from `first` on, all inside it) to pieces of the linear
  // space, with unchanged memory. May throw std::bad_alloc. O(rows of chunks that the pieces overlap).
  Pieces place(PieceView pieces, int64_t first = 0) const;

  // Distance in the linear space between layers of chunks along the slowest dimension. Elements of row r are r /
  // chunk()[0] layers after those of row r % chunk()[0].
  int64_t layer() const noexcept { return grid_strides_[0] * elements_; }
  int64_t row() const noexcept;  // elements of one index of the slowest dimension

 private:
  void add_row(int64_t element, int64_t length, int64_t memory, auto&& add) const;

  std::vector<int64_t> shape_, chunk_, grid_;  // grid_: chunks along each dimension
  std::vector<int64_t> chunk_strides_;         // distance in elements between indices of a dimension within a chunk
  std::vector<int64_t> grid_strides_;          // the same in chunks, within the grid
  int64_t count_ = 0, elements_ = 0;
};

}  // namespace windrow
