// SPDX-License-Identifier: BSD-3-Clause
// The command for a benchmark program: one per measurement, from its arguments or, as a server, line by line. A server
// stays alive between measurements, so programs take turns without a new start each time. While it waits, it blocks in
// a read and uses no processor time.
#pragma once

#include <functional>
#include <string>

#include "case.hpp"

namespace bench {

inline constexpr int k_most_rewrites = 16;

struct Command {
  CaseSettings scenario;  // rank and ranks are set by the program
  std::string system;     // which of the program's ways to write
  std::string directory;  // for the files; made, and emptied before and after
  int repetition = 0;
  bool durable = false;     // on stable storage before the clock stops; write only
  int rewrites = 0;         // writes more into the open file, in place; write only
  bool check_file = false;  // read the file by another way and check every byte
};

// Runs the command in argv, or, with --serve PREFIX, those that arrive through the named pipe PREFIX.RANK, a line each,
// until "quit". Returns the exit code of the program.
int run_commands(int argc, char** argv, int rank, const std::function<void(const Command&)>& run);

}  // namespace bench
