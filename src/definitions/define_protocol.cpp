// SPDX-License-Identifier: BSD-3-Clause
#include "definitions/define_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/catalog.hpp"
#include "format/paths.hpp"

namespace windrow {

Status define_groups(Format& format, std::span<const std::string> groups) {
  for (size_t i = 0; i < groups.size(); ++i)
    if (Status status = format.define_group(groups[i]); !status.ok() && status.code() != Code::exists) {
      withdraw_groups(format, groups.first(i));
      return status;
    }
  return {};
}

void withdraw_groups(Format& format, std::span<const std::string> groups) {
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    (void)format.undefine(*group, 0);
}

// Returns nullptr if the object at `path` is not a split variable.
const SplitVariable* DefineProtocol::find_split(const std::string& path) const {
  const auto variable = parts_.metadata.variable_at(path);
  return variable ? windrow::find_split(parts_.set.map().get(), *variable) : nullptr;
}

// Local. Calls work(format) for each part in a subfile of this rank.
Status DefineProtocol::for_own_parts(const SplitVariable& split, FunctionRef<Status(Format&)> work) const {
  return parts_.set.for_own(split.split.parts(), [&](int64_t, Format& format) { return work(format); });
}

// All ranks have allocated their memory before rank 0 changes the format. So all can enter the change that was made.
Status DefineProtocol::define_group(const std::string& path, Status local) const {
  Additions added;
  if (local.ok())
    local = guard([&] { return parts_.metadata.check_group(path, added); });
  if (Status verdict = agree_same(
          parts_.comm, std::move(local), hash_of({path}), "the paths of the group", [&] { return quoted({path}); },
          [&] { return define_groups(*parts_.format, added.groups); });
      !verdict.ok())
    return verdict;
  parts_.metadata.enter_groups(added);
  return {};
}

// Local. Checks an attribute, and sets `place` to the full path of the object.
Status DefineProtocol::check_attribute(const std::string& object, const std::string& name, std::string& place) const {
  auto resolved = parts_.metadata.resolve(object);
  if (!resolved.ok())
    return resolved.status();
  place = std::move(resolved).value();
  if (name.empty())
    return {Code::bad_argument, fmt::format("an attribute of \"{}\" needs a name", place)};
  if (Status status = check_new_name(name); !status.ok())
    return status;
  if (parts_.set.map() && name.starts_with(Subfiles::k_reserved))
    return {Code::bad_argument,
            fmt::format("attribute \"{}\" of \"{}\": names that begin with {} are reserved for the map of subfiles",
                        name, place, Subfiles::k_reserved)};
  return parts_.metadata.check_put(place);
}

// Collective, agreed. Sets the attribute to that of rank 0.
Status DefineProtocol::share_attribute(Attribute& attribute) const {
  if (parts_.comm.size() == 1)
    return {};
  std::vector<std::byte> bytes;
  Status local;
  if (is_root())
    local = guard([&] {
      Catalog sent;
      sent.groups.push_back({.path = "/", .attributes = {attribute}});
      bytes = serialize(sent);
      return Status{};
    });
  local = share_from_root(parts_.comm, std::move(local), bytes);
  if (local.ok() && !is_root())
    local = guard([&] {
      auto received = deserialize(bytes);
      if (received.ok())
        attribute = std::move(received.value().groups.front().attributes.front());
      return received.status();
    });
  return agree(parts_.comm, std::move(local));
}

// Returns nullptr if the object has no attribute of this name.
const Attribute* DefineProtocol::find_attribute(const std::string& place, std::string_view name) const {
  const std::vector<Attribute>* all = parts_.metadata.attributes_of(place);
  if (all == nullptr)
    return nullptr;
  const auto found = std::find_if(all->begin(), all->end(), [&](const Attribute& each) { return each.name == name; });
  return found == all->end() ? nullptr : &*found;
}

// Collective, agreed. Changes an object in the base file and, if that accepts the change, in the subfiles with its
// parts. If a subfile does not accept it, the files that were changed are reverted.
Status DefineProtocol::change_object(const std::string& place, FormatChange change, FormatChange revert) const {
  parts_.allocator.mark_unplaced();
  Status verdict = agree(parts_.comm, is_root() ? guard([&] { return change(*parts_.format); }) : Status{});
  const SplitVariable* split = find_split(place);
  if (!verdict.ok() || split == nullptr)
    return verdict;
  std::vector<int64_t> changed;
  verdict = agree(parts_.comm, guard([&] {
                    changed.reserve(static_cast<size_t>(split->split.parts()));
                    return parts_.set.for_own(split->split.parts(), [&](int64_t part, Format& format) {
                      Status status = change(format);
                      if (status.ok())
                        changed.push_back(part);
                      return status;
                    });
                  }));
  if (verdict.ok() || verdict.code() == Code::mpi)
    return verdict;
  Status reverted = is_root() ? guard([&] { return revert(*parts_.format); }) : Status{};
  for (const int64_t part : changed)
    reverted.update(guard([&] {
      const auto format = parts_.set.format(part);
      return format.ok() ? revert(*format.value()) : format.status();
    }));
  if (agree(parts_.comm, std::move(reverted)).ok())
    return verdict;
  return guard([&] {
    return Status{verdict.code(), verdict.message() + "; the files of the set may differ in this attribute now",
                  verdict.rank()};
  });
}

Status DefineProtocol::put_attribute(const std::string& object, Attribute attribute, Status local) const {
  std::string place;
  if (local.ok())
    local = guard([&] { return check_attribute(object, attribute.name, place); });
  const auto describe = [&] { return quoted({object, attribute.name}); };
  if (Status verdict = agree_same(parts_.comm, std::move(local), hash_of({object, attribute.name}),
                                  "object or name of the attribute", describe);
      !verdict.ok())
    return verdict;
  if (Status verdict = share_attribute(attribute); !verdict.ok())
    return verdict;
  const Attribute* old = find_attribute(place, attribute.name);
  const auto put = [&](Format& format) { return format.put_attribute(place, attribute); };
  const auto revert = [&](Format& format) {
    return old != nullptr ? format.put_attribute(place, *old) : format.delete_attribute(place, attribute.name);
  };
  if (Status verdict = change_object(place, put, revert); !verdict.ok())
    return verdict;
  parts_.metadata.put_attribute(place, std::move(attribute));
  return {};
}

Status DefineProtocol::delete_attribute(const std::string& object, const std::string& name, Status local) const {
  std::string place;
  if (local.ok())
    local = guard([&] { return parts_.metadata.check_delete(object, name, place); });
  const auto describe = [&] { return quoted({object, name}); };
  if (Status verdict = agree_same(parts_.comm, std::move(local), hash_of({object, name}),
                                  "object or name of the attribute", describe);
      !verdict.ok())
    return verdict;
  const Attribute* old = find_attribute(place, name);
  const auto remove = [&](Format& format) {
    Status status = format.delete_attribute(place, name);
    return status.code() == Code::not_found && &format != parts_.format ? Status{} : status;
  };
  const auto revert = [&](Format& format) { return format.put_attribute(place, *old); };
  if (Status verdict = change_object(place, remove, revert); !verdict.ok())
    return verdict;
  parts_.metadata.delete_attribute(place, name);
  return {};
}

Status DefineProtocol::define_link(const std::string& path, const std::string& target, Status local) const {
  LinkAddition added;
  if (local.ok())
    local = guard([&] { return parts_.metadata.check_link(path, target, added); });
  const auto define = [&]() -> Status {
    if (Status status = define_groups(*parts_.format, added.groups.groups); !status.ok())
      return status;
    Status made = parts_.format->define_link(added.link);
    if (!made.ok())
      withdraw_groups(*parts_.format, added.groups.groups);
    return made;
  };
  const auto describe = [&] { return quoted({path, target}); };
  if (Status verdict = agree_same(parts_.comm, std::move(local), hash_of({path, target}), "path or target of the link",
                                  describe, define);
      !verdict.ok())
    return verdict;
  parts_.metadata.enter_link(added);
  return {};
}

Status DefineProtocol::define_dimensions_on_root(const DimensionAdditions& added) const {
  Format& format = *parts_.format;
  if (Status status = define_groups(format, added.groups.groups); !status.ok())
    return status;
  for (const Dimension& dimension : added.dimensions)
    // If the dimension exists, an earlier call made it and then failed.
    if (Status status = format.define_dimension(dimension); !status.ok() && status.code() != Code::exists)
      return status;
  if (added.named.empty())
    return {};
  const auto& [variable, names] = added.named.back();
  return format.name_dimensions(parts_.metadata.variable(variable).path, names);
}

// Local. Names the dimensions in the subfiles as in the base file. The parts have their own lengths: a coordinate may
// be split differently from the variables that it belongs to.
Status DefineProtocol::name_dimensions_of_parts(const DimensionAdditions& added) const {
  const auto& [variable, names] = added.named.back();
  const std::string& named = parts_.metadata.variable(variable).path;
  for (const std::string& path : names) {
    const SplitVariable* split = find_split(path);
    if (path == named || split == nullptr || parts_.metadata.dimension_at(path, added.dimensions) != nullptr)
      continue;
    const auto name = [&](Format& format) { return format.name_dimensions(path, {path}); };
    if (Status status = for_own_parts(*split, name); !status.ok())
      return status;
  }
  const SplitVariable* split = find_split(named);
  if (split == nullptr)
    return {};
  return for_own_parts(*split, [&](Format& format) { return format.name_dimensions(named, names); });
}

// Collective, agreed. The ranks have compared the arguments before.
Status DefineProtocol::define_dimensions(DimensionAdditions added) const {
  Status local = is_root() ? guard([&] { return define_dimensions_on_root(added); }) : Status{};
  const bool in_parts = parts_.set.map() && !added.named.empty() && parts_.metadata.traits().names_dimensions;
  if (in_parts)
    local = agree(parts_.comm, std::move(local));  // what the base file refuses is not put into a subfile
  if (local.ok() && in_parts)
    local = guard([&] { return name_dimensions_of_parts(added); });
  parts_.allocator.mark_unplaced();
  if (Status verdict = agree(parts_.comm, std::move(local)); !verdict.ok())
    return verdict;
  parts_.metadata.enter_dimensions(added);
  return {};
}

Status DefineProtocol::define_dimension(const std::string& path, int64_t length, Status local) const {
  DimensionAdditions added;
  if (local.ok())
    local = guard([&] { return parts_.metadata.check_dimension(path, length, added); });
  const auto describe = [&] { return quoted({path, std::to_string(length)}); };
  if (Status verdict = agree_same(parts_.comm, std::move(local), hash_of({path, std::to_string(length)}),
                                  "path or length of the dimension", describe);
      !verdict.ok())
    return verdict;
  return define_dimensions(std::move(added));
}

Status DefineProtocol::name_dimensions(int variable, const std::vector<std::string>& names, Status local) const {
  DimensionAdditions added;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = parts_.metadata.check_names(variable, names, added); !status.ok())
        return status;
      std::string text = std::to_string(variable);
      for (const std::string& name : names)
        text.append(1, '\0').append(name);
      arguments = hash_of({text});
      return {};
    });
  const auto describe = [&] {
    std::vector<std::string> texts = quoted({parts_.metadata.variable(variable).path});
    for (const std::string& name : names)
      texts.push_back(quoted({name}).front());
    return texts;
  };
  if (Status verdict =
          agree_same(parts_.comm, std::move(local), arguments, "variable or names of the dimensions", describe);
      !verdict.ok())
    return verdict;
  return define_dimensions(std::move(added));
}

}  // namespace windrow
