// SPDX-License-Identifier: BSD-3-Clause
// HullBins: a hull cut into at most 512 bins. A bin is marked if the list of any rank has a byte in it. The regions of
// marked bins have all bytes of the lists, and little else. Ranks combine their bits by bitwise or. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "extent/pieces.hpp"

namespace windrow {

class HullBins {
 public:
  explicit HullBins(Extent hull) noexcept
      : hull_(hull), bin_(std::max(ceil_divide(hull.size(), k_bins), k_least_bin)) {}

  // Marks the bins that have a byte of the list, which lies in the hull. Takes O(log n) for each bin.
  void mark(PieceView list) noexcept;
  std::span<int64_t> bits() noexcept { return bits_; }
  int64_t bin_bytes() const noexcept { return bin_; }

  // Of the marked bins, sorted and maximal. May throw std::bad_alloc.
  std::vector<Extent> regions() const {
    std::vector<Extent> regions;
    for (int64_t i = 0; i * bin_ < hull_.size(); ++i) {
      if ((bits_[static_cast<size_t>(i / 64)] & bit(i)) == 0)
        continue;
      if (!regions.empty() && regions.back().end == bin_at(i).begin)
        regions.back().end = bin_at(i).end;
      else
        regions.push_back(bin_at(i));
    }
    return regions;
  }

 private:
  static constexpr int64_t k_words = 8, k_bins = 64 * k_words, k_least_bin = 4096;

  void mark(const Nest& nest) noexcept;
  void mark(Extent extent) noexcept;
  int64_t number_of(int64_t offset) const noexcept { return (offset - hull_.begin) / bin_; }
  Extent bin_at(int64_t i) const noexcept {
    const int64_t begin = hull_.begin + i * bin_;
    return {begin, begin + std::min(bin_, hull_.end - begin)};
  }
  int64_t& word(int64_t i) noexcept { return bits_[static_cast<size_t>(i / 64)]; }
  static int64_t bit(int64_t i) noexcept { return static_cast<int64_t>(uint64_t{1} << (i % 64)); }

  Extent hull_;
  int64_t bin_;
  std::array<int64_t, k_words> bits_{};
};

}  // namespace windrow
