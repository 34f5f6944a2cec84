// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbering.hpp"

namespace windrow {

std::string text_dimension(int64_t bytes) {
  return fmt::format("string{}", bytes);
}

void NetcdfDimensions::add(const std::string& name, int64_t length, bool unlimited) {
  if (lengths_.try_emplace(name, length).second)
    order_.push_back(name);
  if (unlimited)
    unlimited_ = name;
}

std::string NetcdfDimensions::fitting(const std::string& name, int64_t length, const Lengths& more) const {
  for (int i = 1;; ++i) {
    std::string candidate = i == 1 ? name : fmt::format("{}_{}", name, i);
    const auto known = lengths_.find(candidate), added = more.find(candidate);
    const int64_t found = known != lengths_.end() ? known->second : added != more.end() ? added->second : length;
    if (candidate == unlimited_ || found == length)
      return candidate;
  }
}

Status NetcdfDimensions::name(const Variable& variable, const std::vector<std::string>& paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty())
      continue;
    const std::string name = paths[i].substr(1);
    const bool grows = variable.extendible && i == 0;
    if (grows && !unlimited_.empty() && unlimited_ != name)
      return {
          Code::unsupported,
          fmt::format("\"{}\": netCDF classic has only one unlimited dimension, here \"{}\"; \"{}\" would be a second",
                      variable.path, unlimited_, name)};
    if (grows && fixed_.contains(name))
      return {Code::unsupported,
              fmt::format("\"{}\" is extendible, but \"{}\" is a dimension of fixed length of other variables",
                          variable.path, name)};
    if (!grows && name == unlimited_)
      return {
          Code::unsupported,
          fmt::format(
              "dimension {} of \"{}\" has a fixed length, but \"{}\" is the unlimited dimension of this netCDF classic "
              "file: only the {} dimension of a variable defined with the option extendible can have this name",
              shown_dimension(i, paths.size()), variable.path, name, slowest_side())};
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty())
      continue;
    const bool grows = variable.extendible && i == 0;
    add(paths[i].substr(1), variable.shape[i], grows);
    if (!grows)
      fixed_.insert(paths[i].substr(1));
  }
  return {};
}

namespace {

// The dimensions of a header under construction.
struct Made {
  std::vector<NetcdfDimension> list;
  std::map<std::string, int, std::less<>> numbers;
  size_t named = 0;  // the first entries, whose names were given

  int add(const std::string& name, int64_t length, bool unlimited) {
    const auto number = static_cast<int>(list.size());
    list.push_back({name, length, unlimited});
    numbers.emplace(name, number);
    return number;
  }
  // A dimension with this name, or with the name and a number if the name is used for something else.
  int made_up(const std::string& name, int64_t length, bool unlimited, bool share) {
    for (int i = 1;; ++i) {
      const std::string candidate = i == 1 ? name : fmt::format("{}_{}", name, i);
      const auto found = numbers.find(candidate);
      if (found == numbers.end())
        return add(candidate, length, unlimited);
      const NetcdfDimension& known = list[static_cast<size_t>(found->second)];
      const bool same = known.length == length && known.unlimited == unlimited;
      if (same && (share || static_cast<size_t>(found->second) >= named))
        return found->second;
    }
  }
};

}  // namespace

std::vector<NetcdfDimension> NetcdfDimensions::all(const std::vector<Variable>& variables,
                                                   std::vector<std::vector<int>>& numbers) const {
  Made made;
  for (const std::string& name : order_)
    made.add(name, lengths_.find(name)->second, name == unlimited_);
  made.named = made.list.size();
  int unlimited = unlimited_.empty() ? -1 : made.numbers.find(unlimited_)->second;
  numbers.clear();
  for (const Variable& variable : variables) {
    std::vector<int>& own = numbers.emplace_back();
    for (size_t i = 0; i < variable.shape.size(); ++i) {
      const int64_t length = variable.shape[i];
      if (variable.extendible && i == 0) {
        if (unlimited < 0)
          unlimited = made.made_up("record", 0, true, false);
        own.push_back(unlimited);
      } else if (i < variable.dimensions.size() && !variable.dimensions[i].empty()) {
        own.push_back(made.numbers.find(variable.dimensions[i].substr(1))->second);
      } else {
        own.push_back(made.made_up(fmt::format("dim_{}", length), length, false, false));
      }
    }
    if (variable.type == Type::text && variable.details.bytes > 1)
      own.push_back(made.made_up(text_dimension(variable.details.bytes), variable.details.bytes, false, true));
  }
  return std::move(made.list);
}

}  // namespace windrow
