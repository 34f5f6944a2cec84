// SPDX-License-Identifier: BSD-3-Clause
// Groups, variables and attributes: every rank checks against its copy of the catalog, rank 0 tells the format, all
// learn the outcome.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/paths.hpp"
#include "metadata/definition.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr size_t k_definitions = 200;
constexpr size_t k_few = 16;

// What ranks tell each other of a few variables, as maxima.
struct FewPlaces {
  std::array<int64_t, 2 + 1 + 2 * k_few> words;
  std::span<int64_t> arguments = std::span(words).first(2);  // see SameArguments
  std::span<int64_t> made = std::span(words).subspan(2);     // rank 0's: how many; offset and bytes of each
  FewPlaces() { words.fill(std::numeric_limits<int64_t>::min()); }
  FewPlaces(const FewPlaces&) = delete;
  FewPlaces& operator=(const FewPlaces&) = delete;
  std::span<int64_t> all() { return words; }
};

}  // namespace

Status File::define_groups_on_root(std::span<const std::string> groups) {
  for (size_t i = 0; i < groups.size(); ++i)
    // One that is there already was made by a call that failed afterwards.
    if (Status status = format_->define_group(groups[i]); !status.ok() && status.code() != Code::exists) {
      withdraw_groups_on_root(groups.first(i));
      return status;
    }
  return {};
}

// What was to lie in them was refused.
void File::withdraw_groups_on_root(std::span<const std::string> groups) {
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    (void)format_->undefine(*group, 0);
}

Status File::define_group(const std::string& path, Status local) {
  const CallScope call(*comm_, Call::define_group, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions added;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("define a group"); !status.ok())
        return status;
      return metadata_.check_group(path, added);
    });
  // Every rank has its memory by the time of the work, so what the format has done is what all ranks will know.
  if (Status verdict = agree_same(
          *comm_, std::move(local), hash_of({path}), "the paths of the group", [&] { return quoted({path}); },
          [&] { return define_groups_on_root(added.groups); });
      !verdict.ok())
    return verdict;
  metadata_.enter_groups(added);
  return {};
}

Result<int> File::define_variables(std::span<VariableDefinition> definitions, Status local) {
  const CallScope call(*comm_, Call::define_variables, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions added;  // made beforehand, so that entering them cannot fail
  std::map<int, SplitVariable> splits;
  uint64_t arguments = 0;
  SubfileRequest set;
  const auto first = static_cast<int>(catalog_.variables.size());
  if (local.ok())
    local = guard([&]() -> Status {
      std::string text;
      for (VariableDefinition& definition : definitions) {
        append_definition(text, definition);
        if (Status status = check_writable("define a variable"); !status.ok())
          return status;
        if (Status status = metadata_.check_definition(definition, added); !status.ok())
          return status;
      }
      arguments = hash_of({std::to_string(definitions.size()), text});
      const SplitPolicy policy = split_policy();
      auto request = policy.request_for(definitions);
      if (!request.ok())
        return request.status();
      set = request.value();
      if (subfiles_) {
        auto found = policy.split(definitions, first);
        if (!found.ok())
          return found.status();
        splits = std::move(found).value();
        if (Status status = policy.check_room(definitions, splits, first); !status.ok())
          return status;
      }
      if (set.count > 0)
        return {};
      const auto is_elsewhere = [&](size_t variable) {
        const auto number = static_cast<int>(variable);
        return splits.contains(number) || (subfiles_ && subfiles_->find(number) != nullptr);
      };
      if (comm_->rank() == 0)
        if (Status status = size_check_.check(catalog_, definitions, is_elsewhere); !status.ok())
          return status;
      metadata_.reserve(added);
      return grow_reduction(catalog_.variables.size() + definitions.size());
    });
  const auto describe = [&] {
    std::vector<std::string> texts;
    for (const VariableDefinition& each : definitions)
      texts.push_back(description_of(each));
    return texts;
  };
  // Rank 0 makes a few in the same agreement.
  FewPlaces places;
  SameArguments same(local, arguments);
  std::copy_n(same.numbers().begin(), 2, places.arguments.begin());
  bool at_work = false;
  Status verdict = agree_and_work(
      *comm_, std::move(local), Reduction{.maximum = places.all(), .sum = {}, .bits = {}},
      [&](const Reduction& agreed) -> Status {
        if (SameArguments::differ(agreed.maximum) || set.count > 0 || !splits.empty() || definitions.size() > k_few)
          return {};
        return make_on_root(definitions, added.groups, agreed.maximum.subspan(2));
      },
      &at_work);
  if (!verdict.ok() && (!at_work || verdict.code() == Code::mpi))
    return verdict;
  if (SameArguments::differ(places.arguments))
    return name_difference(*comm_, arguments, "number, paths, types, shapes or options of the variables", describe);
  if (set.count > 0) {
    if (verdict.ok())
      verdict = become_set(set);
    if (!verdict.ok())
      return verdict;
    return define_variables(definitions, {});
  }
  const int64_t made = places.made[0];  // negative: none yet
  // Every rank has its memory by now, so what the format has done is what all ranks will know.
  allocator_.mark_unplaced();  // after an error too: a subfile that was closed to open another may have moved
  if (!splits.empty()) {
    if (verdict = define_parts(definitions, splits, first); !verdict.ok())
      return verdict;
    for (const auto& [variable, split] : splits)
      write_state_[static_cast<size_t>(variable)].changed = true;
    subfiles_->variables().merge(splits);
  }
  if (made >= 0)
    enter_made(definitions, places.made);
  for (size_t begin = made >= 0 ? definitions.size() : 0; begin < definitions.size() && verdict.ok();
       begin += k_definitions)
    verdict = define_some(definitions.subspan(begin, std::min(k_definitions, definitions.size() - begin)),
                          begin == 0 ? std::span<const std::string>(added.groups) : std::span<const std::string>());
  metadata_.enter_index(added);
  const auto end = static_cast<int>(catalog_.variables.size());
  if (subfiles_)
    set_.end_definitions(end, verdict.ok());
  const auto grows = [](const VariableDefinition& each) { return each.extendible; };
  if (std::any_of(definitions.begin(), definitions.end(), grows))
    grow_as_one(static_cast<size_t>(first));
  update_set();
  if (!verdict.ok())
    return verdict;
  return first;
}

// Collective. As many as one agreement tells of without memory of its own. Those that the format has made are entered
// on every rank.
Status File::define_some(std::span<VariableDefinition> definitions, std::span<const std::string> groups) {
  std::array<int64_t, 1 + 2 * k_definitions> word;  // rank 0's, as maxima: how many were made; offset and bytes of each
  const std::span<int64_t> places = std::span(word).first(1 + 2 * definitions.size());
  std::fill(places.begin(), places.end(), std::numeric_limits<int64_t>::min());
  Status local = comm_->rank() == 0 ? make_on_root(definitions, groups, places) : Status{};
  Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = places, .sum = {}, .bits = {}});
  if (verdict.code() != Code::mpi)
    enter_made(definitions, places);
  return verdict;
}

// Rank 0 alone. `places`: how many were made; offset and bytes of each.
Status File::make_on_root(std::span<const VariableDefinition> definitions, std::span<const std::string> groups,
                          std::span<int64_t> places) {
  places[0] = 0;
  bool has_groups = false;
  Status made = guard([&]() -> Status {
    if (Status status = define_groups_on_root(groups); !status.ok())
      return status;
    has_groups = true;
    for (size_t i = 0; i < definitions.size(); ++i) {
      const auto number = static_cast<int>(catalog_.variables.size() + i);
      if (const SplitVariable* split = subfiles_ ? subfiles_->find(number) : nullptr) {
        if (Status status = set_.define_in_base(*format_, definitions[i], *split, metadata_.records()); !status.ok())
          return status;
        places[1 + 2 * i] = -1;
        places[2 + 2 * i] = checked_product(definitions[i].shape).value_or(0) * split->element_bytes;
        ++places[0];
        continue;
      }
      auto placement = format_->define_variable(definitions[i]);
      if (!placement.ok())
        return placement.status();
      places[1 + 2 * i] = placement.value().offset;
      places[2 + 2 * i] = placement.value().bytes;
      ++places[0];
    }
    return {};
  });
  if (!made.ok() && has_groups && places[0] == 0)
    withdraw_groups_on_root(groups);
  return made;
}

void File::enter_made(std::span<VariableDefinition> definitions, std::span<const int64_t> places) {
  for (size_t i = 0; i < static_cast<size_t>(places[0]); ++i) {
    const bool big_endian = definitions[i].big_endian;
    const size_t number = catalog_.variables.size();
    const Variable& made = metadata_.enter_variable(
        std::move(definitions[i]), {.offset = places[1 + 2 * i], .bytes = places[2 + 2 * i], .big_endian = big_endian});
    const bool interleaved = made.extendible && traits().grows_as_one;
    if (made.chunking.empty() && made.placement.bytes > 0 && !interleaved)
      write_state_.add_contiguous(number, !made.fill.empty());
  }
}

Status File::put_attribute(const std::string& object, Attribute attribute, Status local) {
  const CallScope call(*comm_, Call::put_attribute, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  std::string place;  // of the object
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("write an attribute"); !status.ok())
        return status;
      auto resolved = metadata_.resolve(object);
      if (!resolved.ok())
        return resolved.status();
      place = std::move(resolved).value();
      if (attribute.name.empty())
        return {Code::bad_argument, fmt::format("an attribute of \"{}\" needs a name", place)};
      if (Status status = check_new_name(attribute.name); !status.ok())
        return status;
      if (subfiles_ && attribute.name.starts_with(Subfiles::k_reserved))
        return {Code::bad_argument,
                fmt::format("attribute \"{}\" of \"{}\": names that begin with {} are reserved for the map of subfiles",
                            attribute.name, place, Subfiles::k_reserved)};
      return metadata_.check_put(place);
    });
  if (Status verdict =
          agree_same(*comm_, std::move(local), hash_of({object, attribute.name}), "object or name of the attribute",
                     [&] {
                       return quoted({object, attribute.name});
                     });
      !verdict.ok())
    return verdict;
  // Rank 0's value counts, so it is that which the other ranks keep.
  std::vector<std::byte> bytes;
  local = Status{};
  if (comm_->rank() == 0 && comm_->size() > 1)
    local = guard([&] {
      Catalog sent;
      sent.groups.push_back({.path = "/", .attributes = {attribute}});
      bytes = serialize(sent);
      return Status{};
    });
  local = share_from_root(*comm_, std::move(local), bytes);
  if (local.ok() && comm_->rank() != 0)
    local = guard([&] {
      auto one = deserialize(bytes);
      if (one.ok())
        attribute = std::move(one.value().groups.front().attributes.front());
      return one.status();
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  // Every rank has it by now, so what the format has done is what all ranks will know.
  local = comm_->rank() == 0 ? guard([&] { return format_->put_attribute(place, attribute); }) : Status{};
  const bool in_parts = is_split(place);
  if (in_parts)
    local = agree(*comm_, std::move(local));  // what the base file refuses comes to no subfile
  if (local.ok() && in_parts)
    local = guard(
        [&] { return for_own_parts(place, [&](Format& format) { return format.put_attribute(place, attribute); }); });
  allocator_.mark_unplaced();
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  metadata_.put_attribute(place, std::move(attribute));
  return {};
}

}  // namespace windrow
