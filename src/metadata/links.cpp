// SPDX-License-Identifier: BSD-3-Clause
// Metadata: soft links.
#include <fmt/format.h>

#include <algorithm>

#include "format/check.hpp"
#include "format/paths.hpp"
#include "metadata/metadata.hpp"

namespace windrow {
namespace {

constexpr int k_most_links = 16;  // maximum that is followed in a row, as in HDF5 (H5L_NUM_LINKS)

// Removes redundant parts of a path: "/a/./b//" becomes "/a/b".
std::string normalized(std::string_view path) {
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

std::string Metadata::follow(std::string path) const {
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
    path = normalized(from + *target + path.substr(end));
  }
  return path;
}

Result<std::string> Metadata::resolve(const std::string& path) const {
  auto clean = clean_path(path);
  if (!clean.ok())
    return clean.status();
  return follow(std::move(clean).value());
}

Status Metadata::check_link(const std::string& path, const std::string& target, LinkAddition& added) {
  if (Status status = check_new_path(path); !status.ok())
    return status;
  if (Status status = check_new_name(target); !status.ok())
    return status;
  auto clean = clean_path(path);
  if (!clean.ok())
    return clean.status();
  added.link = {std::move(clean).value(), target};
  if (Status status = windrow::check_link(added.link); !status.ok())
    return status;
  if (is_taken(added.link.path) || dimension_numbers_.contains(added.link.path))
    return {Code::exists, fmt::format("\"{}\" has \"{}\" already", path_, added.link.path)};
  if (Status status = missing_groups(added.link.path, false, added.groups); !status.ok())
    return status;
  added.target.emplace(added.link.path, added.link.target);
  reserve(added.groups);
  make_room(catalog_.links, 1);
  return {};
}

void Metadata::enter_link(LinkAddition& added) noexcept {
  enter_groups(added.groups);
  catalog_.links.push_back(std::move(added.link));
  link_targets_.merge(added.target);
}

}  // namespace windrow
