// SPDX-License-Identifier: BSD-3-Clause
// Settings: every option of the library, by key. The registry is the one place where a key, its default, its unit and
// its meaning are written; docs/settings.md is checked against it. What a choice does, and whether it is built in,
// others know.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

enum class SettingKind {
  choice,
  integer,
  bytes,
  boolean,
  text
};

struct SettingInfo {
  std::string_view key;
  SettingKind kind;
  std::string_view default_text;
  std::string_view values;  // choice: "auto|none|team(N)|team(N,M)", where N and M are whole numbers >= 1; others: ""
  std::string_view unit;    // "bytes", "ranks", ...; "" where there is none
  int64_t least;            // integer and bytes: the smallest value
  std::string_view documentation;
};

// All keys, in the order of docs/settings.md.
std::span<const SettingInfo> setting_registry() noexcept;
const SettingInfo* find_setting(std::string_view key) noexcept;  // nullptr: no such key

// Keys that may have been meant: two letters from `key` at most, or beginning with it.
std::vector<std::string_view> similar_settings(std::string_view key);

// What the environment calls a key: "strategy" is WINDROW_STRATEGY.
std::string environment_name(std::string_view key);

// A choice and the numbers in its parentheses: "team(16)" is {"team", 16, 0}, "host" is {"host", 0, 0}.
struct Choice {
  std::string name;
  int64_t argument = 0;
  int64_t second = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// Values by key. What is set is valid; what is not set has its default. Reading a key that does not exist is a defect
// of the caller: it gives an empty value.
class Settings {
 public:
  // bad_argument: no such key (the message names similar ones, or all), or a value that it cannot have (the message
  // says which it can).
  Status set(std::string_view key, std::string_view value);

  bool is_set(std::string_view key) const noexcept { return values_.find(key) != values_.end(); }
  std::string text(std::string_view key) const;
  Choice choice(std::string_view key) const;
  int64_t integer(std::string_view key) const noexcept;
  int64_t bytes(std::string_view key) const noexcept;
  bool boolean(std::string_view key) const noexcept;

  // Only what is set, sorted by key: to compare ranks, to print.
  const std::map<std::string, std::string, std::less<>>& values() const noexcept { return values_; }

 private:
  std::string_view lookup(std::string_view key) const noexcept;

  std::map<std::string, std::string, std::less<>> values_;
};

// What holds: the program's value, else the environment's, else the default. bad_argument: a value of the environment
// is not valid; the message names the variable. Reads the environment of this process: in an MPI program ranks may
// differ.
Result<Settings> resolve(const Settings& program);

// The table of docs/settings.md.
std::string settings_table_markdown();

}  // namespace windrow
