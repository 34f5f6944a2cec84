// SPDX-License-Identifier: BSD-3-Clause
// Definitions of objects and attributes.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "format/raw/raw_class.hpp"

namespace windrow {
namespace {

// Alignment of every variable, so that elements of any type are aligned in a mapped file.
constexpr int64_t k_least_alignment = 8;

}  // namespace

Status RawFormat::check_free(const std::string& path) const {
  Status status = check_object_path(path);
  if (!status.ok())
    return status;
  if (objects_.count(path) > 0)
    return {Code::exists, fmt::format("\"{}\" exists already", path)};
  return check_parent(path);
}

Status RawFormat::check_parent(const std::string& path) const {
  const auto parent = objects_.find(parent_of(path));
  if (parent != objects_.end() && parent->second.kind == Kind::group)
    return {};
  return {Code::not_found, fmt::format("\"{}\": there is no group \"{}\"", path, parent_of(path))};
}

Status RawFormat::define_group(const std::string& path) {
  return guard([&] {
    Status status = writable("group", path);
    status.update(check_free(path));
    if (!status.ok())
      return status;
    Group group{.path = path, .attributes = {}};
    make_room(catalog_.groups, 1);
    remember(path, {Kind::group, catalog_.groups.size()});
    catalog_.groups.push_back(std::move(group));
    changed_ = true;
    return status;
  });
}

Result<Placement> RawFormat::define_variable(const VariableDefinition& definition) {
  if (!definition.chunking.empty())
    return Status(Code::unsupported,
                  fmt::format("variable \"{}\": the raw format has no chunks and no filters", definition.path));
  Placement placement{.big_endian = definition.big_endian};
  Status status = guard([&] {
    Status valid = writable("variable", definition.path);
    const Result<int64_t> bytes = check_definition(definition);
    valid.update(bytes.status());
    valid.update(check_free(definition.path));
    if (!valid.ok())
      return valid;
    placement.bytes = bytes.value();
    int64_t new_end = end_;
    if (placement.bytes > 0) {
      const bool wants_alignment = placement.bytes >= options_.alignment_threshold;
      const int64_t unit = wants_alignment ? std::max(options_.alignment, k_least_alignment) : k_least_alignment;
      const std::optional<int64_t> rounded = checked_add(end_, unit - 1);
      const std::optional<int64_t> end =
          rounded ? checked_add(round_down(*rounded, unit), placement.bytes) : std::nullopt;
      if (!end)
        return Status(Code::bad_argument, fmt::format("variable \"{}\": the file would be too large", definition.path));
      placement.offset = *end - placement.bytes;
      new_end = *end;
    }
    add_variable(definition, placement);
    end_ = new_end;
    return valid;
  });
  if (!status.ok())
    return status;
  return placement;
}

void RawFormat::add_variable(const VariableDefinition& definition, const Placement& placement) {
  Variable variable;
  variable.path = definition.path;
  variable.type = definition.type;
  variable.shape = definition.shape;
  variable.placement = placement;
  variable.details = definition.details;
  variable.null_space = definition.null_space;
  variable.fill = definition.fill;
  make_room(catalog_.variables, 1);
  remember(definition.path, {Kind::variable, catalog_.variables.size()});
  catalog_.variables.push_back(std::move(variable));
  changed_ = true;
}

Status RawFormat::undefine(const std::string& path, int64_t) {
  return guard([&] {
    if (Status status = writable("definition of", path); !status.ok())
      return status;
    const bool is_variable = !catalog_.variables.empty() && catalog_.variables.back().path == path;
    if (!is_variable && (path == "/" || catalog_.groups.back().path != path))
      return Status(Code::not_found, fmt::format("\"{}\" was not defined last", path));
    const auto lies_below = [&](const std::string& other) {
      return other.size() > path.size() && other.starts_with(path) && other[path.size()] == '/';
    };
    if (std::any_of(objects_.begin(), objects_.end(), [&](const auto& each) { return lies_below(each.first); }))
      return Status(Code::bad_state, fmt::format("group \"{}\" has members", path));
    if (is_variable)
      catalog_.variables.pop_back();
    else
      catalog_.groups.pop_back();
    objects_.erase(path);
    parts_.erase(path);
    end_ = 0;
    for (const Variable& variable : catalog_.variables)
      if (variable.placement.offset >= 0)
        end_ = std::max(end_, variable.placement.offset + variable.placement.bytes);  // not a split variable
    changed_ = true;
    return Status();
  });
}

Status RawFormat::define_split(const VariableDefinition& definition, std::span<const Part> parts) {
  return guard([&] {
    Status status = writable("variable", definition.path);
    const Result<int64_t> bytes = check_definition(definition);
    status.update(bytes.status());
    status.update(check_free(definition.path));
    if (!status.ok())
      return status;
    parts_.insert_or_assign(definition.path, std::vector<Part>(parts.begin(), parts.end()));
    add_variable(definition, {.offset = -1, .bytes = bytes.value(), .big_endian = definition.big_endian});
    return status;
  });
}

Result<std::vector<Part>> RawFormat::parts_of(const std::string& path) {
  std::vector<Part> copy;
  Status status = guard([&] {
    if (const auto found = parts_.find(path); found != parts_.end())
      copy = found->second;
    return Status();
  });
  if (!status.ok())
    return status;
  return copy;
}

Status RawFormat::put_attribute(const std::string& object, const Attribute& attribute) {
  return guard([&] {
    Status status = writable("attribute of", object);
    status.update(check_attribute(object, attribute));
    if (!status.ok())
      return status;
    std::vector<Attribute>* found = find_attributes(object);
    if (!found)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    std::vector<Attribute>& attributes = *found;
    const auto same = std::find_if(attributes.begin(), attributes.end(),
                                   [&](const Attribute& other) { return other.name == attribute.name; });
    Attribute copy = attribute;
    if (same == attributes.end())
      attributes.push_back(std::move(copy));
    else
      *same = std::move(copy);
    changed_ = true;
    return status;
  });
}

std::vector<Attribute>* RawFormat::find_attributes(const std::string& object) {
  const auto found = objects_.find(object);
  if (found == objects_.end() || (found->second.kind != Kind::group && found->second.kind != Kind::variable))
    return nullptr;
  const size_t number = found->second.number;
  return found->second.kind == Kind::group ? &catalog_.groups[number].attributes
                                           : &catalog_.variables[number].attributes;
}

Status RawFormat::delete_attribute(const std::string& object, const std::string& name) {
  return guard([&] {
    Status status = writable("attribute of", object);
    if (!status.ok())
      return status;
    std::vector<Attribute>* attributes = find_attributes(object);
    if (!attributes)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    if (std::erase_if(*attributes, [&](const Attribute& attribute) { return attribute.name == name; }) == 0)
      return Status(Code::not_found, fmt::format("\"{}\" has no attribute \"{}\"", object, name));
    changed_ = true;
    return status;
  });
}

Status RawFormat::define_link(const SoftLink& link) {
  return guard([&] {
    Status status = writable("link", link.path);
    status.update(check_link(link));
    if (status.ok())
      status = check_free(link.path);
    if (!status.ok())
      return status;
    SoftLink copy = link;
    make_room(catalog_.links, 1);
    remember(link.path, {Kind::link, catalog_.links.size()});
    catalog_.links.push_back(std::move(copy));
    changed_ = true;
    return status;
  });
}

Status RawFormat::define_dimension(const Dimension& dimension) {
  return guard([&] {
    Status status = writable("dimension", dimension.path);
    status.update(check_dimension(dimension));
    const auto same = objects_.find(dimension.path);
    const bool is_taken =
        dimensions_.contains(dimension.path) || (same != objects_.end() && same->second.kind != Kind::variable);
    if (status.ok() && is_taken)
      status = {Code::exists, fmt::format("\"{}\" exists already", dimension.path)};
    if (status.ok())
      status = check_parent(dimension.path);
    if (!status.ok())
      return status;
    Dimension copy = dimension;
    make_room(catalog_.dimensions, 1);
    dimensions_.insert(dimension.path);
    catalog_.dimensions.push_back(std::move(copy));
    changed_ = true;
    return status;
  });
}

Status RawFormat::name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) {
  return guard([&] {
    if (Status status = writable("dimensions of", variable); !status.ok())
      return status;
    const auto find = [&](const std::string& path) -> Variable* {
      const auto found = objects_.find(path);
      return found == objects_.end() || found->second.kind != Kind::variable
                 ? nullptr
                 : &catalog_.variables[found->second.number];
    };
    Variable* named = find(variable);
    if (!named)
      return Status(Code::not_found, fmt::format("there is no variable \"{}\"", variable));
    std::vector<std::string> copy = dimensions;
    for (const std::string& path : dimensions) {
      if (path.empty() || path == variable || dimensions_.contains(path))
        continue;
      Variable* coordinate = find(path);
      if (!coordinate)
        return Status(Code::not_found, fmt::format("there is no dimension \"{}\"", path));
      if (coordinate->shape.size() == 1)
        coordinate->dimensions = {path};
    }
    named->dimensions = std::move(copy);
    // A variable with the name of its first dimension names it.
    if (!dimensions.empty() && dimensions.front() == variable && dimensions_.erase(variable) > 0)
      std::erase_if(catalog_.dimensions, [&](const Dimension& each) { return each.path == variable; });
    changed_ = true;
    return Status();
  });
}

}  // namespace windrow
