// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/part_definitions.hpp"

#include <algorithm>
#include <limits>

#include "comm/agree.hpp"
#include "format/paths.hpp"

namespace windrow {
namespace {

constexpr int64_t k_undefined = std::numeric_limits<int64_t>::min();  // offset of a part that is not defined yet

int64_t files_of(const std::map<int, SplitVariable>& splits) {
  int64_t files = 0;
  for (const auto& [variable, split] : splits)
    files = std::max(files, split.split.parts());
  return files;
}

}  // namespace

// Local. Defines the parts in own subfiles. `offsets`: those of all parts of all splits; sets those of own parts.
Status PartDefinitions::define_own(std::span<const VariableDefinition> definitions,
                                   const std::map<int, SplitVariable>& splits, int first, std::span<int64_t> offsets) {
  return set_.for_own(files_of(splits), [&](int64_t number, Format& format) -> Status {
    if (Status status = map_.remove_unknown(number, format); !status.ok())
      return status;
    size_t at = 0;
    for (const auto& [variable, split] : splits) {
      const size_t own = at + static_cast<size_t>(number);
      at += split.offsets.size();
      if (!split.has_part(number))
        continue;
      auto offset = map_.define_part(format, definitions[static_cast<size_t>(variable - first)], split, number);
      if (!offset.ok())
        return offset.status();
      offsets[own] = offset.value();
    }
    return {};
  });
}

Status PartDefinitions::define(Status local, std::span<const VariableDefinition> definitions,
                               std::map<int, SplitVariable>& splits, int first) {
  std::vector<int64_t> offsets;
  Status memory = guard([&] {
    size_t length = 0;
    for (const auto& [variable, split] : splits)
      length += split.offsets.size();
    offsets.assign(length, k_undefined);
    return Status{};
  });
  if (Status verdict = agree(set_.comm(), std::move(memory)); !verdict.ok())
    return verdict;
  set_.mark_incomplete();
  if (local.ok())
    local = guard([&] { return define_own(definitions, splits, first, offsets); });
  Status verdict = agree(set_.comm(), std::move(local), Reduction{.maximum = offsets, .sum = {}, .bits = {}});
  size_t at = 0;
  for (auto& [variable, split] : splits)
    for (int64_t& offset : split.offsets)
      offset = offsets[at++];
  if (!verdict.ok()) {
    (void)guard([&] { return withdraw(splits, first); });
    drop_unused();
  }
  return verdict;
}

void PartDefinitions::end(int end, bool succeeded) {
  if (!succeeded)
    (void)guard([&] { return withdraw(map_.variables(), end); });
  map_.forget_from(end);
  if (!succeeded)
    drop_unused();
}

// Local. Removes subfiles without parts, which were made for definitions that were refused.
void PartDefinitions::drop_unused() {
  (void)guard([&] {
    for (int64_t number = map_.used(); number < map_.count(); ++number)
      map_.drop(number);
    return Status{};
  });
}

// Local. Removes the parts of the variables from number `first` on, which were refused, from own subfiles. Also removes
// the groups that were made for them.
Status PartDefinitions::withdraw(const std::map<int, SplitVariable>& splits, int first) {
  const auto is_known = [&](const std::string& group) {
    return std::any_of(set_.catalog().groups.begin(), set_.catalog().groups.end(),
                       [&](const Group& each) { return each.path == group; });
  };
  return set_.for_own(files_of(splits), [&](int64_t number, Format& format) -> Status {
    for (auto each = splits.rbegin(); each != splits.rend() && each->first >= first; ++each) {
      const SplitVariable& split = each->second;
      if (!split.has_part(number) || split.offsets[static_cast<size_t>(number)] == k_undefined)
        continue;
      std::vector<std::string> made = parents_of(split.path);
      std::erase_if(made, is_known);
      made.push_back(split.path);
      map_.withdraw(format, made);
    }
    return {};
  });
}

Status PartDefinitions::define_in_base(Format& base, const VariableDefinition& definition, const SplitVariable& split,
                                       int64_t records) const {
  VariableDefinition whole = definition;
  whole.chunking = {};  // only the parts have chunks
  std::vector<Part> parts;
  for (int64_t part = 0; part < split.split.parts(); ++part)
    parts.push_back({map_.relative_name(part), split.split.box(part)});
  if (Status status = base.define_split(whole, parts); !status.ok())
    return status;
  Status status = map_.describe(base, definition, split);
  if (!status.ok())
    (void)base.undefine(definition.path, records);
  return status;
}

}  // namespace windrow
