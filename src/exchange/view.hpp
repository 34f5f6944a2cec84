// SPDX-License-Identifier: BSD-3-Clause
// View: what one rank knows of another rank's items: the file bytes only. It is sent as a description: delta-coded,
// once for all items with the same list of ranges. It stays in that compact form after it was
// received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "exchange/item.hpp"

namespace windrow {

struct ViewPart {
  PieceView runs;  // relative to file_base; of one of the view's lists
  Extent hull;
  int64_t total = 0;
  int64_t file_base = 0;
};

struct View {
  std::vector<Pieces> lists;
  std::vector<ViewPart> parts;
  std::span<const ViewPart> span() const noexcept { return parts; }
  int64_t memory_bytes() const noexcept;
};

// Bytes of a rank in the window of a step. This suffices for an aggregator if the rank copies into shared slots and all
// ranks' bytes together leave no holes: O(windows), whatever the number of pieces.
struct WindowBytes {
  int64_t step = 0;
  int64_t bytes = 0;
};
void describe_counts(std::span<const WindowBytes> counts, std::vector<std::byte>& out);  // ascending steps
Result<std::vector<WindowBytes>> parse_counts(std::span<const std::byte> bytes);         // Code::internal, as below

// Appends the file bytes of the items within `domain`, in the order of the items, which is the order of pieces in
// messages.
void describe(std::span<const Item> items, Extent domain, std::vector<std::byte>& out);

// Code::internal if the bytes are not a description.
Result<View> parse_description(std::span<const std::byte> bytes);

// A view of absolute pieces, for the union of a team.
View view_of(Pieces pieces);

int64_t spread_to_slot(const View& view, const Window& window, const std::byte* message, std::byte* slot);
int64_t collect_from_slot(const View& view, const Window& window, const std::byte* slot, std::byte* message);

// Maximal contiguous extents of everything that the views and items hold. The memory of each is its offset in a packed
// message.
Pieces covered_extents(std::span<const View* const> views, std::span<const Item> items);

}  // namespace windrow
