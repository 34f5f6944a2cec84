// SPDX-License-Identifier: BSD-3-Clause
// Deal: stripes dealt out to groups of writers in a pattern that repeats, so that a domain is a set of stripes; and
// which group gets which: by target, or in turn. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "extent/extent.hpp"
#include "layout/layout.hpp"

namespace windrow {

// A part of the file in which one pattern repeats. Stripes are counted from the file's first byte.
struct DealtPart {
  Extent bytes;
  int64_t stripe_bytes = 1;
  std::vector<int> groups;  // [stripes of a period] whose each is
};

// In order of the file, without gaps, the last without an end.
struct Dealing {
  std::vector<DealtPart> parts;
  int groups = 0;
  bool by_column = false;        // of some stripes nobody knows the target, and their columns stand for it
  int64_t known_end = k_no_end;  // behind it rows of objects are dealt in turn, on whatever targets they lie
};

// Each target's stripes to one group: as many groups as targets of the component that the regions lie in, or `most`,
// which then have targets that follow each other and as nearly as they can the same bytes. Whatever regions of the
// component: the same group, unless with these regions fewer than half as many groups would have bytes as could. Then,
// where the regions lie in several components, and where objects are known one by one, the targets that hold bytes of
// the regions are dealt, by these bytes. Behind objects whose targets are known rows of objects go to the groups in
// turn. nullopt: there is nothing to choose, since there are not two groups or two targets, or nobody knows which
// stripes lie on the same one. Source: P. Dickens, J. Logan, Y-Lib: A User Level Library to Increase the Performance of
// MPI-IO in a Lustre File System Environment, section III. There is one writer for each target; that there may be
// fewer, or components, is ours.
std::optional<Dealing> deal_by_target(const std::vector<Extent>& regions, int64_t most, const StorageLayout& layout);

// Stripe i to group i modulo `groups`, wherever it lies.
std::optional<Dealing> deal_in_turn(int64_t groups, const StorageLayout& layout);

// Bytes of the most stripes of one group that follow each other in a period: no cell is longer.
int64_t longest_row(const Dealing& dealing) noexcept;

// The cells of domains that are dealt: of a domain, the stripes of a group within a stretch of the file, each is a
// stripe or a part of it, or several that follow each other. They are in file order; a window is as many of them as fit
// into a buffer. O(1), but for the number of parts and the logarithm of a group's stripes in a period.
class Deal {
 public:
  Deal(const Dealing& dealing, int64_t cell_bytes, int64_t cells_of_window = 1);

  int groups() const noexcept { return groups_; }
  int64_t cell_bytes() const noexcept { return cell_bytes_; }  // of the longest, and from one to the next in a buffer
  int64_t cells_of_window() const noexcept { return cells_of_window_; }
  // How many cells a domain has. Some may be empty, where the stretch or a part ends.
  int64_t cells(Extent stretch, int group) const noexcept;
  Extent cell(Extent stretch, int group, int64_t index) const noexcept;
  // The first that ends behind `offset`; cells(): none.
  int64_t index_of(Extent stretch, int group, int64_t offset) const noexcept;
  // Bytes of an extent that are the group's.
  int64_t bytes_in(Extent extent, int group) const noexcept;

 private:
  // Stripes of a group that follow each other, in bytes from where the period begins.
  struct Row {
    int64_t begin = 0, end = 0;
    int64_t first_cell = 0, bytes_before = 0;  // of the period
  };
  struct Part {
    Extent bytes;
    int64_t period_bytes = 1;
    std::vector<Row> rows;                // group by group
    std::vector<size_t> first_row;        // [groups + 1]
    std::vector<int64_t> cells;           // [groups] of a period
    std::vector<int64_t> bytes_of_group;  // [groups] the same
  };
  // Of a part, what a stretch has: whole periods, the first and the last of them cut off.
  struct Reach {
    Extent bytes;
    int64_t first_period = 0;
    int64_t cells = 0;
  };
  std::span<const Row> rows_of(const Part& part, int group) const noexcept;
  int64_t bytes_before(const Part& part, int group, int64_t offset) const noexcept;
  Reach reach_of(const Part& part, Extent stretch, int group) const noexcept;

  int groups_;
  int64_t cell_bytes_, cells_of_window_;
  std::vector<Part> parts_;
};

}  // namespace windrow
