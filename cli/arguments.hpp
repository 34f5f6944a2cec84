// SPDX-License-Identifier: BSD-3-Clause
// The command line and its help.
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
  mpiio_env,
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

// Arguments of `simulate`.
struct SimulateArguments {
  std::string machine = "";  // a machine file, or the name of a built-in machine
  int64_t ranks = 0;         // 0: number of ranks in the trace
  std::string pattern = "rows";
  std::string shape, grid;  // "1920x1920x480"
  int64_t block = 1, element_bytes = 8, variables = 1;
  int64_t flush = 0;  // of the trace Arguments::input; 0: the last
  bool reads = false, all_open = false, in_step = false, at_once = false, lists = false, by_rule = false;
  int64_t splits = 0, list_pieces = 1, times = 1;
  double shrinks_to = windrow::k_usual_ratio;
  std::string shown;  // the built-in machine whose file is printed
};

struct Arguments {
  Command command = Command::none;
  std::string input;
  std::string output;
  std::string prefix;   // of references
  std::string machine;  // machine file of advise
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

// Either the arguments, or a text to print (help, version) with `command` none.
struct Parsed {
  Arguments arguments;
  std::string text;
};
// Local, and the same on every rank. Throws Failure with one line for a usage error.
Parsed parse(int argc, const char* const* argv);

// Whether rank 0 shows a progress bar.
bool shows_bar(const Arguments& arguments, int rank);

}  // namespace cli
