// SPDX-License-Identifier: BSD-3-Clause
// Places: the positions of a workload's bytes in one or several files, as offsets in a linear address space, and their
// targets. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "extent/split.hpp"
#include "layout/layout.hpp"
#include "model/machine.hpp"
#include "sim/workload.hpp"

namespace windrow {

// Consecutive pieces after `base`: those of a variable, or of its part in a subfile.
struct Share {
  int64_t base = 0;
  PieceView bytes;
  Extent hull;  // in the line
  int64_t total = 0;
};

// The bytes of one or several ranks in the line. Shares ascend and are disjoint.
class PlacedBytes {
 public:
  bool empty() const noexcept { return shares_.empty(); }
  std::span<const Share> shares() const noexcept { return shares_; }
  Extent hull() const noexcept { return {shares_.front().hull.begin, shares_.back().hull.end}; }  // not if empty()
  int64_t bytes_in(Extent window) const;
  int64_t next_offset(int64_t offset) const;  // of the first byte from it on, or of a hole before that; INT64_MAX: none
  int64_t total() const noexcept;
  Pieces pieces() const;  // as one list, maximal where shares touch; packed in memory

 private:
  friend class Places;
  std::vector<Pieces> lists_;
  std::vector<Share> shares_;
};

// A row of stripes and their targets.
struct FileStripes {
  int64_t bytes = 1;
  int64_t count = 1;
  int64_t targets = 1;  // of the machine
};

class Places {
 public:
  // `files`: 1, or the number of subfiles; fewer if the shape cannot be divided that often. `by_target`: their stripes
  // must be stripes of the line.
  static Result<Places> make(const Workload& workload, int64_t files, const SplitRequest& split, FileStripes stripes,
                             bool by_target = false);

  int64_t files() const noexcept { return split_ ? split_->parts() : 1; }
  PlacedBytes place(const HeldElements& holding) const;
  std::vector<Extent> regions() const;  // of all files, sorted and maximal
  // Of a single file, or of the line; nullopt: the files' stripes are not stripes of the line.
  std::optional<StorageLayout> layout() const;
  const FileStripes& stripes() const noexcept { return stripes_; }
  int64_t file_of(int64_t offset) const noexcept { return split_ ? (offset - k_begin) / room_ - 1 : 0; }
  int64_t begin_of(int64_t file) const noexcept { return split_ ? k_begin + (file + 1) * room_ : 0; }

  // Visits the targets of an extent within one file, visit(target, bytes): stripe by stripe, or target by target if it
  // spans many periods.
  template <class Visit>
  void for_each_target(Extent extent, Visit&& visit) const {
    const int64_t file = file_of(extent.begin), period = stripes_.bytes * stripes_.count;
    Extent inside{extent.begin - begin_of(file), extent.end - begin_of(file)};
    const int64_t periods = inside.size() / period - 1;
    if (periods > 1) {
      for (int64_t column = 0; column < stripes_.count; ++column)
        visit(target_of(file, column), periods * stripes_.bytes);
      inside.begin += periods * period;
    }
    while (!inside.empty()) {
      const int64_t stripe = inside.begin / stripes_.bytes, end = std::min(inside.end, (stripe + 1) * stripes_.bytes);
      visit(target_of(file, stripe % stripes_.count), end - inside.begin);
      inside.begin = end;
    }
  }

 private:
  // A new file continues after the targets of the previous one, shifted by one after each cycle, so that not all files
  // begin with the same target.
  int64_t target_of(int64_t file, int64_t column) const noexcept {
    const int64_t before = file * stripes_.count;
    return (before + before / stripes_.targets + column) % stripes_.targets;
  }

  // The address space of several files begins where the library's does, so that windows, which are on a fixed grid, are
  // the same: first the base file, then the subfiles.
  static constexpr int64_t k_begin = int64_t{1} << 60, k_unit = int64_t{1} << 20, k_unit_of_targets = int64_t{1} << 30;
  StorageLayout layout_of(int64_t file) const;

  int64_t variables_ = 1, variable_bytes_ = 0, element_bytes_ = 1;
  std::optional<Split> split_;
  int64_t room_ = 0;  // of the line, for each of several files
  FileStripes stripes_;
};

}  // namespace windrow
