// SPDX-License-Identifier: BSD-3-Clause
// Soft links: made, and followed where an object is looked for.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int k_most_links = 16;  // one after the other; HDF5's own limit (H5L_NUM_LINKS)

// A path with what means nothing taken out: "/a/./b//" is "/a/b".
std::string tidy(std::string_view path) {
  std::string clean;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    if (!name.empty() && name != ".")
      (clean += '/') += name;
    begin = end + 1;
  }
  return clean.empty() ? "/" : clean;
}

}  // namespace

std::string File::follow(std::string path) const {
  for (int links = 0; links < k_most_links && !link_targets_.empty(); ++links) {
    const std::string* target = nullptr;
    size_t end = 0;
    do {
      end = std::min(path.find('/', end + 1), path.size());
      const auto found = link_targets_.find(std::string_view(path).substr(0, end));
      if (found != link_targets_.end())
        target = &found->second;
    } while (target == nullptr && end < path.size());
    if (target == nullptr)
      return path;
    const std::string from = target->starts_with('/') ? "" : parent_of(path.substr(0, end)) + "/";
    path = tidy(from + *target + path.substr(end));
  }
  return path;
}

bool File::is_taken(std::string_view path) const {
  return variable_numbers_.contains(path) || link_targets_.contains(path) || group_numbers_.contains(path);
}

ObjectKind File::kind_of(const std::string& path) const {
  auto clean = clean_path(path);
  if (!clean.ok())
    return ObjectKind::nothing;
  const std::string& full = clean.value();
  // The way there is followed; the object itself is what it is.
  const std::string parent = full == "/" ? full : follow(parent_of(full));
  const std::string place = full == "/" ? full : (parent == "/" ? "" : parent) + full.substr(full.rfind('/'));
  if (find_group(place) != nullptr)
    return ObjectKind::group;
  if (variable_numbers_.contains(place))
    return ObjectKind::variable;
  if (link_targets_.contains(place))
    return ObjectKind::link;
  if (dimension_of(place, {}) != nullptr)
    return ObjectKind::dimension;
  const bool is_other = std::any_of(catalog_.unsupported.begin(), catalog_.unsupported.end(),
                                    [&](const std::string& line) { return line.starts_with(place + ": "); });
  return is_other ? ObjectKind::other : ObjectKind::nothing;
}

Status File::define_link(const std::string& path, const std::string& target, Status local) {
  const CallScope call(*comm_, Call::define_link, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions added;
  SoftLink link, kept;
  std::map<std::string, std::string, std::less<>> entry;  // made beforehand, so that entering it cannot fail
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("define a link"); !status.ok())
        return status;
      if (Status status = check_new_path(path); !status.ok())
        return status;
      if (Status status = check_new_name(target); !status.ok())
        return status;
      auto clean = clean_path(path);
      if (!clean.ok())
        return clean.status();
      link = {std::move(clean).value(), target};
      if (Status status = check_link(link); !status.ok())
        return status;
      if (is_taken(link.path) || dimension_numbers_.contains(link.path))
        return {Code::exists, fmt::format("\"{}\" has \"{}\" already", path_, link.path)};
      if (Status status = missing_groups(link.path, false, added); !status.ok())
        return status;
      kept = link;
      entry.emplace(link.path, link.target);
      make_room(catalog_.groups, added.groups.size());
      make_room(catalog_.links, 1);
      return {};
    });
  const auto define = [&]() -> Status {
    if (Status status = define_groups_on_root(added.groups); !status.ok())
      return status;
    Status made = format_->define_link(link);
    if (!made.ok())
      withdraw_groups_on_root(added.groups);
    return made;
  };
  if (Status verdict = agree_same(
          *comm_, std::move(local), hash_of({path, target}), "path or target of the link",
          [&] {
            return quoted({path, target});
          },
          define);
      !verdict.ok())
    return verdict;
  enter_groups(added);
  catalog_.links.push_back(std::move(kept));
  link_targets_.merge(entry);
  return {};
}

Status File::delete_attribute(const std::string& object, const std::string& name, Status local) {
  const CallScope call(*comm_, Call::delete_attribute, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  std::string place;
  std::vector<Attribute>* attributes = nullptr;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("delete an attribute"); !status.ok())
        return status;
      auto clean = clean_path(object);
      if (!clean.ok())
        return clean.status();
      place = follow(std::move(clean).value());
      attributes = find_attributes(place);
      if (attributes == nullptr)
        return {Code::not_found, fmt::format("\"{}\" has no group or variable \"{}\"", path_, object)};
      const bool is_there =
          std::any_of(attributes->begin(), attributes->end(), [&](const Attribute& a) { return a.name == name; });
      if (!is_there)
        return {Code::not_found, fmt::format("\"{}\" has no attribute \"{}\"", place, name)};
      return {};
    });
  if (Status verdict = agree_same(*comm_, std::move(local), hash_of({object, name}), "object or name of the attribute",
                                  [&] {
                                    return quoted({object, name});
                                  });
      !verdict.ok())
    return verdict;
  local = comm_->rank() == 0 ? guard([&] { return format_->delete_attribute(place, name); }) : Status{};
  if (local.ok() && is_split(place))
    local = guard([&] {
      return for_own_parts(place, [&](Format& format) {
        Status status = format.delete_attribute(place, name);
        return status.code() == Code::not_found ? Status{} : status;
      });
    });
  unplaced_ = traits_.places_late;
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  std::erase_if(*attributes, [&](const Attribute& attribute) { return attribute.name == name; });
  return {};
}

}  // namespace windrow
