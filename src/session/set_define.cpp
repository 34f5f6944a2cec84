// SPDX-License-Identifier: BSD-3-Clause
// A set's variables are defined: how each is split, its parts in their subfiles, and what the base file says of it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "format/check.hpp"
#include "session/file.hpp"
#include "session/file_count.hpp"
#include "session/paths.hpp"

namespace windrow {
namespace {

constexpr int64_t k_unknown = std::numeric_limits<int64_t>::min();

}  // namespace

// How a variable is to be split, or not at all. The same on every rank.
Result<std::optional<Split>> File::split_of(const VariableDefinition& definition) const {
  std::optional<Split> none;
  if (!subfiles_ || (definition.split.axes == "none" && definition.split.parts == "auto")) return none;
  const bool whole = definition.null_space || is_moved_whole(definition.type, definition.details) || definition.shape.empty();
  if (whole) {
    if (!definition.split_asked) return none;
    return Status(Code::bad_argument,
                  fmt::format("variable \"{}\": a scalar, a null space or text of variable length cannot be split over subfiles", definition.path));
  }
  SplitRequest request = definition.split;
  request.count = subfiles_->count();
  request.unit = definition.chunking.shape;  // parts of whole chunks have the chunks of the whole
  std::vector<int64_t> shape = definition.shape;
  if (definition.extendible) shape[0] = 1;  // each record for itself: what grows is not cut along its growth
  if (!files_reason_.empty() && request.parts == "auto") {
    const int64_t bytes = checked_product(shape).value_or(0) * element_bytes(definition.type, definition.details);
    request.count = std::clamp<int64_t>(bytes / k_least_part_bytes, 1, request.count);
  }
  auto split = make_split(request, shape);
  if (!split.ok()) {
    // What only the file's options ask for is for variables that can have it.
    if (!definition.split_asked || split.status().code() == Code::not_found) return none;
    return Status(split.status().code(), fmt::format("variable \"{}\": {}{}", definition.path, split.status().message(),
                                                     definition.extendible ? "; along the dimension that grows, which counts as 1 here, it cannot be cut" : ""));
  }
  if (split.value().parts() == 1) return none;
  return std::optional<Split>(std::move(split).value());
}

// Local: whether there is an address for every byte of all files with what is to be defined.
Status File::check_room_in_set(std::span<const VariableDefinition> definitions, const std::map<int, SplitVariable>& splits, int first) const {
  constexpr int64_t k_of_metadata = FileLine::k_unit;
  int64_t bytes = 0;
  for (size_t i = 0; subfiles_ && i < definitions.size(); ++i) {
    const auto split = splits.find(first + static_cast<int>(i));
    int64_t elements = split == splits.end() ? checked_product(definitions[i].shape).value_or(0) : 0;
    for (int64_t part = 0; split != splits.end() && part < split->second.split.parts(); ++part)
      elements = std::max(elements, split->second.split.elements(part));
    bytes += elements * element_bytes(definitions[i].type, definitions[i].details) + settings_.bytes("alignment") + k_of_metadata;
    if (bytes < 0 || !subfiles_->has_room(bytes))
      return {Code::bad_argument, fmt::format("variable \"{}\": its set of {} would be larger than a set can be", definitions[i].path, counted(subfiles_->count(), "subfile"))};
  }
  return {};
}

// Collective. Makes the parts of those definitions that are split, from variable number `first` on; `splits` are theirs. Every rank has its memory
// for them already: [variables] offsets that are not known yet.
Status File::define_parts(std::span<VariableDefinition> definitions, std::map<int, SplitVariable>& splits, int first) {
  std::vector<int64_t> offsets;
  Status local = guard([&] {
    size_t length = 0;
    for (const auto& [variable, split] : splits) length += split.offsets.size();
    offsets.assign(length, k_unknown);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok()) return verdict;
  sealed_ = false;
  local = guard([&] { return cut_leftovers(); });
  if (local.ok()) local = guard([&] {
    return for_own_subfiles([&](int64_t number, Format& format) -> Status {
      size_t at = 0;
      for (const auto& [variable, split] : splits) {
        const size_t place = at + static_cast<size_t>(number);
        at += split.offsets.size();
        if (number >= split.split.parts()) continue;
        auto offset = subfiles_->define_part(format, definitions[static_cast<size_t>(variable - first)], split, number);
        if (!offset.ok()) return offset.status();
        offsets[place] = offset.value();
      }
      return {};
    });
  });
  Status verdict = agree(*comm_, std::move(local), Pulse{.maximum = offsets, .sum = {}, .bits = {}});
  is_cut_ = is_cut_ || verdict.ok();
  size_t at = 0;
  for (auto& [variable, split] : splits)
    for (int64_t& offset : split.offsets) offset = offsets[at++];
  if (!verdict.ok()) withdraw_parts(splits, first);
  return verdict;
}

// Local: the parts of variables that were refused, from number `first` on, go from the subfiles that this rank looks after, and with them the groups
// that were made for them.
void File::withdraw_parts(const std::map<int, SplitVariable>& splits, int first) {
  (void)guard([&] {
    return for_own_subfiles([&](int64_t number, Format& format) -> Status {
      for (auto each = splits.rbegin(); each != splits.rend() && each->first >= first; ++each) {
        const SplitVariable& split = each->second;
        if (number >= split.split.parts() || split.offsets[static_cast<size_t>(number)] == k_unknown) continue;
        std::vector<std::string> made = parents_of(split.path);
        std::erase_if(made, [this](const std::string& group) { return find_group(group) != nullptr; });
        made.push_back(split.path);
        subfiles_->withdraw(format, made);
      }
      return {};
    });
  });
}

// Rank 0 alone: a variable of the base file whose elements lie in subfiles.
Status File::define_split_on_root(const VariableDefinition& definition, const SplitVariable& split) {
  VariableDefinition virtually = definition;  // its chunks are in the subfiles
  virtually.chunking = {};
  std::vector<Part> parts;
  for (int64_t part = 0; part < split.split.parts(); ++part) parts.push_back({subfiles_->relative_name(part), split.split.box(part)});
  if (Status status = format_->define_split(virtually, parts); !status.ok()) return status;
  Status status = subfiles_->describe(*format_, definition, split);
  if (!status.ok()) (void)format_->undefine(definition.path, records());
  return status;
}

}  // namespace windrow
