// SPDX-License-Identifier: BSD-3-Clause
// Item: the pieces of one variable that this rank moves, with the user's memory; and the copies between that memory, messages
// and windows. All copies of the data path are here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "extent/extent.hpp"
#include "extent/pieces.hpp"

namespace windrow {

struct Item {
  PieceView runs;                 // file offsets relative to file_base, memory offsets to memory
  Extent hull;                    // absolute; empty when there are no runs
  int64_t total = 0;              // bytes of all runs
  int64_t file_base = 0;
  std::byte* memory = nullptr;    // the user's; never written through when writing
  int64_t swap_bytes = 1;         // reverse the bytes of each element of this size; 1: as they are
  int element_bytes = 1;          // of a number, for compressors
};

// memcpy, without a call for single elements: irregular data is full of them.
inline void copy_bytes(std::byte* to, const std::byte* from, int64_t length) noexcept {
  switch (length) {
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 12: std::memcpy(to, from, 12); return;
    case 16: std::memcpy(to, from, 16); return;
    case 24: std::memcpy(to, from, 24); return;
    default: std::memcpy(to, from, static_cast<size_t>(length));
  }
}

Item make_item(PieceView runs, int64_t file_base, std::byte* memory, int64_t swap_bytes, int element_bytes = 1);

// Of most of the items' bytes in `domain`; 1 where there are none.
int element_bytes_of(std::span<const Item> items, Extent domain);

// Visits (memory, file offset, length) of the parts' pieces in a window: part by part, in file order within a part.
template <class Part, class Visit>
void for_each_in(std::span<const Part> parts, Extent window, Visit&& visit) {
  for (const Part& part : parts) {
    if (part.hull.begin >= window.end || part.hull.end <= window.begin) continue;
    const Extent relative{window.begin - part.file_base, window.end - part.file_base};
    for_each_piece(part.runs, relative, [&](const Piece& piece) { visit(part, piece.memory, piece.file + part.file_base, piece.length); });
  }
}

template <class Part>
int64_t bytes_in(std::span<const Part> parts, Extent window) {
  int64_t bytes = 0;
  for (const Part& part : parts) {
    if (part.hull.begin >= window.end || part.hull.end <= window.begin) continue;
    if (part.hull.begin >= window.begin && part.hull.end <= window.end) {
      bytes += part.total;
      continue;
    }
    bytes += bytes_within(part.runs, {window.begin - part.file_base, window.end - part.file_base});
  }
  return bytes;
}

// The four copies of a rank's own data. `slot` holds the window's bytes at their places; `message` holds the pieces one after
// the other. Each returns the bytes copied.
int64_t place_in_slot(std::span<const Item> items, Extent window, std::byte* slot);            // memory to slot
int64_t pack_message(std::span<const Item> items, Extent window, std::byte* message);          // memory to message
int64_t take_from_slot(std::span<const Item> items, Extent window, const std::byte* slot);     // slot to memory
int64_t unpack_message(std::span<const Item> items, Extent window, const std::byte* message);  // message to memory

// Copies `length` bytes that lie `phase` bytes into their first element, reversing each element of `size` bytes. `whole` points to
// the first element's first byte on the side of whole elements (the user's memory).
void copy_swapped_from(std::byte* to, const std::byte* whole, int64_t phase, int64_t length, int64_t size);
void copy_swapped_to(std::byte* whole, const std::byte* from, int64_t phase, int64_t length, int64_t size);

}  // namespace windrow
