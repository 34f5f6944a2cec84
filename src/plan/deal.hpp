// SPDX-License-Identifier: BSD-3-Clause
// Deal: assigns stripes to groups of writers in a periodic pattern, so that a domain is a set of stripes. The
// assignment is by target or round-robin. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "extent/extent.hpp"
#include "layout/layout.hpp"

namespace windrow {

// A part of the file with one periodic pattern. Stripes are counted from the start of the file.
struct DealtPart {
  Extent bytes;
  int64_t stripe_bytes = 1;
  std::vector<int> groups;  // [stripes of a period] group of each
};

// In file order without gaps; the last part is unbounded.
struct Dealing {
  std::vector<DealtPart> parts;
  int groups = 0;
  bool by_column = false;        // some targets are unknown; their columns stand for them
  int64_t known_end = k_no_end;  // after this offset rows of objects are assigned round-robin, for any targets
};

// Assigns the stripes of each target to one group. There are as many groups as targets of the component that contains
// the regions, or `most`; in that case a group has consecutive targets, and the groups have about the same number of
// bytes.
//
// The assignment does not depend on the regions within a component, unless fewer than half as many groups would have
// bytes as could. In that case, and if the regions lie in several components or targets are known for single objects
// only, the targets with bytes of the regions are assigned, weighted by these bytes. After the last object with a known
// target, rows of objects are assigned round-robin.
//
// nullopt: there is nothing to choose, because there are fewer than two groups or targets, or it is unknown which
// stripes share a target. Source: P. Dickens, J. Logan, Y-Lib: A User Level Library to Increase the Performance of
// MPI-IO in a Lustre File System Environment, section III. The paper has one writer for each target; fewer writers, and
// components, are our additions.
std::optional<Dealing> deal_by_target(const std::vector<Extent>& regions, int64_t most, const StorageLayout& layout);

// Assigns stripe i to group i modulo `groups`, for any targets.
std::optional<Dealing> deal_in_turn(int64_t groups, const StorageLayout& layout);

// The longest run of consecutive stripes of one group in a period, in bytes: no cell is longer.
int64_t longest_row(const Dealing& dealing) noexcept;

// The cells of assigned domains. The domain of a group is its stripes within a range of the file; a cell is a stripe, a
// part of one, or several consecutive ones. Cells are in file order; a window is as many of them as fit into a buffer.
// Queries are O(1), apart from the number of parts and the logarithm of a group's stripes in a period.
class Deal {
 public:
  Deal(const Dealing& dealing, int64_t cell_bytes, int64_t cells_of_window = 1);

  int groups() const noexcept { return groups_; }
  // of the longest cell; the distance between cells in a buffer
  int64_t cell_bytes() const noexcept { return cell_bytes_; }
  int64_t cells_of_window() const noexcept { return cells_of_window_; }
  // Number of cells of a domain. Some may be empty, at the end of the range or of a part.
  int64_t cells(Extent range, int group) const noexcept;
  Extent cell(Extent range, int group, int64_t index) const noexcept;
  // The first cell that ends after `offset`; cells(): none.
  int64_t index_of(Extent range, int group, int64_t offset) const noexcept;
  // Bytes of an extent that belong to the group.
  int64_t bytes_in(Extent extent, int group) const noexcept;

 private:
  // Consecutive stripes of a group, in bytes from the start of the period.
  struct Row {
    int64_t begin = 0, end = 0;
    int64_t first_cell = 0, bytes_before = 0;  // within the period
  };
  struct Part {
    Extent bytes;
    int64_t period_bytes = 1;
    std::vector<Row> rows;                // grouped by group
    std::vector<size_t> first_row;        // [groups + 1]
    std::vector<int64_t> cells;           // [groups] in a period
    std::vector<int64_t> bytes_of_group;  // [groups] in a period
  };
  // The part's share of a range: whole periods, of which the first and the last may be cut.
  struct Reach {
    Extent bytes;
    int64_t first_period = 0;
    int64_t cells = 0;
  };
  std::span<const Row> rows_of(const Part& part, int group) const noexcept;
  int64_t bytes_before(const Part& part, int group, int64_t offset) const noexcept;
  Reach reach_of(const Part& part, Extent range, int group) const noexcept;

  int groups_;
  int64_t cell_bytes_, cells_of_window_;
  std::vector<Part> parts_;
};

}  // namespace windrow
