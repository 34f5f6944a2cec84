// SPDX-License-Identifier: BSD-3-Clause
#include "dataio/fill_map.hpp"

#include "base/paint.hpp"

namespace windrow {

void FillMap::add(Extent bytes, std::span<const std::byte> element) {
  regions_.push_back({bytes, element});
}

void FillMap::sort() {
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.bytes.begin < b.bytes.begin; });
}

bool FillMap::has_gaps_up_to(int64_t bytes) const noexcept {
  for (size_t i = 1; i < regions_.size(); ++i)
    if (const int64_t gap = regions_[i].bytes.begin - regions_[i - 1].bytes.end; gap != 0 && gap <= bytes)
      return true;
  return false;
}

// visit(part of the range, bytes from the start of an element to the start of the part, element)
template <class Visit>
void FillMap::for_each_part(Extent range, Visit&& visit) const {
  const auto first = std::partition_point(regions_.begin(), regions_.end(),
                                          [&](const Region& region) { return region.bytes.end <= range.begin; });
  for (auto region = first; region != regions_.end() && region->bytes.begin < range.end; ++region) {
    const Extent part = intersect(region->bytes, range);
    if (!part.empty())
      visit(part, (part.begin - region->bytes.begin) % static_cast<int64_t>(region->element.size()), region->element);
  }
}

void FillMap::complete(Extent window, std::byte* slot, PieceView covered) const {
  for_each_part(window, [&](Extent part, int64_t phase, std::span<const std::byte> element) {
    int64_t position = part.begin;
    const auto fill_to = [&](int64_t end) {
      if (end <= position)
        return;
      paint({slot + (position - window.begin), static_cast<size_t>(end - position)},
            (phase + position - part.begin) % static_cast<int64_t>(element.size()), element);
    };
    for_each_covered(covered, part, [&](Extent piece) {
      fill_to(piece.begin);
      position = piece.end;
    });
    fill_to(part.end);
  });
}

void FillMap::write(Extent range, std::span<std::byte> buffer, DataFile& file) const {
  for_each_part(range, [&](Extent part, int64_t phase, std::span<const std::byte> element) {
    const auto room = static_cast<int64_t>(buffer.size());
    for (int64_t position = part.begin; position < part.end; position += room) {
      const auto bytes = buffer.first(static_cast<size_t>(std::min(room, part.end - position)));
      paint(bytes, (phase + position - part.begin) % static_cast<int64_t>(element.size()), element);
      file.write(position, bytes);
    }
  });
}

int64_t FillMap::requests(Extent range, int64_t buffer_bytes) const noexcept {
  int64_t count = 0;
  for_each_part(range, [&](Extent part, int64_t, std::span<const std::byte>) {
    count += (part.size() + buffer_bytes - 1) / buffer_bytes;
  });
  return count;
}

}  // namespace windrow
