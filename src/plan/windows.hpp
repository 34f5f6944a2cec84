// SPDX-License-Identifier: BSD-3-Clause
// Windows: what of a domain is moved in one round. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/checked.hpp"
#include "extent/extent.hpp"
#include "plan/deal.hpp"

namespace windrow {

// The file bytes of one round of one domain. They are one part, which lies in the buffer as it does in the file; where
// stripes are dealt they are the parts of several cells, each of which begins a cell's bytes behind the one before.
// Must not outlive its windows.
struct Window {
  Extent bytes;                // from the first to the last
  const Deal* deal = nullptr;  // nullptr: one part
  Extent stretch = {};
  int group = 0;
  int64_t first_cell = 0, cells = 1;
  int64_t message_bytes = INT64_MAX;  // what of it a rank sends or takes at once
  Extent cut = {0, INT64_MAX};  // of a part of the window, the file bytes that are in it; their places in the buffer
                                // are the window's

  Window() noexcept = default;
  Window(Extent all) noexcept : bytes(all) {}  // NOLINT: implicit on purpose
  Window(const Deal& dealt, Extent of_stretch, int of_group, int64_t first, int64_t count) noexcept
      : bytes{dealt.cell(of_stretch, of_group, first).begin, dealt.cell(of_stretch, of_group, first + count - 1).end},
        deal(&dealt),
        stretch(of_stretch),
        group(of_group),
        first_cell(first),
        cells(count) {}

  bool empty() const noexcept { return bytes.empty(); }
  // What of the window is in an extent.
  Window part_in(Extent extent) const noexcept {
    Window part = *this;
    part.cut = intersect(cut, extent);
    return part;
  }
  // The file bytes from the first to the last that may be in it.
  Extent reach() const noexcept { return intersect(bytes, cut); }
  struct Part {
    Extent bytes;
    int64_t place = 0;  // in the buffer
  };
  // The first part that ends behind the offset; empty: there is none.
  Part part_behind(int64_t offset) const noexcept {
    if (deal == nullptr)
      return offset < reach().end ? part_of(bytes, 0) : Part{};
    for (int64_t i = std::max<int64_t>(0, deal->index_of(stretch, group, std::max(offset, cut.begin)) - first_cell);
         i < cells; ++i) {
      const Extent cell = deal->cell(stretch, group, first_cell + i);
      if (cell.begin >= cut.end)
        return {};
      if (const Part part = part_of(cell, i * deal->cell_bytes()); !part.bytes.empty() && part.bytes.end > offset)
        return part;
    }
    return {};
  }
  // Visits (part, place in the buffer) in file order.
  template <class Visit>
  void for_each_part(Visit&& visit) const {
    const auto visit_part = [&](Extent whole, int64_t place) {
      if (const Part part = part_of(whole, place); !part.bytes.empty())
        visit(part.bytes, part.place);
    };
    if (deal == nullptr)
      return visit_part(bytes, 0);
    for (int64_t i = 0; i < cells; ++i)
      visit_part(deal->cell(stretch, group, first_cell + i), i * deal->cell_bytes());
  }

 private:
  Part part_of(Extent whole, int64_t place) const noexcept {
    const Extent inside = intersect(whole, cut);
    return {inside, place + inside.begin - whole.begin};
  }
};

// All windows of a domain, in the order in which they are moved, which is the file's. They lie on a grid of `bytes`
// from the file's start, so that requests begin and end at even addresses wherever a domain begins; those of a dealt
// domain begin where its stripes do, and some may be empty. Where several groups are dealt the same stretch each begins
// at another place and comes to what lies before it in the end: in file order all of them would wait at the same time
// for the one rank that holds the rows there. Not so where Plan::sharers_in_order says it.
struct Windows {
  Extent domain;
  int64_t bytes = 1;
  std::shared_ptr<const Deal> deal = nullptr;  // only what is dealt to the group
  int group = 0;
  int64_t start = 0;                  // of what is dealt: which window of the file's order is the first
  int64_t message_bytes = INT64_MAX;  // a rank's bytes of a window are messages of no more than so many

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
  // All of the domain as one. A group may have no stripe in the stretch that it is dealt.
  Window whole() const noexcept {
    if (!deal)
      return domain;
    const int64_t cells = deal->cells(domain, group);
    return cells > 0 ? Window(*deal, domain, group, 0, cells) : Window(Extent{domain.begin, domain.begin});
  }
  // Of the window that holds the offset; where it is not in the domain, of the next.
  int64_t index_of(int64_t offset) const noexcept {
    if (!deal)
      return offset / bytes - first();
    const int64_t in_file = in_file_order(offset), all = count();
    return in_file == all ? all : in_file >= start ? in_file - start : in_file + all - start;
  }
  // The first window from `index` on that may have bytes, where `next_offset(offset)` is that of the next at or behind
  // an offset; count(): none.
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

  // Bytes that a slot has to hold for any of them.
  int64_t slot_bytes() const noexcept { return deal ? bytes : std::min(bytes, domain.size()); }
  // Bytes of an extent that are in the domain. O(1), but for the number of parts of a deal.
  int64_t bytes_in(Extent extent) const noexcept {
    const Extent inside = intersect(extent, domain);
    return inside.empty() ? 0 : deal ? deal->bytes_in(inside, group) : inside.size();
  }
  // From `offset` on the first bytes of the domain that follow each other, as far as a cell goes; empty: there are
  // none.
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
  // Visits what of an extent is in the domain, in file order.
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
