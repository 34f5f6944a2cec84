// SPDX-License-Identifier: BSD-3-Clause
// Split: an array cut along its dimensions into boxes, its parts, each of which lies in a file of its own. Parts are
// numbered in C order of their grid, and a part's elements lie in C order of its box.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

struct Box {
  std::vector<int64_t> start, count;
  friend bool operator==(const Box&, const Box&) = default;
};

class Split {
 public:
  // `bounds`: for each dimension where its ranges begin, and its length: 0 < b1 < ... < shape. Code::bad_argument:
  // anything else, or an array or a number of parts that leaves 64 bits.
  static Result<Split> make(std::vector<std::vector<int64_t>> bounds);

  int64_t parts() const noexcept { return parts_; }
  const std::vector<std::vector<int64_t>>& bounds() const noexcept { return bounds_; }
  std::span<const int64_t> shape() const noexcept { return shape_; }
  Box box(int64_t part) const;
  int64_t elements(int64_t part) const noexcept;

  // Pieces of the array (element numbers in C order from `first` on; all inside it) as pieces of the parts that they
  // lie in, by part, each at the same place of memory. May throw std::bad_alloc. O(dimensions) for each part that a
  // nest meets, but for nests whose strides no block has: O(pieces).
  std::vector<std::pair<int64_t, Pieces>> place(PieceView pieces, int64_t first = 0) const;

  friend bool operator==(const Split&, const Split&) = default;

 private:
  class Placing;

  std::vector<std::vector<int64_t>> bounds_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> grid_strides_;  // parts
  int64_t parts_ = 1;
};

// What a program asks for. `parts` for each dimension, divided by x: a number of ranges as even as can be, or their
// lengths, "3+5+2x1x4"; "" or "auto": as `axes` say. `axes`: "0" or "0,2", the dimensions to cut into `count` parts
// together, or "auto": the slowest that is long enough, or several together.
struct SplitRequest {
  std::string axes = "auto";
  std::string parts = "auto";
  int64_t count = 1;
  std::vector<int64_t> unit = {};  // empty, or for each dimension: even ranges have a multiple of so many, but the
                                   // last, where the dimension has enough of them
  friend bool operator==(const SplitRequest&, const SplitRequest&) = default;
};

// Code::bad_argument: a text that is not as above, or does not fit the shape. Code::not_found: left to us, and the
// array cannot be cut so often.
Result<Split> make_split(const SplitRequest& request, std::span<const int64_t> shape);

// Whether a request's texts can be of any array. Code::bad_argument: they cannot.
Status check_split(const SplitRequest& request);

// As SplitRequest::parts has it: numbers where ranges are even.
std::string text_of(const Split& split);

// Where `parts` even ranges of `length` begin, and the length: the first ones have one more.
std::vector<int64_t> even_bounds(int64_t length, int64_t parts);

}  // namespace windrow
