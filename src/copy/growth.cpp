// SPDX-License-Identifier: BSD-3-Clause
#include "copy/growth.hpp"

#include <algorithm>
#include <map>

namespace copying {

namespace {

// The most frequent value; if there are several, the first.
template <class Value>
Value most_frequent(const std::vector<Value>& values) {
  std::map<Value, int64_t> counts;
  for (const Value& value : values)
    ++counts[value];
  const auto found = std::max_element(values.begin(), values.end(),
                                      [&](const Value& a, const Value& b) { return counts.at(a) < counts.at(b); });
  return found == values.end() ? Value{} : *found;
}

}  // namespace

Growth::Growth(const Contents& contents) : contents_(contents) {
  for (const auto& [path, length] : contents.dimensions)
    lengths_[path] = length;
  for (const Item& item : contents.items)
    if (item.shape.size() == 1)
      lengths_.emplace(of(item.variable).path, item.shape.front());
  std::vector<std::string> names;
  std::vector<int64_t> unnamed;
  for (const Item& item : contents.items) {
    if (of(item.variable).extendible == 0)
      continue;
    const std::string name = name_of(item.variable);
    if (name.empty()) {
      unnamed.push_back(item.shape.front());
      continue;
    }
    names.push_back(name);
    lengths_[name] = std::max(lengths_[name], item.shape.front());
  }
  main_ = most_frequent(names);
  main_length_ = names.empty() ? most_frequent(unnamed) : lengths_[main_];
}

// A name is searched in the variable's group and its parents.
std::string Growth::name_of(int variable) const {
  const std::vector<std::string> names = dimension_names_of(of(variable));
  if (names.empty() || names.front().empty() || names.front().starts_with('/'))
    return names.empty() ? "" : names.front();
  for (std::string group = of(variable).path; !group.empty();) {
    group.resize(group.rfind('/'));
    const std::string path = group + "/" + names.front();
    if (lengths_.contains(path))
      return path;
  }
  return "";
}

int64_t Growth::length(int variable) const {
  const std::string name = name_of(variable);
  const auto found = lengths_.find(name);
  return found == lengths_.end() ? of(variable).shape[0] : found->second;
}

bool Growth::is_main(int variable) const {
  const std::string name = name_of(variable);
  const int64_t own = of(variable).shape[0];
  return name.empty() ? own == main_length_ || own == 0 : name == main_;
}

}  // namespace copying
