// SPDX-License-Identifier: BSD-3-Clause
// FillMap: fill values for unwritten elements of contiguous variables that are written for the first time. Aggregators
// put them into the holes of their windows, and write them after and between windows.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "dataio/data_file.hpp"
#include "exchange/role.hpp"

namespace windrow {

class FillMap {
 public:
  static constexpr int64_t k_buffer_bytes = int64_t{1} << 20;  // for writes outside windows

  // A variable's place in the file, and one element, which must outlive the map. In any order, disjoint.
  void add(Extent bytes, std::span<const std::byte> element);
  void sort();
  bool empty() const noexcept { return regions_.empty(); }
  void clear() noexcept { regions_.clear(); }
  bool has_gaps_up_to(int64_t bytes) const noexcept;  // between two regions, after sorting

  // Fills the bytes of the window in `slot` that are not covered.
  void complete(Extent window, std::byte* slot, PieceView covered) const;

  // Writes the fill values of `range` through `buffer`.
  void write(Extent range, std::span<std::byte> buffer, DataFile& file) const;
  int64_t requests(Extent range, int64_t buffer_bytes) const noexcept;

  // Calls visit(Extent) for the parts of the range with fill values, in file order.
  template <class Visit>
  void for_each_filled(Extent range, Visit&& visit) const {
    const auto first = std::partition_point(regions_.begin(), regions_.end(),
                                            [&](const Region& region) { return region.bytes.end <= range.begin; });
    for (auto region = first; region != regions_.end() && region->bytes.begin < range.end; ++region)
      if (const Extent part = intersect(region->bytes, range); !part.empty())
        visit(part);
  }

  // Calls visit(Extent) for covered or filled bytes in file order; adjacent ones are joined.
  template <class Visit>
  void for_each_request(Extent window, PieceView covered, Visit&& visit) const {
    Extent open{window.begin, window.begin};
    auto region = regions_.begin();
    const auto take = [&](Extent next) {
      if (next.begin <= open.end && !open.empty()) {
        open.end = std::max(open.end, next.end);
        return;
      }
      if (!open.empty())
        visit(open);
      open = next;
    };
    const auto take_regions = [&](int64_t until) {
      for (; region != regions_.end() && region->bytes.begin < until; ++region)
        if (const Extent part = intersect(region->bytes, window); !part.empty())
          take(part);
    };
    for_each_covered(covered, window, [&](Extent piece) {
      take_regions(piece.begin + 1);
      take(piece);
    });
    take_regions(window.end);
    if (!open.empty())
      visit(open);
  }

 private:
  struct Region {
    Extent bytes;
    std::span<const std::byte> element;
  };
  template <class Visit>
  void for_each_part(Extent range, Visit&& visit) const;

  std::vector<Region> regions_;  // in file order
};

// The fill values for an aggregator's sink.
struct WindowFill {
  bool wanted = false;
  FillMap map;
  Windows windows;                // windows of this rank's domain
  std::vector<std::byte> buffer;  // for writes outside windows

  // Calls visit(Extent) for the parts of the range that are filled and belong to this rank. The file may have gaps of
  // any length between variables, as between the parts of a split variable; stripes in gaps are skipped.
  template <class Visit>
  void for_each_part(Extent range, Visit&& visit) const {
    map.for_each_filled(range, [&](Extent filled) { windows.for_each_part(filled, visit); });
  }
};

}  // namespace windrow
