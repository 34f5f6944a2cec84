// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "base/settings.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_begin = "WINDROW_";
constexpr std::string_view k_of_tests = "TEST_";  // a prefix

constexpr auto k_others = std::to_array<std::string_view>(
    {// Names of the library and of the SCORPIO layer.
     "MPIIO", "MPIIO_CHOICE", "MPIIO_REPORT", "MPIIO_SMALL", "RANKS_PER_HOST", "SCORPIO_MESSAGES",
     // Installation paths, as module files of clusters set them.
     "DIR", "HOME", "INCLUDE", "LIBRARY", "PREFIX", "ROOT", "VERSION",
     // Tools of the project.
     "CEPH", "CEPH_OSD_BYTES", "NETWORK", "NETWORK_AGENT", "NETWORK_HOSTS", "PATIENT_YIELD",
     // Tests of the project.
     "APPEND", "APPENDING", "BYTES", "CHANGE", "CHANGES", "CHECKPOINT", "CLIMATE", "COMMAND", "DEFINITIONS", "ENDINGS",
     "HALVES", "HOSTS_PROGRAM", "KILLED", "KILLED_AT", "LAUNCHER", "MESH", "MPIRUN", "NAMES", "NEARLY_FULL", "PACKAGE",
     "PYTHON_PACKAGE", "RANKS", "REPORT", "SAMPLE", "SLOW_LINK", "STEPS_PROGRAM", "STRIPED_STORE", "TRACED",
     "TRACED_BYTES", "TRANSISTOR"});

std::string key_of(std::string_view name) {
  std::string key(name.substr(k_begin.size()));
  for (char& c : key)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

bool is_read(std::string_view name) {
  const std::string_view rest = name.substr(k_begin.size());
  if (rest.starts_with(k_of_tests) || std::ranges::find(k_others, rest) != k_others.end())
    return true;
  const SettingInfo* const info = find_setting(key_of(name));
  return info != nullptr && environment_name(info->key) == name;
}

}  // namespace

// Reads the environment once: it has some hundred other variables, and every opened file looks up each setting.
std::vector<EnvironmentVariable> own_environment() {
  std::vector<EnvironmentVariable> own;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (std::strncmp(*each, k_begin.data(), k_begin.size()) != 0)
      continue;  // checked before the length is computed: some entries are long
    const std::string_view text(*each);
    const size_t end = text.find('=');
    if (end != std::string_view::npos)
      own.push_back({text.substr(0, end), text.substr(end + 1)});
  }
  std::ranges::stable_sort(own, {}, &EnvironmentVariable::name);
  return own;
}

std::span<const std::string_view> other_environment_names() noexcept {
  return k_others;
}

std::vector<std::string> environment_warnings() {
  std::vector<std::string> warnings;
  for (const EnvironmentVariable& variable : own_environment()) {
    if (is_read(variable.name))
      continue;
    std::vector<std::string> near;
    for (const std::string_view key : similar_settings(key_of(variable.name)))
      near.push_back(environment_name(key));
    warnings.push_back(fmt::format("environment variable {}: there is no option of this name{}", variable.name,
                                   near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
  }
  return warnings;
}

}  // namespace windrow
