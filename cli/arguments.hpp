// SPDX-License-Identifier: BSD-3-Clause
// The command line: what can be said, and its help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/transfer.hpp"

namespace cli {

enum class Command { none, copy, info, check, references, report };
enum class Bar { automatic, always, never };

struct Arguments {
  Command command = Command::none;
  std::string input;
  std::string output;
  std::string prefix;  // of references
  std::string format;  // of the output; "": by its name
  Settings settings;
  Bar bar = Bar::automatic;
  bool explain = false;
  bool json = false;
  bool quiet = false;
  bool features = false;
};

// Either the arguments, or a text to print (help, version): then `command` is none.
struct Parsed {
  Arguments arguments;
  std::string text;
};
// Local and the same on every rank. Throws Failure (one line) for a mistake.
Parsed parse(int argc, const char* const* argv);

// Whether rank 0 draws a bar.
bool shows_bar(const Arguments& arguments, int rank);

}  // namespace cli
