// SPDX-License-Identifier: BSD-3-Clause
// Metadata: names of dimensions. A name is searched as netCDF does: in the group of the variable, then in the groups
// above it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "metadata/metadata.hpp"

namespace windrow {
namespace {

std::string inside(const std::string& group, std::string_view name) {
  return (group == "/" ? std::string("/") : group + '/') + std::string(name);
}

// Whether a variable is a coordinate: the dimension has the name of the variable.
bool names_itself(const Variable& variable) {
  return !variable.dimensions.empty() && variable.dimensions.front() == variable.path;
}

}  // namespace

// Returns the dimension of this path, if it is a dimension without a variable; otherwise nullptr.
const Dimension* Metadata::dimension_at(const std::string& path, std::span<const Dimension> added) const {
  if (const auto found = dimension_numbers_.find(path); found != dimension_numbers_.end())
    return &catalog_.dimensions[static_cast<size_t>(found->second)];
  for (const Dimension& dimension : added)
    if (dimension.path == path)
      return &dimension;
  return nullptr;
}

Dimension* Metadata::first_dimension_of(const Variable& variable) noexcept {
  if (variable.dimensions.empty())
    return nullptr;
  const auto found = dimension_numbers_.find(variable.dimensions.front());
  return found == dimension_numbers_.end() ? nullptr : &catalog_.dimensions[static_cast<size_t>(found->second)];
}

void Metadata::drop_dimension(const std::string& path) noexcept {
  const auto found = dimension_numbers_.find(path);
  if (found == dimension_numbers_.end())
    return;
  const int number = found->second;
  catalog_.dimensions.erase(catalog_.dimensions.begin() + number);
  dimension_numbers_.erase(found);
  for (auto& [other, place] : dimension_numbers_)
    if (place > number)
      --place;
}

bool Metadata::grows(const Dimension& dimension) const noexcept {
  return dimension.grows ||
         std::any_of(catalog_.variables.begin(), catalog_.variables.end(), [&](const Variable& variable) {
           return variable.extendible && !variable.dimensions.empty() && variable.dimensions.front() == dimension.path;
         });
}

// Whether a dimension of `length` fits dimension `number` of a variable. An extendible variable may have fewer records
// than other variables along the same dimension.
bool Metadata::fits_dimension(const Variable& variable, size_t number, int64_t length) const noexcept {
  const bool may_lag = number == 0 && variable.extendible && !traits_.grows_as_one;
  return variable.shape[number] == length || (may_lag && variable.shape[number] < length);
}

// Whether the variable `other` names dimension `number` of `variable`. A variable names its own first dimension, as in
// netCDF-4; a later dimension only has the same name. `own_first`: the first dimension of `variable` has its name.
Result<bool> Metadata::names_dimension(const Variable& other, const Variable& variable, size_t number,
                                       bool own_first) const {
  const bool itself = &other == &variable;
  if (itself && (number == 0 || !own_first))
    return number == 0;
  const auto bad = [&](std::string_view why) {
    return Status(Code::bad_argument, fmt::format("\"{}\" cannot name a dimension of length {}: {}", other.path,
                                                  variable.shape[number], why));
  };
  if (other.null_space || (other.shape.size() != 1 && !itself && !names_itself(other)))
    return bad(fmt::format("it is a variable of {}", counted(other.shape.size(), "dimension")));
  if (!fits_dimension(variable, number, other.shape.front()))
    return bad(fmt::format("its length is {}", other.shape.front()));
  const bool is_free = itself || other.dimensions.empty() || other.dimensions.front().empty() || names_itself(other);
  return is_free ? Result<bool>(true)
                 : bad(fmt::format("its own dimension is called \"{}\"", other.dimensions.front()));
}

// Returns true, or the reason why dimension `number` of a variable cannot have this name.
Result<bool> Metadata::can_be_called(const Dimension& dimension, const Variable& variable, size_t number) const {
  const bool may_lead = number == 0 && variable.extendible;  // the dimension is as long as its longest variable
  if (fits_dimension(variable, number, dimension.length) || (may_lead && grows(dimension)))
    return true;
  return Status{Code::bad_argument, fmt::format("dimension {} of \"{}\" has length {}; \"{}\" has {}",
                                                shown_dimension(number, variable.shape.size()), variable.path,
                                                variable.shape[number], dimension.path, dimension.length)};
}

// Whether a variable with this path names dimension `number`.
Result<bool> Metadata::is_named_by(const std::string& path, const Variable& variable, size_t number,
                                   bool own_first) const {
  const auto found = variable_numbers_.find(path);
  if (found == variable_numbers_.end())
    return false;
  const Variable& other = catalog_.variables[static_cast<size_t>(found->second)];
  return names_dimension(other, variable, number, own_first);
}

namespace {

// The path of a dimension, or its name without redundant parts.
Result<std::string> clean_dimension(const std::string& name) {
  if (Status status = check_new_path(name); !status.ok())
    return status;
  auto clean = clean_path(name);
  if (clean.ok() && !name.starts_with('/') && name.find('/') != std::string::npos)
    return Status{
        Code::bad_argument,
        fmt::format("dimension \"{}\": a name must not contain a slash, and a path must begin with one", name)};
  return clean;
}

}  // namespace

// Returns the path of the dimension or variable that names dimension `number` of a variable. Adds a dimension if there
// is none.
Result<std::string> Metadata::find_dimension(const Variable& variable, size_t number, const std::string& name,
                                             bool own_first, std::vector<Dimension>& added) const {
  const int64_t length = variable.shape[number];
  if (name.empty())
    return std::string();
  const bool is_path = name.starts_with('/');
  auto clean = clean_dimension(name);
  if (!clean.ok())
    return clean.status();
  const std::string first = is_path ? clean.value() : inside(parent_of(variable.path), name);
  for (std::string group = parent_of(first);; group = parent_of(group)) {
    const std::string path = is_path ? first : inside(group, name);
    const Dimension* found = dimension_at(path, added);
    const Result<bool> is_named =
        found != nullptr ? can_be_called(*found, variable, number) : is_named_by(path, variable, number, own_first);
    if (!is_named.ok())
      return is_named.status();
    if (is_named.value())
      return path;
    if (is_path || group == "/")
      break;
  }
  if (is_taken(first) && first != variable.path)
    return Status{Code::exists, fmt::format("\"{}\" in \"{}\" is not a dimension", first, path_)};
  added.push_back({first, length, number == 0 && variable.extendible});
  return first;
}

std::vector<std::string> Metadata::dimension_names(const Variable& variable) const {
  std::vector<std::string> names;
  for (const std::string& path : variable.dimensions) {
    const std::string name = path.substr(path.rfind('/') + 1);
    std::string group = parent_of(variable.path), found;
    if (path.empty() || group == parent_of(path)) {  // no object of this name is nearer
      names.push_back(name);
      continue;
    }
    for (; found.empty(); group = parent_of(group)) {
      const std::string candidate = inside(group, name);
      if (dimension_at(candidate) != nullptr || variable_numbers_.contains(candidate))
        found = candidate;
      if (group == "/")
        break;
    }
    names.push_back(found == path ? name : path);
  }
  return names;
}

Status Metadata::check_namable(int variable, size_t names) const {
  if (variable < 0 || variable >= static_cast<int>(catalog_.variables.size()))
    return {Code::bad_argument,
            fmt::format("name dimensions: \"{}\" has no variable number {}", path_, shown_index(variable))};
  const Variable& target = catalog_.variables[static_cast<size_t>(variable)];
  if (names == target.shape.size())
    return {};
  return {Code::bad_argument,
          fmt::format("\"{}\" has {}, not {}", target.path, counted(target.shape.size(), "dimension"), names)};
}

Status Metadata::check_dimension(const std::string& path, int64_t length, DimensionAdditions& added) {
  if (Status status = check_new_path(path); !status.ok())
    return status;
  auto clean = clean_path(path);
  if (!clean.ok())
    return clean.status();
  const Dimension dimension{std::move(clean).value(), length, length == 0};
  if (Status status = windrow::check_dimension(dimension); !status.ok())
    return status;
  const auto same = variable_at(dimension.path);
  const bool is_free = same ? !names_itself(variable(*same)) : !is_taken(dimension.path);
  if (!is_free || dimension_numbers_.contains(dimension.path))
    return {Code::exists, fmt::format("\"{}\" has \"{}\" already", path_, dimension.path)};
  if (Status status = missing_groups(dimension.path, false, added.groups); !status.ok())
    return status;
  added.dimensions.push_back(dimension);
  reserve(added);
  return {};
}

Status Metadata::check_names(int number, const std::vector<std::string>& names, DimensionAdditions& added) {
  if (Status status = check_namable(number, names.size()); !status.ok())
    return status;
  const Variable& target = variable(number);
  std::vector<std::string> paths;
  for (size_t i = 0; i < names.size(); ++i) {
    auto path = find_dimension(target, i, names[i], !paths.empty() && paths.front() == target.path, added.dimensions);
    if (!path.ok())
      return path.status();
    paths.push_back(std::move(path).value());
  }
  if (!target.dimensions.empty() && target.dimensions != paths)
    return {Code::exists, fmt::format("the dimensions of \"{}\" have names already: {}", target.path,
                                      fmt::join(dimension_names(target), ", "))};
  for (const std::string& each : paths) {
    if (dimension_at(each, added.dimensions) != nullptr)
      continue;
    const auto coordinate = variable_at(each);
    if (coordinate && *coordinate != number && variable(*coordinate).shape.size() == 1)
      added.named.push_back({*coordinate, {each}});
  }
  added.named.push_back({number, std::move(paths)});
  for (const Dimension& dimension : added.dimensions)
    if (Status status = missing_groups(dimension.path, false, added.groups); !status.ok())
      return status;
  reserve(added);
  return {};
}

void Metadata::reserve(DimensionAdditions& added) {
  reserve(added.groups);
  make_room(catalog_.dimensions, added.dimensions.size());
  for (const Dimension& dimension : added.dimensions)
    added.numbers.emplace(dimension.path, static_cast<int>(catalog_.dimensions.size() + added.numbers.size()));
}

void Metadata::enter_dimensions(DimensionAdditions& added) noexcept {
  enter_groups(added.groups);
  for (Dimension& dimension : added.dimensions)
    catalog_.dimensions.push_back(std::move(dimension));
  dimension_numbers_.merge(added.numbers);
  for (auto& [number, names] : added.named)
    catalog_.variables[static_cast<size_t>(number)].dimensions = std::move(names);
  if (added.named.empty())
    return;
  const Variable& target = variable(added.named.back().first);
  if (Dimension* dimension = target.extendible ? first_dimension_of(target) : nullptr)
    dimension->length = std::max(dimension->length, target.shape.front());
  if (names_itself(target))
    drop_dimension(target.path);  // the variable names it from now on
}

}  // namespace windrow
