// SPDX-License-Identifier: BSD-3-Clause
// Item: the pieces of one request that this rank moves, with the user's memory; and the copies between that memory,
// messages and windows. All copies of the data path are in this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/copy.hpp"
#include "extent/extent.hpp"
#include "extent/pieces.hpp"
#include "plan/windows.hpp"

namespace windrow {

struct Item {
  PieceView runs;     // file offsets relative to file_base, memory offsets to memory
  Extent hull;        // smallest file extent with all runs; absolute; empty if there are no runs
  int64_t total = 0;  // bytes of all runs
  int64_t file_base = 0;
  std::byte* memory = nullptr;  // the user's; never written when data is written to the file
  int64_t swap_bytes = 1;       // reverses the bytes of elements of this size; 1: no reversal
  int element_bytes = 1;        // of a number, for compressors
};

// memcpy() without a call for single elements, which are frequent in irregular data.
inline void copy_bytes(std::byte* to, const std::byte* from, int64_t length) noexcept {
  switch (length) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 12:
      std::memcpy(to, from, 12);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    case 24:
      std::memcpy(to, from, 24);
      return;
    default:
      copy_long(to, from, static_cast<size_t>(length));
  }
}

Item make_item(PieceView runs, int64_t file_base, std::byte* memory, int64_t swap_bytes, int element_bytes = 1);

// The element size of most bytes of the items in `domain`; 1 without bytes.
int element_bytes_of(std::span<const Item> items, Extent domain);

// Visits the parts of a window that may have bytes of a list at file offset `base` with the hull `held`. If there are
// several parts, it skips those without bytes, so sparse data is cheap.
template <class Visit>
void for_each_held_part(const Window& window, PieceView runs, Extent held, int64_t base, Visit&& visit) {
  const Extent reach = window.reach();
  if (held.begin >= reach.end || held.end <= reach.begin)
    return;
  if (window.deal == nullptr)
    return visit(window.part_after(reach.begin));
  for (int64_t offset = std::max(held.begin, reach.begin); offset < held.end;) {
    const Window::Part part = window.part_after(offset);
    offset = std::max(offset, part.bytes.begin);
    if (part.bytes.empty() || offset >= held.end)
      return;
    offset = next_offset(runs, offset - base) + base;
    if (offset < part.bytes.end)
      visit(part), offset = part.bytes.end;
  }
}

// Visits (memory, offset in the window's buffer, length) of the holders' pieces in a window: holder by holder, in file
// order within a holder.
template <class Holder, class Visit>
void for_each_in(std::span<const Holder> holders, const Window& window, Visit&& visit) {
  for (const Holder& holder : holders)
    for_each_held_part(window, holder.runs, holder.hull, holder.file_base, [&](const Window::Part& part) {
      const int64_t to_place = part.place - part.bytes.begin + holder.file_base;
      for_each_piece(holder.runs, {part.bytes.begin - holder.file_base, part.bytes.end - holder.file_base},
                     [&](const Piece& piece) { visit(holder, piece.memory, piece.file + to_place, piece.length); });
    });
}

template <class Holder>
int64_t bytes_in(std::span<const Holder> holders, const Window& window) {
  int64_t bytes = 0;
  for (const Holder& holder : holders)
    for_each_held_part(window, holder.runs, holder.hull, holder.file_base, [&](const Window::Part& part) {
      if (holder.hull.begin >= part.bytes.begin && holder.hull.end <= part.bytes.end)
        bytes += holder.total;
      else
        bytes += bytes_within(holder.runs, {part.bytes.begin - holder.file_base, part.bytes.end - holder.file_base});
    });
  return bytes;
}

// The four copies of a rank's own data. `slot` has the window's bytes at their offsets; `message` has the pieces
// contiguously. Each returns the bytes copied.
int64_t place_in_slot(std::span<const Item> items, const Window& window, std::byte* slot);         // memory to slot
int64_t pack_message(std::span<const Item> items, const Window& window, std::byte* message);       // memory to message
int64_t take_from_slot(std::span<const Item> items, const Window& window, const std::byte* slot);  // slot to memory
int64_t unpack_message(std::span<const Item> items, const Window& window,
                       const std::byte* message);  // message to memory

// Copies `length` bytes that begin `phase` bytes into their first element, and reverses each element of `size` bytes.
// `whole` points to the first byte of that element on the side with whole elements (the user's memory).
void copy_swapped_from(std::byte* to, const std::byte* whole, int64_t phase, int64_t length, int64_t size);
void copy_swapped_to(std::byte* whole, const std::byte* from, int64_t phase, int64_t length, int64_t size);

}  // namespace windrow
