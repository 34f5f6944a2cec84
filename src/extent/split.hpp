// SPDX-License-Identifier: BSD-3-Clause
// Split: an array cut along its dimensions into boxes, its parts. Each part is in a separate file. Parts are numbered
// in C order of their grid, and the elements of a part are in C order of its box.
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
  // `bounds`: the starts of the ranges of each dimension, then its length: 0 < b1 < ... < shape. Code::bad_argument:
  // anything else, or an array or a number of parts beyond 64 bits.
  static Result<Split> make(std::vector<std::vector<int64_t>> bounds);

  int64_t parts() const noexcept { return parts_; }
  const std::vector<std::vector<int64_t>>& bounds() const noexcept { return bounds_; }
  std::span<const int64_t> shape() const noexcept { return shape_; }
  Box box(int64_t part) const;
  int64_t elements(int64_t part) const noexcept;

  // Converts pieces of the array (element numbers in C order from `first` on, all inside it) to pieces of the parts,
  // sorted by part, with unchanged memory. May throw std::bad_alloc. O(dimensions) for each part that a nest overlaps;
  // O(pieces) for nests with strides that no block has.
  std::vector<std::pair<int64_t, Pieces>> place(PieceView pieces, int64_t first = 0) const;

  friend bool operator==(const Split&, const Split&) = default;

 private:
  class Placing;

  std::vector<std::vector<int64_t>> bounds_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> grid_strides_;  // parts
  int64_t parts_ = 1;
};

// The request of a program. `parts` is a list of dimensions, separated by x: the number of ranges, as even as possible,
// or their lengths, "3+5+2x1x4"; "" or "auto": `axes` decides. `axes`: the dimensions "0" or "0,2" to cut into `count`
// parts in total, or "auto": the slowest dimension that is long enough, or several together.
struct SplitRequest {
  std::string axes = "auto";
  std::string parts = "auto";
  int64_t count = 1;
  // empty, or for each dimension: even ranges have a multiple of this many elements, except the last, if the dimension
  // has enough of them
  std::vector<int64_t> unit = {};
  friend bool operator==(const SplitRequest&, const SplitRequest&) = default;
};

// Code::bad_argument: a malformed text, or one that does not fit the shape. Code::not_found: the choice is left to the
// library, and the array has no such division.
Result<Split> make_split(const SplitRequest& request, std::span<const int64_t> shape);

// Whether the texts of a request are valid for some array. Code::bad_argument: they are not.
Status check_split(const SplitRequest& request);

// The format of SplitRequest::parts, with numbers where ranges are even.
std::string text_of(const Split& split);

// The starts of `parts` even ranges of `length`, then the length. The first ranges are one longer.
std::vector<int64_t> even_bounds(int64_t length, int64_t parts);

}  // namespace windrow
