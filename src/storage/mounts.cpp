// SPDX-License-Identifier: BSD-3-Clause
#include "storage/mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace windrow {
namespace {

std::string_view next_word(std::string_view& line, char separator) noexcept {
  const std::string_view word = line.substr(0, line.find(separator));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

// Blanks, tabs, newlines and backslashes are escaped as a backslash and three octal digits.
std::string unescaped(std::string_view word) {
  std::string text;
  const auto is_octal = [&](size_t at) { return word[at] >= '0' && word[at] <= '7'; };
  for (size_t i = 0; i < word.size(); ++i) {
    const bool escaped = word[i] == '\\' && word.size() - i > 3 && word[i + 1] <= '3' && is_octal(i + 1) &&
                         is_octal(i + 2) && is_octal(i + 3);
    text +=
        escaped ? static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 + (word[i + 3] - '0')) : word[i];
    if (escaped)
      i += 3;
  }
  return text;
}

bool contains(std::string_view folder, std::string_view path) noexcept {
  if (folder.ends_with('/'))
    folder.remove_suffix(1);
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string option_of(std::string_view options, std::string_view key) {
  while (!options.empty()) {
    const std::string_view word = next_word(options, ',');
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
      return std::string(word.substr(key.size() + 1));
  }
  return {};
}

std::string joined(std::string_view folder, std::string_view below) {
  while (folder.ends_with('/'))
    folder.remove_suffix(1);
  while (below.starts_with('/'))
    below.remove_prefix(1);
  return below.empty() && !folder.empty() ? std::string(folder) : fmt::format("{}/{}", folder, below);
}

// Parses the source of a mount by the kernel client.
void take_source(const Mount& mount, CephPlace& place) {
  const std::string_view source = mount.source;
  const size_t at = source.find('@'), equals = source.find("=/");
  if (at < equals && equals != std::string_view::npos && source.find('/') == equals + 1) {
    const std::string_view cluster = source.substr(at + 1, equals - at - 1);
    const size_t dot = cluster.find('.');
    place.user = source.substr(0, at);
    if (dot != std::string_view::npos)
      place.file_system = cluster.substr(dot + 1);
    place.root = source.substr(equals + 1);
    return;
  }
  if (const size_t colon = source.find(":/"); colon != std::string_view::npos)
    place.root = source.substr(colon + 1);
  place.user = option_of(mount.options, "name");
  place.file_system = option_of(mount.options, "mds_namespace");
  if (place.file_system.empty())
    place.file_system = option_of(mount.options, "fs");
}

}  // namespace

std::string mounts_of_process() {
  std::ifstream file("/proc/self/mountinfo");
  std::ostringstream text;
  if (file)
    text << file.rdbuf();
  return std::move(text).str();
}

// "36 35 98:0 /root /point rw,noatime shared:1 - type source options", with any number of optional fields.
std::vector<Mount> parse_mounts(std::string_view text) {
  constexpr size_t k_root = 3, k_point = 4, k_first_optional = 6;
  std::vector<Mount> mounts;
  while (!text.empty()) {
    std::string_view line = next_word(text, '\n');
    std::vector<std::string_view> words;
    while (!line.empty())
      words.push_back(next_word(line, ' '));
    if (words.size() < k_first_optional)
      continue;
    const auto dash = std::find(words.begin() + k_first_optional, words.end(), "-");
    if (words.end() - dash < 3 || !words[k_point].starts_with('/'))
      continue;
    mounts.push_back({.root = unescaped(words[k_root]),
                      .point = unescaped(words[k_point]),
                      .type = std::string(dash[1]),
                      .source = unescaped(dash[2]),
                      .options = words.end() - dash > 3 ? std::string(dash[3]) : ""});
  }
  return mounts;
}

const Mount* mount_of(std::span<const Mount> mounts, std::string_view path) noexcept {
  const Mount* innermost = nullptr;
  for (const Mount& mount : mounts)
    if (contains(mount.point, path) && (innermost == nullptr || mount.point.size() >= innermost->point.size()))
      innermost = &mount;
  return innermost;
}

Result<CephPlace> place_in_cephfs(std::span<const Mount> mounts, std::string_view path) {
  const Mount* mount = mount_of(mounts, path);
  const bool kernel = mount != nullptr && mount->type == "ceph";
  if (mount == nullptr || (!kernel && mount->type != "fuse.ceph-fuse"))
    return Status{Code::unsupported, fmt::format("\"{}\" lies on no mount of CephFS{}", path,
                                                 mount == nullptr ? "" : ", but on one of " + mount->type)};
  CephPlace place{.user = {},
                  .file_system = {},
                  .root = "/",
                  .path = joined(mount->root, path.substr(std::min(path.size(), mount->point.size())))};
  if (kernel)
    take_source(*mount, place);
  if (place.root.size() > 1 && place.root.ends_with('/'))
    place.root.pop_back();
  return place;
}

}  // namespace windrow
