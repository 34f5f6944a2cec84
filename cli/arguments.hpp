// SPDX-License-Identifier: BSD-3-Clause
// The command line: what can be said, and its help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/machine.hpp"

namespace cli {

enum class Command {
  none,
  copy,
  info,
  check,
  references,
  report,
  simulate,
  calibrate,
  advise
};
enum class Bar {
  automatic,
  always,
  never
};

// What `simulate` is asked.
struct SimulateArguments {
  std::string machine = "";  // a machine file, or the name of a machine that is built in
  int64_t ranks = 0;         // 0: as many as the trace has
  std::string pattern = "rows";
  std::string shape, grid;  // "1920x1920x480"
  int64_t block = 1, element_bytes = 8, variables = 1;
  int64_t flush = 0;  // of the trace, which is Arguments::input; 0: its last
  bool reads = false, all_open = false, in_step = false, at_once = false, lists = false, by_rule = false;
  int64_t splits = 0, list_pieces = 1, times = 1;
  double shrinks_to = windrow::k_usual_ratio;
  std::string shown;  // the machine whose file is printed
};

struct Arguments {
  Command command = Command::none;
  std::string input;
  std::string output;
  std::string prefix;   // of references
  std::string machine;  // file, of advise
  std::string format;   // of the output; "": by its name
  Settings settings;
  Bar bar = Bar::automatic;
  bool explain = false;
  bool json = false;
  bool quiet = false;
  bool features = false;
  bool clean = false;  // of check
  SimulateArguments simulated;
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
