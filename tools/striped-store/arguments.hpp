// SPDX-License-Identifier: BSD-3-Clause
// The command line.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "settings.hpp"

namespace striped_store {

enum class Command {
  none,
  up,
  down
};

struct Arguments {
  Command command = Command::none;
  Settings settings;
  std::vector<std::string> down;
  std::string text;  // of none: what was asked for, help
};

struct Mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Arguments parse(int argc, const char* const* argv);  // throws Mistake

}  // namespace striped_store
