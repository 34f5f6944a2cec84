// SPDX-License-Identifier: BSD-3-Clause
// Pure: divides the variables of a file into batches whose shares fit into each rank's buffer, and a share into boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace copying {

// A variable to be divided.
struct Item {
  int variable = 0;            // index in the file
  std::vector<int64_t> shape;  // empty: a scalar
  int64_t element_bytes = 1;
  std::vector<std::pair<int64_t, int64_t>> ranges = {};  // the elements to move: first and count, in order; empty: all
  bool is_partial = false;                               // `ranges` applies, even if empty
};

int64_t element_count(const std::vector<int64_t>& shape);
int64_t elements_to_move(const Item& item);

// Ranges of elements that contain all chunks that begin at `starts` ([chunks][dimensions]), with few others: few
// ranges, and few elements.
std::vector<std::pair<int64_t, int64_t>> ranges_of_chunks(const std::vector<int64_t>& shape,
                                                          const std::vector<int64_t>& chunk,
                                                          std::span<const int64_t> starts);

// Elements [first, first + count) of a variable in C order, all ranks together.
struct Piece {
  size_t item = 0;
  int64_t first = 0;
  int64_t count = 0;
};
using Batch = std::vector<Piece>;

// One rank's part of a piece: elements [first, first + count) of the variable. The first `count` mod `ranks` ranks get
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
// buffers together is divided at whole rows or, if one row is too large, further.
class Slicer {
 public:
  Slicer(const std::vector<Item>& items, int ranks, int64_t buffer_bytes);
  Batch next();                      // empty: done
  void leave(size_t item) noexcept;  // skips the rest of it

 private:
  std::optional<Piece> cut(int64_t room, bool first_of_batch) const;
  const std::vector<Item>& items_;
  int ranks_;
  int64_t buffer_bytes_;
  void advance();
  void end_item() noexcept;
  size_t item_ = 0, range_ = 0;
  int64_t element_ = 0;
};

// Boxes of an array that contain its elements [first, first + count), in order: at most 2 x dimensions - 1.
struct Boxes {
  std::vector<int64_t> starts;  // [boxes][dimensions]
  std::vector<int64_t> counts;  // [boxes][dimensions]
  int64_t number = 0;
};
Boxes boxes_of_range(const std::vector<int64_t>& shape, int64_t first, int64_t count);

}  // namespace copying
