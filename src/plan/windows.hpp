// SPDX-License-Identifier: BSD-3-Clause
// Windows: the bytes of a domain that one round moves. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/checked.hpp"
#include "extent/extent.hpp"
#include "plan/deal.hpp"

namespace windrow {

// The file bytes of one round of one domain. Usually they are one part, contiguous in the file and in the buffer. If
// stripes are assigned, they are the parts of several cells, at a distance of a cell's bytes in the buffer. A window
// must not outlive its Windows.
struct Window {
  Extent bytes;                // from the first to the last byte
  const Deal* deal = nullptr;  // nullptr: one part
  Extent range = {};
  int group = 0;
  int64_t first_cell = 0, cells = 1;
  int64_t message_bytes = INT64_MAX;  // largest message of a rank
  // for a part of the window: the file bytes that it has; buffer positions are those of the window
  Extent cut = {0, INT64_MAX};

  Window() noexcept = default;
  Window(Extent all) noexcept : bytes(all) {}  // NOLINT: implicit on purpose
  Window(const Deal& dealt, Extent of_range, int of_group, int64_t first, int64_t count) noexcept
      : bytes{dealt.cell(of_range, of_group, first).begin, dealt.cell(of_range, of_group, first + count - 1).end},
        deal(&dealt),
        range(of_range),
        group(of_group),
        first_cell(first),
        cells(count) {}

  bool empty() const noexcept { return bytes.empty(); }
  // The part of the window within an extent.
  Window part_in(Extent extent) const noexcept {
    Window part = *this;
    part.cut = intersect(cut, extent);
    return part;
  }
  // The range from the first to the last file byte that the window may have.
  Extent reach() const noexcept { return intersect(bytes, cut); }
  struct Part {
    Extent bytes;
    int64_t place = 0;  // in the buffer
  };
  // The first part that ends after the offset; empty: none.
  Part part_after(int64_t offset) const noexcept {
    if (deal == nullptr)
      return offset < reach().end ? part_of(bytes, 0) : Part{};
    for (int64_t i = std::max<int64_t>(0, deal->index_of(range, group, std::max(offset, cut.begin)) - first_cell);
         i < cells; ++i) {
      const Extent cell = deal->cell(range, group, first_cell + i);
      if (cell.begin >= cut.end)
        return {};
      if (const Part part = part_of(cell, i * deal->cell_bytes()); !part.bytes.empty() && part.bytes.end > offset)
        return part;
    }
    return {};
  }
  // Visits (part, position in the buffer) in file order.
  template <class Visit>
  void for_each_part(Visit&& visit) const {
    const auto visit_part = [&](Extent whole, int64_t place) {
      if (const Part part = part_of(whole, place); !part.bytes.empty())
        visit(part.bytes, part.place);
    };
    if (deal == nullptr)
      return visit_part(bytes, 0);
    for (int64_t i = 0; i < cells; ++i)
      visit_part(deal->cell(range, group, first_cell + i), i * deal->cell_bytes());
  }

 private:
  Part part_of(Extent whole, int64_t place) const noexcept {
    const Extent inside = intersect(whole, cut);
    return {inside, place + inside.begin - whole.begin};
  }
};

// All windows of a domain, in the order of rounds, which is file order. Their boundaries are multiples of `bytes` from
// the start of the file, so that requests are aligned wherever a domain begins. If stripes are assigned, windows begin
// at the group's stripes, and some may be empty. Several groups with the same range start at different positions and
// wrap around: in file order all of them would wait at the same time for the one rank that holds the rows there.
// Plan::sharers_in_order is the exception.
struct Windows {
  Extent domain;
  int64_t bytes = 1;
  std::shared_ptr<const Deal> deal = nullptr;  // restricts the domain to the group's stripes
  int group = 0;
  int64_t start = 0;                  // assigned stripes: index in file order of the first window
  int64_t message_bytes = INT64_MAX;  // largest message for a rank's bytes of a window

  int64_t first() const noexcept { return domain.begin / bytes; }
  int64_t count() const noexcept {
    if (deal)
      return ceil_divide(deal->cells(domain, group), deal->cells_of_window());
    return domain.empty() ? 0 : (domain.end - 1) / bytes - first() + 1;
  }
  Window window(int64_t index) const noexcept {
    Window window = window_at(index);
    window.message_bytes = message_bytes;
    return window;
  }
  // The whole domain as one window. A group may have no stripe in its range.
  Window whole() const noexcept {
    if (!deal)
      return domain;
    const int64_t cells = deal->cells(domain, group);
    return cells > 0 ? Window(*deal, domain, group, 0, cells) : Window(Extent{domain.begin, domain.begin});
  }
  // The window that contains the offset; if it is not in the domain, the next window.
  int64_t index_of(int64_t offset) const noexcept {
    if (!deal)
      return offset / bytes - first();
    const int64_t in_file = in_file_order(offset), all = count();
    return in_file == all ? all : in_file >= start ? in_file - start : in_file + all - start;
  }
  // The first window from `index` on that may have bytes. `next_offset(offset)` is the first offset with data from
  // `offset` on. count(): none.
  template <class NextOffset>
  int64_t leap(int64_t index, NextOffset&& next_offset) const {
    const int64_t all = count();
    if (index >= all)
      return all;
    const int64_t offset = next_offset(window(index).bytes.begin);
    if (start == 0)
      return offset < domain.end ? index_of(offset) : all;
    int64_t found = offset < domain.end ? in_file_order(offset) : all;
    if (index < all - start) {
      if (found < all)
        return found - start;
      const int64_t again = next_offset(domain.begin);
      found = again < domain.end ? in_file_order(again) : all;
    }
    return found < start ? found + all - start : all;
  }

  // Bytes that a slot needs for the largest window.
  int64_t slot_bytes() const noexcept { return deal ? bytes : std::min(bytes, domain.size()); }
  // Bytes of an extent that are in the domain. O(1) apart from the number of parts of a deal.
  int64_t bytes_in(Extent extent) const noexcept {
    const Extent inside = intersect(extent, domain);
    return inside.empty() ? 0 : deal ? deal->bytes_in(inside, group) : inside.size();
  }
  // The first contiguous bytes of the domain from `offset` on, at most one cell; empty: none.
  Extent next_part(int64_t offset) const noexcept {
    const Extent rest = intersect(domain, {offset, domain.end});
    if (!deal || rest.empty())
      return rest;
    const int64_t cells = deal->cells(domain, group);
    for (int64_t index = deal->index_of(domain, group, rest.begin); index < cells; ++index)
      if (const Extent part = intersect(deal->cell(domain, group, index), rest); !part.empty())
        return part;
    return {};
  }
  // Visits the bytes of an extent that are in the domain, in file order.
  template <class Visit>
  void for_each_part(Extent extent, Visit&& visit) const {
    for (Extent part = next_part(extent.begin); !part.empty() && part.begin < extent.end; part = next_part(part.end))
      visit(intersect(part, extent));
  }

 private:
  Window window_at(int64_t index) const noexcept {
    if (deal) {
      const int64_t all = count(), in_file = index < all - start ? index + start : index - (all - start);
      const int64_t first_cell = in_file * deal->cells_of_window();
      return {*deal, domain, group, first_cell,
              std::min(deal->cells_of_window(), deal->cells(domain, group) - first_cell)};
    }
    const int64_t cell = (first() + index) * bytes;
    return intersect(domain, {cell, cell + bytes});
  }
  int64_t in_file_order(int64_t offset) const noexcept {
    const int64_t cell = deal->index_of(domain, group, offset);
    return cell < deal->cells(domain, group) ? cell / deal->cells_of_window() : count();
  }
};

}  // namespace windrow
