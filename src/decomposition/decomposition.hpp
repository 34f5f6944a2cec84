// SPDX-License-Identifier: BSD-3-Clause
// Decomposition: which elements of a shape this rank holds, and where they lie in its memory. Pure: what other ranks
// hold, and who writes what several hold, is in ownership.hpp. The rules for users are in windrow.h, at
// windrow_decomposition.
//
// Here lists count ELEMENTS of the decomposition: file is the number of an element in C order, memory its place in the
// rank's buffer. to_bytes() sees them as bytes of a variable.
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

// A rank may hold an element several times (blocks that overlap, a point listed twice). Only one of its places is read
// into, or written from: the one in element_pieces(). After a read the others get a copy: memory elements [to, to +
// length) from [from, from + length).
struct LocalDuplicate {
  int64_t from = 0;
  int64_t to = 0;
  int64_t length = 0;
  friend bool operator==(const LocalDuplicate&, const LocalDuplicate&) = default;
};

// Made by the functions below, which check everything: starts and counts lie in the shape and in the memory boxes, no
// product or sum of them overflows.
struct Decomposition {
  DecompositionKind kind = DecompositionKind::block;
  std::vector<int64_t> shape;  // of the whole; {points} for points, {rows} for rows
  int64_t elements = 0;        // of the whole
  int64_t memory_elements =
      0;  // length of this rank's buffer: all memory boxes, ghost cells included, or up to the last element
  // All kinds but points, [blocks][ndims]; block i's memory box follows that of block i - 1.
  int64_t blocks = 0;
  std::vector<int64_t> starts;
  std::vector<int64_t> counts;
  std::vector<int64_t> memory_shapes;
  std::vector<int64_t> memory_starts;
  // Of blocks that lie in no boxes, else empty: where each begins, [blocks], and how far neighbours are apart,
  // [blocks][ndims].
  std::vector<int64_t> memory_offsets;
  std::vector<int64_t> memory_strides;
  // Kind points: those that this rank holds and those of them that it owns, as sorted when it was made; the list of the
  // caller is not kept.
  Pieces listed, flagged;
  std::vector<LocalDuplicate> listed_twice;
  bool has_flags = false;  // the caller said which points this rank owns, be it none
};

// This rank's blocks as the caller has them, [blocks][ndims]; empty memory spans: the boxes are the counts, the starts
// 0. Offsets and strides, which may be negative, stand in for boxes.
struct BlockLists {
  std::span<const int64_t> starts;
  std::span<const int64_t> counts;
  std::span<const int64_t> memory_shapes;
  std::span<const int64_t> memory_starts;
  std::span<const int64_t> memory_offsets = {};  // [blocks]
  std::span<const int64_t> memory_strides = {};
};

// Each: bad_argument names the dimension and the values. A block with a count of 0 holds nothing; its start does not
// matter. May throw std::bad_alloc.
Result<Decomposition> make_block(std::span<const int64_t> shape, const BlockLists& block);  // one block
Result<Decomposition> make_blocks(std::span<const int64_t> shape, int64_t blocks, const BlockLists& lists);
Result<Decomposition> make_rows(int64_t rows, int64_t first, int64_t count);
Result<Decomposition> make_points(int64_t points, std::span<const int64_t> list, std::span<const unsigned char> owned);
Result<Decomposition> make_same(std::span<const int64_t> shape, std::span<const int64_t> start,
                                std::span<const int64_t> count);

// What this rank holds: the read view. Of an element that it holds twice the later block or point counts.
// A block is one nest: O(dimensions). Points cost about five bytes each.
Pieces element_pieces(const Decomposition& decomposition);

// `held`: element_pieces(decomposition). Empty, at the cost of one sum, where nothing is held twice.
std::vector<LocalDuplicate> duplicates(const Decomposition& decomposition, PieceView held);

// How many trailing elements of a variable one element of the decomposition stands for; 1 when their shapes are equal.
// bad_argument: the variable does not fit; the message says where.
Result<int64_t> load(const Decomposition& decomposition, std::span<const int64_t> variable_shape);

// Elements seen as bytes: `element_bytes` is load x size of the variable's type. The variable's place in the file comes
// on top. bad_argument: an offset, or the end of this rank's buffer, does not fit into 64 bits. element_bytes 0:
// nothing to move.
Result<PieceView> to_bytes(const Pieces& elements, int64_t element_bytes);

}  // namespace windrow
