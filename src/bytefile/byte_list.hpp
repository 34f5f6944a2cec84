// SPDX-License-Identifier: BSD-3-Clause
// ByteList: which bytes of a file a rank moves, and where they are in its memory. Pure and local.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/loops.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// Pieces may overlap in the file. When they are written, the later piece of the list wins. When they are read, each
// piece gets the bytes.
class ByteList {
 public:
  ByteList() = default;
  // No file system has longer files. Sums of offsets below it fit into 64 bits.
  static constexpr int64_t k_longest_file = int64_t{1} << 60;

  // bad_argument: an offset in the file is negative, an end is beyond k_longest_file, a length or a count is negative,
  // or the memory does not fit into 64 bits; the message names the entry. May throw std::bad_alloc.
  static Result<ByteList> of_nests(std::span<const FreeNest> nests);
  // `piece_of`: called a few times for each piece, so that no copy of the list is needed.
  static Result<ByteList> of_pieces(size_t count, const std::function<Piece(size_t)>& piece_of);
  // `pieces`: sorted, and disjoint. `memory_begin`: where their memory begins.
  static Result<ByteList> of_sorted(Pieces pieces, int64_t memory_begin);

  // The pieces without overlaps. Their places in memory count from memory_begin().
  const Pieces& pieces() const noexcept { return pieces_; }
  // The lowest place in memory and the highest end, as offsets from the buffer of a call. They may be negative.
  int64_t memory_begin() const noexcept { return memory_begin_; }
  int64_t memory_end() const noexcept { return memory_end_; }
  // Bytes of the list before an offset of the file. A byte that is read into several places counts for each place.
  int64_t bytes_before(int64_t offset) const noexcept;

  // Bytes of the file that pieces() has once and the list has again: copied in memory after they were read.
  struct Repeated {
    int64_t file = 0;
    int64_t from = 0, to = 0;  // places in memory, from memory_begin() on
    int64_t length = 0;
  };
  std::span<const Repeated> repeated() const noexcept { return repeated_; }

 private:
  static Result<ByteList> build(size_t count, int64_t total, const std::function<Nest(size_t)>& nest_of);

  Pieces pieces_;
  int64_t memory_begin_ = 0;
  int64_t memory_end_ = 0;
  std::vector<Repeated> repeated_;
};

// The part of a list before an offset. May throw std::bad_alloc.
Pieces part_before(const Pieces& pieces, int64_t end);

// Whether both have the same records; in this case they have the same pieces.
bool are_equal(const Pieces& one, const Pieces& other) noexcept;

}  // namespace windrow
