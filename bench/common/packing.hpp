// SPDX-License-Identifier: BSD-3-Clause
// For peers that take points only in the order of the file: packed into one buffer, unless memory has that order
// already. Packing is the application's work there, and is on the clock.
#pragma once

#include <cstring>
#include <vector>

#include "system.hpp"

namespace bench {

class Packing {
 public:
  // `size`: bytes of an element.
  Packing(Pieces pieces, int64_t size) : pieces_(std::move(pieces)), size_(size) {
    int64_t next = 0;
    for (const Piece& piece : pieces_) {
      in_place_ = in_place_ && piece.memory == next;
      next += piece.length;
    }
    elements_ = next;
    if (!in_place_)
      packed_.resize(static_cast<size_t>(elements_ * size_));
  }

  int64_t elements() const { return elements_; }
  const Pieces& pieces() const { return pieces_; }

  const void* pack(const Buffer& buffer) {
    if (in_place_)
      return buffer.data();
    std::byte* out = packed_.data();
    for (const Piece& piece : pieces_) {
      std::memcpy(out, buffer.data() + piece.memory * size_, static_cast<size_t>(piece.length * size_));
      out += piece.length * size_;
    }
    return packed_.data();
  }

  // Where to read to; unpack() afterwards.
  void* target(const Buffer& buffer) { return in_place_ ? buffer.data() : packed_.data(); }
  void unpack(const Buffer& buffer) {
    if (in_place_)
      return;
    const std::byte* in = packed_.data();
    for (const Piece& piece : pieces_) {
      std::memcpy(buffer.data() + piece.memory * size_, in, static_cast<size_t>(piece.length * size_));
      in += piece.length * size_;
    }
  }

 private:
  Pieces pieces_;
  int64_t size_;
  int64_t elements_ = 0;
  bool in_place_ = true;
  std::vector<std::byte> packed_;
};

// The place of element number `element` in an array of `shape`, C order.
inline std::vector<int64_t> place_of(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    place[d] = element % shape[d];
  return place;
}

// Pieces cut so that each is a box of the array: whole rows of the last dimension, or a part of one row. `rows`: whole
// ones.
struct Box {
  std::vector<int64_t> start, count;
};
inline std::vector<Box> boxes_of(const Pieces& pieces, const std::vector<int64_t>& shape) {
  std::vector<Box> boxes;
  const int64_t row = shape.back();
  for (Piece piece : pieces) {
    while (piece.length > 0) {
      Box box{place_of(piece.file, shape), std::vector<int64_t>(shape.size(), 1)};
      int64_t taken = std::min(piece.length, row - box.start.back());
      if (shape.size() == 2 && taken == row) {  // points with trailing values: as many whole rows as there are
        box.count[0] = piece.length / row;
        taken = box.count[0] * row;
        box.count[1] = row;
      } else {
        box.count.back() = taken;
      }
      boxes.push_back(box);
      piece.file += taken;
      piece.length -= taken;
    }
  }
  return boxes;
}

}  // namespace bench
