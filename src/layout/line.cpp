// SPDX-License-Identifier: BSD-3-Clause
#include "layout/line.hpp"

#include <algorithm>

namespace windrow {
namespace {

// Stripes of the line are counted from its start, so the columns of a file are rotated by the number of stripes before
// the file. Objects change along a file, so their columns stay.
LayoutComponent in_line(const LayoutComponent& component, int64_t file, int64_t place, int64_t end) {
  LayoutComponent moved = component;
  moved.file = file;
  moved.bytes = {place + component.bytes.begin, component.bytes.end < end - place ? place + component.bytes.end : end};
  if (component.object_bytes > 0)
    moved.targets.clear();
  moved.object_bytes = 0;
  if (moved.targets.empty())
    return moved;
  const int64_t turn = place / component.stripe_bytes % component.stripe_count;
  std::rotate(moved.targets.rbegin(), moved.targets.rbegin() + turn, moved.targets.rend());
  return moved;
}

}  // namespace

std::optional<StorageLayout> layout_of_line(std::span<const StorageLayout> files, int64_t begin, int64_t room) {
  StorageLayout line;
  if (files.empty() || files.size() > k_most_files_of_line)
    return std::nullopt;
  line.kind = files.front().kind;
  if (begin > 0)
    line.components.push_back({.bytes = {0, begin}, .stripe_bytes = 1, .stripe_count = 0, .targets = {}});
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].is_striped())
      return std::nullopt;
    const int64_t place = begin + static_cast<int64_t>(i) * room, end = place + room;
    line.storage_targets = std::max(line.storage_targets, files[i].storage_targets);
    for (const LayoutComponent& component : files[i].components) {
      if (component.bytes.begin >= room)
        break;
      if (component.stripe_count == 0 || place % component.stripe_bytes != 0)
        return std::nullopt;
      line.components.push_back(in_line(component, static_cast<int64_t>(i), place, end));
    }
    line.components.back().bytes.end = end;  // stripes continue after the last component
  }
  return line;
}

}  // namespace windrow
