// SPDX-License-Identifier: BSD-3-Clause
// Settings: every option of the library, by key. The registry alone defines each key with its default, unit and
// description; a test compares docs/settings.md with it. Other modules define what a choice does and whether it is
// built in.
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
  // choice: "auto|none|team(N)|team(N,M)", where N and M are whole numbers >= 1; other kinds: ""
  std::string_view values;
  std::string_view unit;  // "bytes", "ranks", ...; "" without a unit
  int64_t least;          // integer and bytes: the smallest value
  std::string_view documentation;
};

// All keys, in the order of docs/settings.md.
std::span<const SettingInfo> setting_registry() noexcept;
const SettingInfo* find_setting(std::string_view key) noexcept;  // nullptr: no such key

// Keys that were probably meant: at most two edits away from `key`, or beginning with it.
std::vector<std::string_view> similar_settings(std::string_view key);

// The environment variable of a key: WINDROW_STRATEGY for "strategy".
std::string environment_name(std::string_view key);

// A choice and the numbers in its parentheses: "team(16)" is {"team", 16, 0}, "host" is {"host", 0, 0}.
struct Choice {
  std::string name;
  int64_t argument = 0;
  int64_t second = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// Values by key. Every value that is set is valid; a key that is not set has its default. Reading an unknown key is a
// defect of the caller and returns an empty value.
class Settings {
 public:
  // bad_argument: the key is unknown (the message names similar keys, or all), or the value is not accepted (the
  // message names the accepted ones).
  Status set(std::string_view key, std::string_view value);

  bool is_set(std::string_view key) const noexcept { return values_.find(key) != values_.end(); }
  std::string text(std::string_view key) const;
  Choice choice(std::string_view key) const;
  int64_t integer(std::string_view key) const noexcept;
  int64_t bytes(std::string_view key) const noexcept;
  bool boolean(std::string_view key) const noexcept;

  // Only values that are set, sorted by key: for comparison between ranks and for printing.
  const std::map<std::string, std::string, std::less<>>& values() const noexcept { return values_; }

 private:
  std::string_view lookup(std::string_view key) const noexcept;

  std::map<std::string, std::string, std::less<>> values_;
};

// The effective values: the program's value, else the environment's, else the default. bad_argument: a value in the
// environment is not valid; the message names the variable. Reads the environment of this process: in an MPI program it
// may differ between ranks.
Result<Settings> resolve(const Settings& program);

// The table of docs/settings.md.
std::string settings_table_markdown();

}  // namespace windrow
