// SPDX-License-Identifier: BSD-3-Clause
// Names of dimensions. A name is looked for as netCDF does: in the group of the variable, then in those above it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

std::string inside(const std::string& group, std::string_view name) {
  return (group == "/" ? std::string("/") : group + '/') + std::string(name);
}

// Whether a variable names the dimension of its name.
bool names_itself(const Variable& variable) {
  return !variable.dimensions.empty() && variable.dimensions.front() == variable.path;
}

}  // namespace

// The length of what is called `path`, if that is no variable and names dimensions.
const Dimension* File::dimension_of(const std::string& path, std::span<const Dimension> added) const {
  if (const auto found = dimension_numbers_.find(path); found != dimension_numbers_.end())
    return &catalog_.dimensions[static_cast<size_t>(found->second)];
  for (const Dimension& dimension : added)
    if (dimension.path == path)
      return &dimension;
  return nullptr;
}

void File::drop_dimension(const std::string& path) noexcept {
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

void File::number_dimensions() {
  dimension_numbers_.clear();
  for (size_t i = 0; i < catalog_.dimensions.size(); ++i)
    dimension_numbers_.emplace(catalog_.dimensions[i].path, static_cast<int>(i));
}

bool File::grows(const Dimension& dimension) const noexcept {
  return dimension.grows ||
         std::any_of(catalog_.variables.begin(), catalog_.variables.end(), [&](const Variable& variable) {
           return variable.extendible && !variable.dimensions.empty() && variable.dimensions.front() == dimension.path;
         });
}

// Whether a variable's dimension can be called by one of `length`. What grows by itself may have fewer records than
// others along the same dimension.
bool File::fits_dimension(const Variable& variable, size_t number, int64_t length) const noexcept {
  const bool may_lag = number == 0 && variable.extendible && !traits_.grows_as_one;
  return variable.shape[number] == length || (may_lag && variable.shape[number] < length);
}

// Whether the variable `other` names dimension `number` of a variable; of itself it does where that is its first
// dimension, as in netCDF-4, and else is only called like it. `own_first`: the first dimension of `variable` is its own
// name.
Result<bool> File::names_dimension(const Variable& other, const Variable& variable, size_t number,
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

// The path of what names dimension `number` of a variable; what is not there yet is added.
Result<std::string> File::find_dimension(const Variable& variable, size_t number, const std::string& name,
                                         bool own_first, std::vector<Dimension>& added) const {
  const int64_t length = variable.shape[number];
  if (name.empty())
    return std::string();
  if (Status status = check_new_path(name); !status.ok())
    return status;
  const bool is_path = name.starts_with('/');
  auto clean = clean_path(name);
  if (!clean.ok())
    return clean.status();
  if (!is_path && name.find('/') != std::string::npos)
    return Status{Code::bad_argument,
                  fmt::format("dimension \"{}\": a name has no slash in it, and a path begins with one", name)};
  const std::string first = is_path ? clean.value() : inside(parent_of(variable.path), name);
  for (std::string group = parent_of(first);; group = parent_of(group)) {
    const std::string path = is_path ? first : inside(group, name);
    if (const Dimension* found = dimension_of(path, added)) {
      const bool may_lead =
          number == 0 && variable.extendible && !traits_.grows_as_one && grows(*found);  // with its longest variable
      if (fits_dimension(variable, number, found->length) || may_lead)
        return path;
      return Status{Code::bad_argument, fmt::format("dimension {} of \"{}\" has length {}; \"{}\" has {}",
                                                    shown_dimension(number, variable.shape.size()), variable.path,
                                                    length, path, found->length)};
    }
    if (const auto found = variable_numbers_.find(path); found != variable_numbers_.end()) {
      const auto is_named_by =
          names_dimension(catalog_.variables[static_cast<size_t>(found->second)], variable, number, own_first);
      if (!is_named_by.ok())
        return is_named_by.status();
      if (is_named_by.value())
        return path;
    }
    if (is_path || group == "/")
      break;
  }
  if (is_taken(first) && first != variable.path)
    return Status{Code::exists, fmt::format("\"{}\" in \"{}\" is not a dimension", first, path_)};
  added.push_back({first, length, number == 0 && variable.extendible});
  return first;
}

std::vector<std::string> File::dimension_names(const Variable& variable) const {
  std::vector<std::string> names;
  for (const std::string& path : variable.dimensions) {
    const std::string name = path.substr(path.rfind('/') + 1);
    std::string group = parent_of(variable.path), found;
    for (; found.empty(); group = parent_of(group)) {
      const std::string candidate = inside(group, name);
      if (dimension_of(candidate, {}) != nullptr || variable_numbers_.contains(candidate))
        found = candidate;
      if (group == "/")
        break;
    }
    names.push_back(path.empty() || found == path ? name : path);
  }
  return names;
}

Status File::check_namable(int variable, size_t names) const {
  if (variable < 0 || variable >= static_cast<int>(catalog_.variables.size()))
    return {Code::bad_argument,
            fmt::format("name dimensions: \"{}\" has no variable number {}", path_, shown_index(variable))};
  const Variable& target = catalog_.variables[static_cast<size_t>(variable)];
  if (names == target.shape.size())
    return {};
  return {Code::bad_argument,
          fmt::format("\"{}\" has {}, not {}", target.path, counted(target.shape.size(), "dimension"), names)};
}

// Collective, after all ranks have agreed on what is to be done: rank 0 does it, and all enter what it has done.
// `named`: a variable whose dimensions get names too, or nullptr.
Status File::define_dimensions(Additions groups, std::vector<Dimension> added, const Variable* named,
                               const std::vector<std::string>& names) {
  std::map<std::string, int, std::less<>> numbers;  // made beforehand, so that entering them cannot fail
  Status local = guard([&] {
    for (const Dimension& dimension : added)
      numbers.emplace(dimension.path, static_cast<int>(catalog_.dimensions.size() + numbers.size()));
    return Status();
  });
  if (local.ok() && comm_->rank() == 0)
    local = guard([&]() -> Status {
      if (Status status = define_groups_on_root(groups.groups); !status.ok())
        return status;
      for (const Dimension& dimension : added)
        // One that is there already was made by a call that failed afterwards.
        if (Status status = format_->define_dimension(dimension); !status.ok() && status.code() != Code::exists)
          return status;
      return named != nullptr ? format_->name_dimensions(named->path, names) : Status{};
    });
  const bool in_parts = subfiles_ && named != nullptr && traits_.names_dimensions;
  if (in_parts)
    local = agree(*comm_, std::move(local));  // what the base file refuses comes to no subfile
  if (local.ok() && in_parts)
    local = guard([&] { return name_dimensions_of_parts(*named, names, added); });
  unplaced_ = traits_.places_late;
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  enter_groups(groups);
  for (Dimension& dimension : added)
    catalog_.dimensions.push_back(std::move(dimension));
  dimension_numbers_.merge(numbers);
  return {};
}

// Local: in subfiles as in the base file, where parts have their lengths. Coordinates may be split otherwise than what
// they are coordinates of.
Status File::name_dimensions_of_parts(const Variable& named, const std::vector<std::string>& names,
                                      std::span<const Dimension> added) {
  for (const std::string& path : names)
    if (path != named.path && is_split(path) && dimension_of(path, added) == nullptr)
      if (Status status = for_own_parts(path, [&](Format& format) { return format.name_dimensions(path, {path}); });
          !status.ok())
        return status;
  if (!is_split(named.path))
    return {};
  return for_own_parts(named.path, [&](Format& format) { return format.name_dimensions(named.path, names); });
}

Status File::define_dimension(const std::string& path, int64_t length, Status local) {
  const CallScope call(*comm_, Call::define_dimension, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions groups;
  std::vector<Dimension> added;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("define a dimension"); !status.ok())
        return status;
      if (Status status = check_new_path(path); !status.ok())
        return status;
      auto clean = clean_path(path);
      if (!clean.ok())
        return clean.status();
      added.push_back({std::move(clean).value(), length, length == 0});
      if (Status status = check_dimension(added.front()); !status.ok())
        return status;
      const auto same = variable_numbers_.find(added.front().path);
      const bool is_free = same != variable_numbers_.end()
                               ? !names_itself(catalog_.variables[static_cast<size_t>(same->second)])
                               : !is_taken(added.front().path);
      if (!is_free || dimension_numbers_.contains(added.front().path))
        return {Code::exists, fmt::format("\"{}\" has \"{}\" already", path_, added.front().path)};
      if (Status status = missing_groups(added.front().path, false, groups); !status.ok())
        return status;
      make_room(catalog_.groups, groups.groups.size());
      make_room(catalog_.dimensions, added.size());
      return {};
    });
  const uint64_t arguments = hash_of({path, std::to_string(length)});
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "path or length of the dimension",
                                  [&] {
                                    return quoted({path, std::to_string(length)});
                                  });
      !verdict.ok())
    return verdict;
  return define_dimensions(std::move(groups), std::move(added), nullptr, {});
}

Status File::name_dimensions(int variable, const std::vector<std::string>& names, Status local) {
  const CallScope call(*comm_, Call::name_dimensions, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions groups;
  std::vector<Dimension> added;
  std::vector<std::string> dimensions;
  std::vector<std::pair<Variable*, std::vector<std::string>>>
      named;  // made beforehand, so that entering it cannot fail
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("name dimensions"); !status.ok())
        return status;
      if (Status status = check_namable(variable, names.size()); !status.ok())
        return status;
      const Variable& target = catalog_.variables[static_cast<size_t>(variable)];
      for (size_t i = 0; i < names.size(); ++i) {
        auto path =
            find_dimension(target, i, names[i], !dimensions.empty() && dimensions.front() == target.path, added);
        if (!path.ok())
          return path.status();
        dimensions.push_back(std::move(path).value());
      }
      if (!target.dimensions.empty() && target.dimensions != dimensions)
        return {Code::exists, fmt::format("the dimensions of \"{}\" have names already: {}", target.path,
                                          fmt::join(dimension_names(target), ", "))};
      for (const std::string& each : dimensions)
        if (const auto found = variable_numbers_.find(each);
            found != variable_numbers_.end() && dimension_of(each, added) == nullptr && each != target.path)
          if (Variable& coordinate = catalog_.variables[static_cast<size_t>(found->second)];
              coordinate.shape.size() == 1)
            named.push_back({&coordinate, {each}});
      named.push_back({&catalog_.variables[static_cast<size_t>(variable)], dimensions});
      for (const Dimension& dimension : added)
        if (Status status = missing_groups(dimension.path, false, groups); !status.ok())
          return status;
      std::string text = std::to_string(variable);
      for (const std::string& name : names)
        text += fmt::format("|{}:{}", name.size(), name);
      arguments = hash_of({text});
      make_room(catalog_.groups, groups.groups.size());
      make_room(catalog_.dimensions, added.size());
      return {};
    });
  const auto describe = [&] {
    std::vector<std::string> texts = quoted({catalog_.variables[static_cast<size_t>(variable)].path});
    for (const std::string& name : names)
      texts.push_back(quoted({name}).front());
    return texts;
  };
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "variable or names of the dimensions", describe);
      !verdict.ok())
    return verdict;
  if (Status verdict = define_dimensions(std::move(groups), std::move(added), named.back().first, dimensions);
      !verdict.ok())
    return verdict;
  const Variable& target = *named.back().first;
  if (const auto first = target.extendible ? dimension_numbers_.find(dimensions.front()) : dimension_numbers_.end();
      first != dimension_numbers_.end()) {
    Dimension& dimension = catalog_.dimensions[static_cast<size_t>(first->second)];
    dimension.length = std::max(dimension.length, target.shape.front());
  }
  for (auto& [entered, names_of_it] : named)
    entered->dimensions = std::move(names_of_it);
  if (names_itself(target))
    drop_dimension(target.path);  // the variable names it from now on
  return {};
}

}  // namespace windrow
