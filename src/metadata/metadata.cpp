// SPDX-License-Identifier: BSD-3-Clause
// Metadata: the catalog and its indexes; groups, variables and attributes.
#include "metadata/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"

namespace windrow {
namespace {

void set_records(Variable& variable, int64_t records) noexcept {
  variable.shape.front() = records;
  variable.placement.bytes = records * row_bytes(variable);
}

}  // namespace

Metadata::Metadata(std::string path) : path_(std::move(path)) {
  Catalog empty;
  empty.groups.push_back({.path = "/", .attributes = {}});
  take(std::move(empty));
}

void Metadata::take(Catalog catalog) {
  catalog_ = std::move(catalog);
  for (auto* numbers : {&variable_numbers_, &group_numbers_, &dimension_numbers_})
    numbers->clear();
  link_targets_.clear();
  records_ = -1;
  for (const Variable& variable : catalog_.variables)
    may_grow_ = may_grow_ || variable.extendible || variable.is_inline;
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    variable_numbers_[catalog_.variables[i].path] = static_cast<int>(i);
  for (size_t i = 0; i < catalog_.groups.size(); ++i)
    group_numbers_.emplace(catalog_.groups[i].path, static_cast<int>(i));
  for (const SoftLink& link : catalog_.links)
    link_targets_[link.path] = link.target;
  for (size_t i = 0; i < catalog_.dimensions.size(); ++i)
    dimension_numbers_.emplace(catalog_.dimensions[i].path, static_cast<int>(i));
}

int64_t Metadata::records() const noexcept {
  int64_t longest = 0;
  for (const Variable& variable : catalog_.variables)
    longest = std::max(longest, variable.records());
  return longest;
}

int64_t Metadata::element_count_of(int number) const {
  const Variable& described = variable(number);
  return described.null_space ? 0 : checked_product(described.shape).value_or(0);
}

Result<int> Metadata::find_variable(std::string_view path) const {
  const std::string full = follow(path.starts_with('/') ? std::string(path) : "/" + std::string(path));
  if (const auto found = variable_at(full))
    return *found;
  return Status{Code::not_found, fmt::format("\"{}\" has no variable \"{}\"", path_, path)};
}

std::optional<int> Metadata::variable_at(std::string_view path) const noexcept {
  const auto found = variable_numbers_.find(path);
  return found == variable_numbers_.end() ? std::nullopt : std::optional<int>(found->second);
}

const Group* Metadata::find_group(std::string_view path) const {
  const auto found = path.starts_with('/') ? group_numbers_.find(path) : group_numbers_.find("/" + std::string(path));
  return found == group_numbers_.end() || path.empty() ? nullptr : &catalog_.groups[static_cast<size_t>(found->second)];
}

bool Metadata::is_taken(std::string_view path) const {
  return variable_numbers_.contains(path) || link_targets_.contains(path) || group_numbers_.contains(path);
}

ObjectKind Metadata::kind_of(const std::string& path) const {
  auto clean = clean_path(path);
  if (!clean.ok())
    return ObjectKind::nothing;
  const std::string& full = clean.value();
  // Links in the parent path are followed, but not the object itself.
  const std::string parent = full == "/" ? full : follow(parent_of(full));
  const std::string place = full == "/" ? full : (parent == "/" ? "" : parent) + full.substr(full.rfind('/'));
  if (find_group(place) != nullptr)
    return ObjectKind::group;
  if (variable_numbers_.contains(place))
    return ObjectKind::variable;
  if (link_targets_.contains(place))
    return ObjectKind::link;
  if (dimension_at(place) != nullptr)
    return ObjectKind::dimension;
  const bool is_other = std::any_of(catalog_.unsupported.begin(), catalog_.unsupported.end(),
                                    [&](const std::string& line) { return line.starts_with(place + ": "); });
  return is_other ? ObjectKind::other : ObjectKind::nothing;
}

// Adds the groups that must be made so that the parents of `path` (and `path` if `itself`) exist.
Status Metadata::missing_groups(const std::string& path, bool itself, Additions& added) const {
  std::vector<std::string> missing;  // innermost first: a group that exists has all its parents
  for (std::string group = itself ? path : parent_of(path);
       group != "/" && !group_numbers_.contains(group) && !added.group_numbers.contains(group);
       group = parent_of(group)) {
    if (variable_numbers_.contains(group) || added.variables.contains(group))
      return {Code::exists, fmt::format("\"{}\" in \"{}\" is a variable, not a group", group, path_)};
    if (dimension_at(group) != nullptr)
      return {Code::exists, fmt::format("\"{}\" in \"{}\" is a dimension, not a group", group, path_)};
    if (link_targets_.contains(group))
      return {Code::exists, fmt::format("\"{}\" in \"{}\" is a soft link, not a group", group, path_)};
    missing.push_back(group);
  }
  for (auto group = missing.rbegin(); group != missing.rend(); ++group) {
    added.group_numbers.emplace(*group, static_cast<int>(catalog_.groups.size() + added.groups.size()));
    added.groups.push_back(std::move(*group));
  }
  return {};
}

Status Metadata::check_group(const std::string& path, Additions& added) {
  if (Status status = check_new_group(path); !status.ok())
    return status;
  auto clean = clean_path(path);
  if (!clean.ok())
    return clean.status();
  if (Status status = missing_groups(clean.value(), true, added); !status.ok())
    return status;
  reserve(added);
  return {};
}

namespace {

Status check_shape(const VariableDefinition& definition) {
  const std::vector<int64_t>& shape = definition.shape;
  int64_t bytes = std::max<int64_t>(element_bytes(definition.type, definition.details), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      return {Code::bad_argument, fmt::format("variable \"{}\": dimension {} is {}", definition.path,
                                              shown_dimension(i, shape.size()), shape[i])};
    const auto product = checked_multiply(bytes, std::max<int64_t>(shape[i], 1));
    if (!product || *product > std::numeric_limits<int64_t>::max() / 8)
      return {Code::bad_argument, fmt::format("variable \"{}\" exceeds the maximum size of a file", definition.path)};
    bytes = *product;
  }
  return {};
}

}  // namespace

Status Metadata::check_definition(VariableDefinition& definition, Additions& added) const {
  if (Status status = check_new_path(definition.path); !status.ok())
    return status;
  auto clean = clean_path(definition.path);
  if (!clean.ok())
    return clean.status();
  definition.path = std::move(clean).value();
  if (definition.path == "/")
    return {Code::bad_argument, "a variable needs a name"};
  if (definition.type == Type::none)
    return {Code::bad_argument, fmt::format("variable \"{}\": 0 is not a type of a variable", definition.path)};
  if (Status status = check_details([&] { return fmt::format("variable \"{}\"", definition.path); }, definition.type,
                                    definition.details);
      !status.ok())
    return status;
  if (definition.null_space && !definition.shape.empty())
    return {Code::bad_argument, fmt::format("variable \"{}\": a null space has no dimensions", definition.path)};
  if (Status status = check_shape(definition); !status.ok())
    return status;
  if (is_taken(definition.path) || added.variables.contains(definition.path) ||
      added.group_numbers.contains(definition.path))
    return {Code::exists, fmt::format("\"{}\" has \"{}\" already", path_, definition.path)};
  if (Status status = missing_groups(definition.path, false, added); !status.ok())
    return status;
  added.variables.emplace(definition.path, static_cast<int>(catalog_.variables.size() + added.variables.size()));
  return {};
}

void Metadata::reserve(const Additions& added) {
  make_room(catalog_.groups, added.groups.size());
  make_room(catalog_.variables, added.variables.size());
}

void Metadata::enter_groups(Additions& added) noexcept {
  for (std::string& group : added.groups)
    catalog_.groups.push_back({.path = std::move(group), .attributes = {}});
  group_numbers_.merge(added.group_numbers);
}

const Variable& Metadata::enter_variable(VariableDefinition definition, const Placement& placement) noexcept {
  Variable variable;
  variable.path = std::move(definition.path);
  variable.type = definition.type;
  variable.shape = std::move(definition.shape);
  variable.placement = placement;
  variable.chunking = std::move(definition.chunking);
  variable.extendible = definition.extendible;
  may_grow_ = may_grow_ || definition.extendible;
  variable.details = std::move(definition.details);
  variable.null_space = definition.null_space;
  variable.fill = std::move(definition.fill);
  return catalog_.variables.emplace_back(std::move(variable));
}

// If no variable of a group could be made, the group may be in the file without being in the catalog.
void Metadata::enter_index(Additions& added) noexcept {
  const auto end = static_cast<int>(catalog_.variables.size());
  std::erase_if(added.variables, [&](const auto& entry) { return entry.second >= end; });
  if (!added.variables.empty())
    enter_groups(added);
  variable_numbers_.merge(added.variables);
}

const std::vector<Attribute>* Metadata::attributes_of(std::string_view object) const {
  if (const auto* attributes = const_cast<Metadata*>(this)->find_attributes(object))
    return attributes;
  auto place = resolve(std::string(object));
  return place.ok() ? const_cast<Metadata*>(this)->find_attributes(place.value()) : nullptr;
}

std::vector<Attribute>* Metadata::find_attributes(std::string_view object) noexcept {
  if (const auto variable = variable_at(object))
    return &catalog_.variables[static_cast<size_t>(*variable)].attributes;
  const auto group = group_numbers_.find(object);
  return group == group_numbers_.end() ? nullptr : &catalog_.groups[static_cast<size_t>(group->second)].attributes;
}

Status Metadata::check_put(const std::string& object) {
  std::vector<Attribute>* attributes = find_attributes(object);
  if (attributes == nullptr)
    return {Code::not_found, fmt::format("\"{}\" has no group or variable \"{}\"", path_, object)};
  make_room(*attributes, 1);
  return {};
}

void Metadata::put_attribute(const std::string& object, Attribute value) noexcept {
  std::vector<Attribute>& attributes = *find_attributes(object);
  for (Attribute& existing : attributes)
    if (existing.name == value.name) {
      existing = std::move(value);
      return;
    }
  attributes.push_back(std::move(value));
}

Status Metadata::check_delete(const std::string& object, const std::string& name, std::string& place) const {
  auto resolved = resolve(object);
  if (!resolved.ok())
    return resolved.status();
  place = std::move(resolved).value();
  const auto* attributes = const_cast<Metadata*>(this)->find_attributes(place);
  if (attributes == nullptr)
    return {Code::not_found, fmt::format("\"{}\" has no group or variable \"{}\"", path_, object)};
  const bool is_there =
      std::any_of(attributes->begin(), attributes->end(), [&](const Attribute& a) { return a.name == name; });
  if (!is_there)
    return {Code::not_found, fmt::format("\"{}\" has no attribute \"{}\"", place, name)};
  return {};
}

void Metadata::delete_attribute(const std::string& object, const std::string& name) noexcept {
  std::erase_if(*find_attributes(object), [&](const Attribute& attribute) { return attribute.name == name; });
}

Status Metadata::check_whole(std::string_view verb, int number) const {
  if (number < 0 || number >= static_cast<int>(catalog_.variables.size()))
    return {Code::bad_argument, fmt::format("{}: \"{}\" has no variable number {}", verb, path_, shown_index(number))};
  const Variable& target = variable(number);
  if (!target.unsupported.empty())
    return {Code::unsupported, fmt::format("{} of \"{}\": its elements cannot be read or written: {}", verb,
                                           target.path, target.unsupported)};
  if (is_moved_whole(target.type, target.details))
    return {};
  return {
      Code::bad_argument,
      fmt::format("{} of \"{}\": it is of type {}, not text of variable length; use windrow_put() and windrow_get()",
                  verb, target.path, type_name(target.type))};
}

void Metadata::place(int variable, const Placement& placement) noexcept {
  catalog_.variables[static_cast<size_t>(variable)].placement = placement;
}

void Metadata::give_place(int variable, int64_t offset) noexcept {
  Variable& target = catalog_.variables[static_cast<size_t>(variable)];
  target.is_inline = false;
  target.placement.offset = offset;
}

void Metadata::set_content(int variable, std::vector<std::byte> content) noexcept {
  catalog_.variables[static_cast<size_t>(variable)].content = std::move(content);
}

void Metadata::lengthen(int number, int64_t records) noexcept {
  Variable& variable = catalog_.variables[static_cast<size_t>(number)];
  set_records(variable, records);
  if (Dimension* dimension = first_dimension_of(variable))
    dimension->length = std::max(dimension->length, records);
}

int64_t Metadata::grow_as_one(size_t first) noexcept {
  constexpr int64_t k_most = std::numeric_limits<int64_t>::max() / 2;
  if (!traits_.grows_as_one)
    return 0;
  auto& variables = catalog_.variables;
  const int64_t before = records_;
  for (size_t i = before < 0 ? 0 : first; i < variables.size(); ++i)
    if (variables[i].extendible)
      records_ = std::max(records_, variables[i].shape.front());
  int64_t added = 0;
  for (size_t i = records_ == before ? first : 0; i < variables.size(); ++i) {
    if (!variables[i].extendible)
      continue;
    const int64_t bytes = variables[i].placement.bytes;
    set_records(variables[i], records_);
    added += std::min(variables[i].placement.bytes - bytes, k_most - added);
    if (Dimension* dimension = first_dimension_of(variables[i]))
      dimension->length = records_;
  }
  return added;
}

Metadata::Space Metadata::space() const {
  Space space;
  for (const Variable& each : catalog_.variables)
    space.variables.push_back({each.placement, each.shape.empty() ? 0 : each.shape.front(), each.is_inline});
  for (const Dimension& each : catalog_.dimensions)
    space.dimensions.push_back(each.length);
  space.records = records_;
  return space;
}

void Metadata::restore(const Space& space) noexcept {
  for (size_t i = 0; i < space.variables.size(); ++i) {
    Variable& variable = catalog_.variables[i];
    variable.placement = space.variables[i].placement;
    variable.is_inline = space.variables[i].is_inline;
    if (!variable.shape.empty())
      variable.shape.front() = space.variables[i].rows;
  }
  for (size_t i = 0; i < space.dimensions.size(); ++i)
    catalog_.dimensions[i].length = space.dimensions[i];
  records_ = space.records;
}

}  // namespace windrow
