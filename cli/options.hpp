// SPDX-License-Identifier: BSD-3-Clause
// The options that subcommands share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <windrow/windrow.hpp>

#include "cli/console.hpp"

namespace cli {

// What `options` say in the CLI: strategy first, then each --set, so that the latter can refine the former.
struct Settings {
  std::string strategy;
  std::vector<std::string> pairs;  // "key=value"
  int64_t buffer_bytes = 16 << 20;
};
// Throws Failure for an unknown key or value. Local, and the same on every rank.
windrow::Options options_from(const Settings& settings);

}  // namespace cli
