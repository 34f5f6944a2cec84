// SPDX-License-Identifier: BSD-3-Clause
// Decomposition: the elements of a shape that this rank holds, and their positions in its memory. Pure: ownership.hpp
// handles other ranks and replicas. windrow.h has the rules for users, at windrow_decomposition.
//
// Lists here count ELEMENTS of the decomposition: `file` is the number of an element in C order, `memory` its index in
// the rank's buffer. to_bytes() views them as bytes of a variable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

enum class DecompositionKind {
  block,
  blocks,
  rows,
  points,
  same
};

// A rank may hold an element several times (overlapping blocks, a point listed twice). Only one position is read into
// or written from: the one in element_pieces(). After a read, the others receive a copy: memory elements [to, to +
// length) from [from, from + length).
struct LocalDuplicate {
  int64_t from = 0;
  int64_t to = 0;
  int64_t length = 0;
  friend bool operator==(const LocalDuplicate&, const LocalDuplicate&) = default;
};

// Made by the functions below, which validate everything: starts and counts are within the shape and the memory boxes,
// and no product or sum of them overflows.
struct Decomposition {
  DecompositionKind kind = DecompositionKind::block;
  std::vector<int64_t> shape;  // global; {points} for points, {rows} for rows
  int64_t elements = 0;        // global
  // length of this rank's buffer: all memory boxes with ghost cells, or up to the last element
  int64_t memory_elements = 0;
  // All kinds except points, [blocks][ndims]; the memory box of block i follows that of block i - 1.
  int64_t blocks = 0;
  std::vector<int64_t> starts;
  std::vector<int64_t> counts;
  std::vector<int64_t> memory_shapes;
  std::vector<int64_t> memory_starts;
  // For blocks without boxes, otherwise empty: starts [blocks] and strides [blocks][ndims].
  std::vector<int64_t> memory_offsets;
  std::vector<int64_t> memory_strides;
  // Kind points: the points that this rank holds, and those that it owns, sorted. The list of the caller is not kept.
  Pieces listed, flagged;
  std::vector<LocalDuplicate> listed_twice;
  bool has_flags = false;  // the caller said which points this rank owns, possibly none
};

// This rank's blocks as the caller passes them, [blocks][ndims]. Empty memory spans: the boxes are the counts, with
// starts 0. Offsets and strides, which may be negative, replace boxes.
struct BlockLists {
  std::span<const int64_t> starts;
  std::span<const int64_t> counts;
  std::span<const int64_t> memory_shapes;
  std::span<const int64_t> memory_starts;
  std::span<const int64_t> memory_offsets = {};  // [blocks]
  std::span<const int64_t> memory_strides = {};
};

// Each: bad_argument names the dimension and the values. A block with a count of 0 holds nothing; its start is ignored.
// May throw std::bad_alloc.
Result<Decomposition> make_block(std::span<const int64_t> shape, const BlockLists& block);  // one block
Result<Decomposition> make_blocks(std::span<const int64_t> shape, int64_t blocks, const BlockLists& lists);
Result<Decomposition> make_rows(int64_t rows, int64_t first, int64_t count);
Result<Decomposition> make_points(int64_t points, std::span<const int64_t> list, std::span<const unsigned char> owned);
Result<Decomposition> make_same(std::span<const int64_t> shape, std::span<const int64_t> start,
                                std::span<const int64_t> count);

// The elements that this rank holds: the read view. If it holds an element twice, the later block or point counts. A
// block is one nest: O(dimensions). Points take about five bytes each.
Pieces element_pieces(const Decomposition& decomposition);

// `held`: element_pieces(decomposition). Empty, after one sum, if nothing is held twice.
std::vector<LocalDuplicate> duplicates(const Decomposition& decomposition, PieceView held);

// The number of trailing elements of a variable for each element of the decomposition; 1 if the shapes are equal.
// bad_argument: the variable does not fit; the message gives the dimension.
Result<int64_t> load(const Decomposition& decomposition, std::span<const int64_t> variable_shape);

// Elements as bytes: `element_bytes` is load x size of the variable's type. The caller adds the variable's file offset.
// bad_argument: an offset, or the end of this rank's buffer, exceeds 64 bits. element_bytes 0: nothing to move.
Result<PieceView> to_bytes(const Pieces& elements, int64_t element_bytes);

}  // namespace windrow
