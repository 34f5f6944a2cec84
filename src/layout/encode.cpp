// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "base/varint.hpp"
#include "layout/layout.hpp"

namespace windrow {
namespace {

constexpr uint64_t k_on_metadata_server = 1, k_overstriped = 2;
constexpr size_t k_numbers = 7;  // of a component

Status malformed() {
  return {Code::bad_file, "internal error: malformed layout broadcast"};
}

bool read_component(std::span<const std::byte> bytes, size_t& position, LayoutComponent& component) {
  std::array<uint64_t, k_numbers> numbers{};
  for (uint64_t& number : numbers) {
    const auto read = read_varint(bytes, position);
    if (!read || *read > static_cast<uint64_t>(INT64_MAX))
      return false;
    number = *read;
  }
  const auto whole = [&](size_t i) { return static_cast<int64_t>(numbers[i]); };
  component = {.bytes = {whole(0), whole(1)},
               .stripe_bytes = whole(2),
               .stripe_count = whole(3),
               .object_bytes = whole(4),
               .on_metadata_server = (numbers[5] & k_on_metadata_server) != 0,
               .overstriped = (numbers[5] & k_overstriped) != 0,
               .targets = {}};
  if (numbers[6] > bytes.size() - position)
    return false;  // each takes at least one byte
  for (uint64_t i = 0; i < numbers[6]; ++i) {
    const auto target = read_varint(bytes, position);
    if (!target || *target > static_cast<uint64_t>(INT64_MAX))
      return false;
    component.targets.push_back(static_cast<int64_t>(*target) - 1);
  }
  return true;
}

}  // namespace

void append_layout(std::vector<std::byte>& out, const StorageLayout& layout) {
  append_varint(out, static_cast<uint64_t>(layout.kind));
  append_varint(out, static_cast<uint64_t>(layout.storage_targets));
  append_varint(out, layout.components.size());
  for (const LayoutComponent& each : layout.components) {
    const uint64_t flags =
        (each.on_metadata_server ? k_on_metadata_server : 0) | (each.overstriped ? k_overstriped : 0);
    const std::array<int64_t, k_numbers> numbers{each.bytes.begin,
                                                 each.bytes.end,
                                                 each.stripe_bytes,
                                                 each.stripe_count,
                                                 each.object_bytes,
                                                 static_cast<int64_t>(flags),
                                                 static_cast<int64_t>(each.targets.size())};
    for (const int64_t number : numbers)
      append_varint(out, static_cast<uint64_t>(number));
    for (const int64_t target : each.targets)
      append_varint(out, static_cast<uint64_t>(target + 1));  // k_no_target is 0
  }
}

Result<StorageLayout> read_layout(std::span<const std::byte> bytes, size_t& position) {
  StorageLayout layout;
  const auto kind = read_varint(bytes, position);
  const auto targets = kind ? read_varint(bytes, position) : std::nullopt;
  const auto count = targets ? read_varint(bytes, position) : std::nullopt;
  if (!count || *targets > static_cast<uint64_t>(INT64_MAX) || *kind >= static_cast<uint64_t>(k_layout_kinds) ||
      *count > bytes.size() - position)
    return malformed();
  layout.kind = static_cast<LayoutKind>(*kind);
  layout.storage_targets = static_cast<int64_t>(*targets);
  for (uint64_t i = 0; i < *count; ++i) {
    LayoutComponent component;
    if (!read_component(bytes, position, component))
      return malformed();
    layout.components.push_back(std::move(component));
  }
  if (layout.known())
    if (Status status = check_layout(layout); !status.ok())
      return status;
  return layout;
}

}  // namespace windrow
