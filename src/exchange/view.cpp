// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/view.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/varint.hpp"
#include "extent/encode.hpp"
#include "extent/sweep.hpp"

namespace windrow {
namespace {

void put_number(int64_t value, std::vector<std::byte>& out) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

bool get_number(std::span<const std::byte> bytes, size_t& position, int64_t& value) {
  if (bytes.size() - position < sizeof value)
    return false;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  position += sizeof value;
  return true;
}

bool inside(const Item& item, Extent domain) {
  return item.hull.begin >= domain.begin && item.hull.end <= domain.end;
}

Status malformed() {
  return {Code::internal, "internal error: malformed description from another rank"};
}

}  // namespace

void describe_counts(std::span<const WindowBytes> counts, std::vector<std::byte>& out) {
  int64_t before = 0;
  for (const WindowBytes& count : counts) {
    append_varint(out, static_cast<uint64_t>(count.step - before));
    append_varint(out, static_cast<uint64_t>(count.bytes));
    before = count.step;
  }
}

Result<std::vector<WindowBytes>> parse_counts(std::span<const std::byte> bytes) {
  std::vector<WindowBytes> counts;
  int64_t before = 0;
  for (size_t position = 0; position < bytes.size();) {
    const auto ahead = read_varint(bytes, position);
    const auto amount = ahead ? read_varint(bytes, position) : std::nullopt;
    if (!amount || *ahead > static_cast<uint64_t>(INT64_MAX - before) || *amount > INT64_MAX)
      return malformed();
    before += static_cast<int64_t>(*ahead);
    counts.push_back({before, static_cast<int64_t>(*amount)});
  }
  return counts;
}

// Format: groups of { number of items, their bases, runs }; ranks of one job share byte order.
void describe(std::span<const Item> items, Extent domain, std::vector<std::byte>& out) {
  for (size_t i = 0; i < items.size();) {
    const Item& item = items[i];
    if (intersect(item.hull, domain).empty()) {
      ++i;
      continue;
    }
    size_t same = i + 1;  // following items with identical runs, all inside the domain
    if (inside(item, domain))
      while (same < items.size() && items[same].runs == item.runs && inside(items[same], domain))
        ++same;
    put_number(static_cast<int64_t>(same - i), out);
    for (size_t k = i; k < same; ++k)
      put_number(items[k].file_base, out);
    encode(item.runs, {domain.begin - item.file_base, domain.end - item.file_base}, out);
    i = same;
  }
}

Result<View> parse_description(std::span<const std::byte> bytes) {
  View view;
  size_t position = 0;
  while (position < bytes.size()) {
    int64_t variables = 0;
    if (!get_number(bytes, position, variables) || variables < 1 ||
        variables > static_cast<int64_t>((bytes.size() - position) / sizeof(int64_t)))
      return malformed();
    const size_t bases = position;
    position += static_cast<size_t>(variables) * sizeof(int64_t);
    auto pieces = decode(bytes, position);
    if (!pieces.ok())
      return malformed();
    view.lists.push_back(std::move(pieces).value());
    const PieceView list = view.lists.back();
    const Extent relative = hull(list);
    size_t at = bases;
    for (int64_t k = 0; k < variables; ++k) {
      int64_t base = 0;
      if (!get_number(bytes, at, base) || base < 0)
        return malformed();
      const auto end = checked_add(relative.end, base);
      if (!end)
        return malformed();
      view.parts.push_back({list, {relative.begin + base, *end}, total_bytes(list), base});
    }
  }
  return view;
}

int64_t View::memory_bytes() const noexcept {
  auto bytes = static_cast<int64_t>(parts.size() * sizeof(ViewPart));
  for (const Pieces& list : lists)
    bytes += list.memory_bytes();
  return bytes;
}

View view_of(Pieces pieces) {
  View view;
  if (!pieces.empty())
    view.parts.push_back({pieces, hull(pieces), total_bytes(pieces), 0});
  view.lists.push_back(std::move(pieces));
  return view;
}

int64_t spread_to_slot(const View& view, const Window& window, const std::byte* message, std::byte* slot) {
  int64_t copied = 0;
  for_each_in(view.span(), window, [&](const ViewPart&, int64_t, int64_t place, int64_t length) {
    copy_bytes(slot + place, message + copied, length);
    copied += length;
  });
  return copied;
}

int64_t collect_from_slot(const View& view, const Window& window, const std::byte* slot, std::byte* message) {
  int64_t copied = 0;
  for_each_in(view.span(), window, [&](const ViewPart&, int64_t, int64_t place, int64_t length) {
    copy_bytes(message + copied, slot + place, length);
    copied += length;
  });
  return copied;
}

Pieces covered_extents(std::span<const View* const> views, std::span<const Item> items) {
  std::vector<PlacedView> lists;
  for (const View* view : views)
    for (const ViewPart& part : view->parts)
      lists.push_back({part.runs, part.file_base});
  for (const Item& item : items)
    lists.push_back({item.runs, item.file_base});
  PiecesBuilder builder;
  int64_t place = 0;
  for_each_covered_extent(std::move(lists), [&](Extent extent) {
    builder.add(Piece{extent.begin, place, extent.size()});
    place += extent.size();
  });
  return builder.take();
}

}  // namespace windrow
