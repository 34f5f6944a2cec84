// SPDX-License-Identifier: BSD-3-Clause
#include "extent/boxes.hpp"

#include <algorithm>
#include <numeric>

namespace windrow {

void BoxList::add(std::span<const int64_t> start, std::span<const int64_t> count) {
  numbers_.insert(numbers_.end(), start.begin(), start.end());
  numbers_.insert(numbers_.end(), count.begin(), count.end());
  ++size_;
}

void BoxList::add_all(std::span<const int64_t> numbers) {
  if (dimensions_ == 0)
    return;
  const size_t each = 2 * dimensions_;
  for (; numbers.size() >= each; numbers = numbers.subspan(each))
    add(numbers.first(dimensions_), numbers.subspan(dimensions_, dimensions_));
}

void BoxList::add_chunks(const Box& array, std::span<const int64_t> chunk, std::span<const int64_t> firsts) {
  std::vector<int64_t> start(dimensions_), count(dimensions_);
  for (; dimensions_ > 0 && firsts.size() >= dimensions_; firsts = firsts.subspan(dimensions_)) {
    bool is_inside = true;
    for (size_t d = 0; d < dimensions_; ++d) {
      is_inside = is_inside && firsts[d] >= 0 && firsts[d] < array.count[d] && firsts[d] % chunk[d] == 0;
      if (!is_inside)
        break;
      start[d] = array.start[d] + firsts[d];
      count[d] = std::min(chunk[d], array.count[d] - firsts[d]);
    }
    if (is_inside)
      add(start, count);
  }
}

void BoxList::sort_by(auto&& is_before) {
  std::vector<int64_t> order(static_cast<size_t>(size_));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (std::is_sorted(order.begin(), order.end(), is_before))
    return;
  std::sort(order.begin(), order.end(), is_before);
  std::vector<int64_t> sorted;
  sorted.reserve(numbers_.size());
  for (const int64_t box : order)
    sorted.insert(sorted.end(), corners(box).begin(), corners(box).end());
  numbers_ = std::move(sorted);
}

// Sorts boxes that are equal along all other dimensions along this one, and joins those without a gap.
void BoxList::join_along(size_t dimension) {
  const auto compare_others = [&](int64_t a, int64_t b) {
    const auto left = corners(a), right = corners(b);
    for (size_t i = 0; i < left.size(); ++i)
      if (i % dimensions_ != dimension && left[i] != right[i])
        return left[i] < right[i] ? -1 : 1;
    return 0;
  };
  sort_by([&](int64_t a, int64_t b) {
    const int others = compare_others(a, b);
    return others != 0 ? others < 0 : start(a)[dimension] < start(b)[dimension];
  });
  int64_t last = 0;  // the box that the next one may continue
  for (int64_t box = 1; box < size_; ++box) {
    int64_t* const before = numbers_.data() + static_cast<size_t>(last) * 2 * dimensions_;
    int64_t& length = before[dimensions_ + dimension];
    const int64_t begin = start(box)[dimension], end = begin + count(box)[dimension];
    if (compare_others(last, box) == 0 && begin <= before[dimension] + length) {
      length = std::max(length, end - before[dimension]);
    } else if (++last < box) {
      std::copy_n(corners(box).data(), 2 * dimensions_, before + 2 * dimensions_);
    }
  }
  size_ = std::min(size_, last + 1);
  numbers_.resize(static_cast<size_t>(size_) * 2 * dimensions_);
}

void BoxList::sort() {
  sort_by([&](int64_t a, int64_t b) { return std::ranges::lexicographical_compare(start(a), start(b)); });
}

void BoxList::join() {
  for (size_t dimension = dimensions_; dimension-- > 0;)
    join_along(dimension);
  sort();
}

}  // namespace windrow
