// SPDX-License-Identifier: BSD-3-Clause
// BoxList: boxes of an array that do not overlap, such as the stored chunks of a variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "extent/split.hpp"

namespace windrow {

class BoxList {
 public:
  explicit BoxList(size_t dimensions) : dimensions_(dimensions) {}

  int64_t size() const noexcept { return size_; }
  std::span<const int64_t> start(int64_t box) const noexcept { return corners(box).first(dimensions_); }
  std::span<const int64_t> count(int64_t box) const noexcept { return corners(box).last(dimensions_); }

  void add(std::span<const int64_t> start, std::span<const int64_t> count);
  void add(const Box& box) { add(box.start, box.count); }
  // Adds the chunks of an array that is a box of the whole. `firsts`: the first element of each chunk within the array,
  // one chunk after another. What is not a chunk of the array is ignored, and a chunk ends where the array ends.
  void add_chunks(const Box& array, std::span<const int64_t> chunk, std::span<const int64_t> firsts);

  // Sorts the boxes in C order of their first elements.
  void sort();
  // Joins adjacent boxes to larger ones, as far as their union is a box, and sorts them: the chunks of a whole array
  // become one box. Equal boxes become one. O(boxes x log boxes).
  void join();

  // The list as numbers: of each box the start, then the count. Lists that are concatenated are one list. add_all()
  // ignores an incomplete box. Boxes without dimensions cannot be sent.
  std::span<const int64_t> numbers() const noexcept { return numbers_; }
  void add_all(std::span<const int64_t> numbers);

 private:
  std::span<const int64_t> corners(int64_t box) const noexcept {
    return std::span(numbers_).subspan(static_cast<size_t>(box) * 2 * dimensions_, 2 * dimensions_);
  }
  void sort_by(auto&& is_before);
  void join_along(size_t dimension);

  size_t dimensions_;
  int64_t size_ = 0;
  std::vector<int64_t> numbers_;
};

}  // namespace windrow
