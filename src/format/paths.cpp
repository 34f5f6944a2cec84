// SPDX-License-Identifier: BSD-3-Clause
#include "format/paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "format/check.hpp"

namespace windrow {

Result<std::string> clean_path(const std::string& path) {
  std::string clean = path.starts_with('/') ? path : "/" + path;
  while (clean.size() > 1 && clean.back() == '/')
    clean.pop_back();
  if (clean.find("//") != std::string::npos)
    return Status{Code::bad_argument, fmt::format("the path \"{}\" contains an empty name", path)};
  for (size_t begin = 1; begin < clean.size();) {
    const size_t end = std::min(clean.find('/', begin), clean.size());
    const std::string_view name(clean.data() + begin, end - begin);
    if (name == "." || name == "..")
      return Status{Code::bad_argument, fmt::format("the path \"{}\" contains \"{}\"", path, name)};
    begin = end + 1;
  }
  return clean;
}

std::vector<std::string> parents_of(const std::string& path) {
  std::vector<std::string> parents;
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    parents.push_back(path.substr(0, at));
  return parents;
}

Status check_new_name(std::string_view name) {
  if (is_utf8(name))
    return {};
  return {Code::bad_argument, fmt::format("the name \"{}\" is not valid UTF-8", readable(name))};
}

namespace {

Status check_depth(std::string_view path, int64_t groups) {
  if (groups <= k_most_groups)
    return {};
  return {Code::bad_argument, fmt::format("the path \"{}...\" has {} groups; the maximum is {}",
                                          path.substr(0, path.find('/', 1)), groups, k_most_groups)};
}

}  // namespace

Status check_new_path(std::string_view path) {
  if (Status status = check_new_name(path); !status.ok())
    return status;
  return check_depth(path, std::ranges::count(path, '/') - (path.starts_with('/') ? 1 : 0));
}

Status check_new_group(std::string_view path) {
  if (Status status = check_new_name(path); !status.ok())
    return status;
  return check_depth(path, std::ranges::count(path, '/') + (path.starts_with('/') ? 0 : 1));
}

}  // namespace windrow
