// SPDX-License-Identifier: BSD-3-Clause
// Pure: divides the variables of a file into batches whose shares fit into each rank's buffer, and a share into boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace copying {

// Boxes of an array, one after another.
struct Boxes {
  std::vector<int64_t> starts;  // [boxes][dimensions]
  std::vector<int64_t> counts;  // [boxes][dimensions]
  int64_t number = 0;
};

// A variable to be divided. Its elements are numbered in C order; if only boxes of it are moved, box after box, each in
// C order.
struct Item {
  int variable = 0;            // index in the file
  std::vector<int64_t> shape;  // empty: a scalar
  int64_t element_bytes = 1;
  Boxes boxes = {};                // the elements to move, if `is_partial`
  std::vector<int64_t> ends = {};  // [boxes] number of elements in the boxes up to this one
  bool is_partial = false;         // otherwise all elements are moved
};

int64_t element_count(const std::vector<int64_t>& shape);
int64_t elements_to_move(const Item& item);

// From now on only these boxes are moved. They have elements, and do not overlap.
void move_only(Item& item, Boxes boxes);

// Elements [first, first + count) of an item, all ranks together.
struct Piece {
  size_t item = 0;
  int64_t first = 0;
  int64_t count = 0;
};
using Batch = std::vector<Piece>;

// One rank's part of a piece: elements [first, first + count) of the item. The first `count` mod `ranks` ranks get
// one more. A scalar is given to every rank, because it has no dimension to divide.
struct Share {
  int64_t first = 0;
  int64_t count = 0;
};
Share share_of(const Item& item, const Piece& piece, int rank, int ranks);

// Bytes of a rank's share in its buffer. Shares are aligned to 8 bytes, so that every element is aligned.
int64_t aligned(int64_t bytes) noexcept;  // the next multiple
int64_t share_bytes(const Item& item, const Piece& piece, int rank, int ranks);

// Visits all elements of all items once, in order. Invariants: the shares of rank 0, which are the largest, fit into
// `buffer_bytes` or are a single larger element; small variables are moved together; a variable that is larger than the
// buffers together is divided between boxes, at whole rows of a box or, if one row is too large, further.
class Slicer {
 public:
  Slicer(const std::vector<Item>& items, int ranks, int64_t buffer_bytes);
  Batch next();                      // empty: done
  void leave(size_t item) noexcept;  // skips the rest of it

 private:
  std::optional<Piece> cut(int64_t room, size_t boxes, bool first_of_batch) const;
  const std::vector<Item>& items_;
  int ranks_;
  int64_t buffer_bytes_;
  size_t item_ = 0;
  int64_t element_ = 0;
};

// Boxes of the variable with the elements [first, first + count) of an item, in order: each box of the item that is
// not taken as a whole is cut into at most 2 x dimensions - 1.
Boxes boxes_of_range(const Item& item, int64_t first, int64_t count);

}  // namespace copying
