// SPDX-License-Identifier: BSD-3-Clause
#include "layout/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

constexpr std::array<std::string_view, k_layout_kinds> k_names{"blocks", "lustre", "cephfs", "beegfs", "mock"};

std::string fault_of_place(Extent bytes, int64_t expected_begin) {
  const auto [begin, end] = bytes;
  if (begin < 0 || end < 0)
    return "begins or ends at a negative offset";
  if (end <= begin)
    return fmt::format("is empty: it begins at {} and ends at {}", begin, end);
  if (begin < expected_begin)
    return fmt::format("begins at {}, but another one ends at {}: they overlap", begin, expected_begin);
  if (begin > expected_begin)
    return fmt::format("begins at {}, but no component has the bytes from {}: one is missing", begin, expected_begin);
  return {};
}

std::string fault_of_targets(const LayoutComponent& component) {
  const auto targets = static_cast<int64_t>(component.targets.size());
  const int64_t stripes = component.stripe_count;
  if (targets == 0)
    return {};
  if (component.object_bytes == 0 && targets != stripes)
    return fmt::format("has {} for {}", counted(targets, "target"), counted(stripes, "stripe"));
  if (component.object_bytes > 0 && (stripes == 0 || targets % stripes != 0))
    return fmt::format("has targets for {}, which is not a multiple of rows of {}", counted(targets, "object"),
                       stripes);
  if (std::any_of(component.targets.begin(), component.targets.end(),
                  [](int64_t target) { return target < k_no_target; }))
    return "has a target with a negative number";
  return {};
}

std::string fault_of(const LayoutComponent& component, int64_t expected_begin) {
  if (std::string fault = fault_of_place(component.bytes, expected_begin); !fault.empty())
    return fault;
  if (component.stripe_bytes < 1)
    return fmt::format("has stripes of {}", counted(component.stripe_bytes, "byte"));
  if (component.stripe_count < 0 || component.stripe_count > k_most_stripes)
    return fmt::format("has {}; the maximum is {}", counted(component.stripe_count, "stripe"), k_most_stripes);
  if (component.object_bytes < 0 || component.object_bytes % component.stripe_bytes != 0)
    return fmt::format("has objects of {}, which is not a multiple of stripes of {}",
                       counted(component.object_bytes, "byte"), component.stripe_bytes);
  return fault_of_targets(component);
}

// The component that contains a byte; after the end, the last component.
const LayoutComponent& component_at(const StorageLayout& layout, int64_t offset) noexcept {
  const auto found = std::upper_bound(layout.components.begin(), layout.components.end(), offset,
                                      [](int64_t at, const LayoutComponent& each) { return at < each.bytes.end; });
  return found == layout.components.end() ? layout.components.back() : *found;
}

}  // namespace

std::string_view name_of(LayoutKind kind) noexcept {
  return k_names[static_cast<size_t>(kind)];
}

Status check_layout(const StorageLayout& layout) {
  const auto named = [&](std::string what) {
    return Status(Code::bad_file, fmt::format("layout of {}: {}", name_of(layout.kind), std::move(what)));
  };
  if (layout.components.empty())
    return named("it has no component");
  int64_t end = 0;
  for (size_t i = 0; i < layout.components.size(); ++i) {
    const std::string fault = fault_of(layout.components[i], end);
    if (!fault.empty())
      return named(layout.components.size() == 1 ? "it " + fault : fmt::format("component {} {}", i + 1, fault));
    end = layout.components[i].bytes.end;
  }
  return {};
}

Stripe stripe_at(const StorageLayout& layout, int64_t offset) noexcept {
  const LayoutComponent& component = component_at(layout, offset);
  const int64_t bytes = component.stripe_bytes, begin = round_down(offset, bytes);
  Stripe stripe{
      .bytes = {begin, checked_add(begin, bytes).value_or(k_no_end)}, .index = offset / bytes, .column = k_no_target};
  const bool after_end = offset >= component.bytes.end;
  stripe.bytes.begin = std::max(stripe.bytes.begin, after_end ? component.bytes.end : component.bytes.begin);
  if (!after_end)
    stripe.bytes.end = std::min(stripe.bytes.end, component.bytes.end);
  if (after_end || component.stripe_count == 0)
    return stripe;
  stripe.column = stripe.index % component.stripe_count;
  const auto object = static_cast<uint64_t>(object_of(component, stripe.index));
  if (object < component.targets.size())
    stripe.target = component.targets[object];
  return stripe;
}

int64_t target_of(const StorageLayout& layout, int64_t offset) noexcept {
  return stripe_at(layout, offset).target;
}

int64_t next_stripe(const StorageLayout& layout, int64_t offset) noexcept {
  return stripe_at(layout, offset).bytes.end;
}

int64_t object_of(const LayoutComponent& component, int64_t stripe) noexcept {
  const int64_t column = stripe % component.stripe_count;
  if (component.object_bytes == 0)
    return column;
  return stripe / component.stripe_count / (component.object_bytes / component.stripe_bytes) * component.stripe_count +
         column;
}

int64_t offset_of_object(const LayoutComponent& component, int64_t object) noexcept {
  const auto in_row = checked_multiply(component.stripe_bytes, object % component.stripe_count);
  const auto row = checked_multiply(component.object_bytes, object / component.stripe_count * component.stripe_count);
  return row && in_row ? checked_add(*row, *in_row).value_or(k_no_end) : k_no_end;
}

int64_t end_of_targets(const LayoutComponent& component) noexcept {
  if (component.targets.empty())
    return component.bytes.begin;
  if (component.object_bytes == 0)
    return component.bytes.end;
  const int64_t end = offset_of_object(component, static_cast<int64_t>(component.targets.size()));
  return std::clamp(end, component.bytes.begin, component.bytes.end);
}

int64_t count_targets(const LayoutComponent& component) {
  if (component.object_bytes == 0 || component.targets.empty())
    return component.stripe_count;
  std::set<int64_t> targets(component.targets.begin(), component.targets.end());
  targets.erase(k_no_target);
  return static_cast<int64_t>(targets.size());
}

bool names_targets(const StorageLayout& layout) noexcept {
  return std::any_of(layout.components.begin(), layout.components.end(),
                     [](const LayoutComponent& each) { return !each.targets.empty(); });
}

int64_t lock_unit(const StorageLayout& layout) noexcept {
  int64_t unit = 1;
  for (const LayoutComponent& component : layout.components)
    unit = std::max(unit, component.stripe_bytes);
  return unit;
}

}  // namespace windrow
