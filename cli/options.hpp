// SPDX-License-Identifier: BSD-3-Clause
// Options of several subcommands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <windrow/windrow.hpp>

#include "cli/console.hpp"

namespace cli {

// The command line's library options: the strategy, then each --set, which refines it.
struct Settings {
  std::string strategy;
  std::vector<std::string> pairs;  // "key=value"
  int64_t buffer_bytes = 16 << 20;
};
// Throws Failure for an unknown key or value. Local, and the same on every rank.
windrow::Options options_from(const Settings& settings);

}  // namespace cli
