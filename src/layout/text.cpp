// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/units.hpp"
#include "layout/layout.hpp"

namespace windrow {
namespace {

constexpr size_t k_most_shown = 8;  // targets, components

std::string targets_text(const std::vector<int64_t>& targets) {
  if (targets.empty())
    return {};
  std::string text;
  const auto gone = static_cast<size_t>(std::count(targets.begin(), targets.end(), k_no_target));
  for (size_t i = 0; i < std::min(targets.size(), k_most_shown); ++i)
    text += (i == 0 ? "" : ", ") + (targets[i] == k_no_target ? "?" : std::to_string(targets[i]));
  if (targets.size() > k_most_shown)
    text += fmt::format(" and {} more", targets.size() - k_most_shown);
  if (gone > 0)
    text += fmt::format(" ({} not known)", gone);
  return fmt::format(" on {} {}", targets.size() == 1 ? "target" : "targets", text);
}

// For thousands of objects, which repeat the same targets.
std::string objects_text(const LayoutComponent& component) {
  if (component.targets.empty())
    return {};
  std::vector<int64_t> targets = component.targets;
  std::sort(targets.begin(), targets.end());
  const auto gone = std::count(targets.begin(), targets.end(), k_no_target);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  if (gone > 0)
    targets.erase(targets.begin());
  const std::vector<int64_t> shown(
      targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(std::min(targets.size(), k_most_shown)));
  return fmt::format(", its first {} on {}: {}{}{}", counted(component.targets.size(), "object"),
                     counted(targets.size(), "target"), fmt::join(shown, ", "),
                     targets.size() > shown.size() ? fmt::format(" and {} more", targets.size() - shown.size()) : "",
                     gone > 0 ? fmt::format(" ({} on unknown targets)", counted(gone, "object")) : "");
}

std::string component_text(const LayoutComponent& component) {
  if (component.on_metadata_server)
    return "on the metadata server";
  std::string text = fmt::format("stripe size {}", format_bytes(component.stripe_bytes));
  if (component.stripe_count > 0)
    text += fmt::format(", stripe count {}", component.stripe_count);
  if (component.object_bytes > 0)
    text += fmt::format(", object size {}", format_bytes(component.object_bytes));
  if (component.overstriped)
    text += ", overstriped";
  return text + (component.object_bytes > 0 ? objects_text(component) : targets_text(component.targets));
}

}  // namespace

std::string layout_text(const StorageLayout& layout) {
  if (!layout.known())
    return "not known";
  if (layout.kind == LayoutKind::blocks)
    return fmt::format("blocks of {}", format_bytes(layout.components.front().stripe_bytes));
  std::string text = fmt::format("{}: ", name_of(layout.kind));
  const size_t count = layout.components.size();
  for (size_t i = 0; i < std::min(count, k_most_shown); ++i) {
    const int64_t end = layout.components[i].bytes.end;
    if (i > 0)
      text += "; ";
    if (count > 1)
      text += end == k_no_end ? "then " : fmt::format("up to {} ", format_bytes(end));
    text += component_text(layout.components[i]);
  }
  if (count > k_most_shown)
    text += fmt::format("; and {} more components", count - k_most_shown);
  return text;
}

}  // namespace windrow
