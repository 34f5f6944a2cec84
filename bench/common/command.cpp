// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

namespace bench {
namespace {

void add_options(CLI::App& app, Command& command) {
  app.add_option("--scenario", command.scenario.scenario,
                 "grid-64, grid-128, mesh-LOAD[-cm|-random][-float32], e3sm, flash, s3d, scorpio, scorpio-rows, "
                 "scorpio-blocks, compressed, subfiling-64, subfiling-128, subfiling-flash, subfiling-s3d");
  app.add_option("--system", command.system, "Which of the program's ways to write");
  app.add_option("--dir", command.directory, "Folder for the files; it is emptied");
  app.add_option("--mesh", command.scenario.mesh, "Prefix of the mesh's parts files");
  app.add_option("--map", command.scenario.map, "Prefix of the decomposition map's parts files");
  app.add_option("--repetition", command.repetition, "Makes the values differ from those of other repetitions");
  app.add_flag("--durable", command.durable, "Write only, and on stable storage before the clock stops");
  app.add_option("--rewrite", command.rewrites, "Write only, and so many times more into the open file, in place")
      ->check(CLI::Range(0, k_most_rewrites));
  app.add_flag("--check-file", command.check_file, "Check every byte of the file by another way");
}

}  // namespace

int run_commands(int argc, char** argv, int rank, const std::function<void(const Command&)>& run) {
  std::string pipe;
  {
    CLI::App app{"One system of the benchmark; see bench/README.md"};
    Command command;
    add_options(app, command);
    app.add_option("--serve", pipe, "Take commands from the named pipe PREFIX.RANK");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    if (pipe.empty()) {
      run(command);
      return 0;
    }
  }
  std::ifstream commands(pipe + "." + std::to_string(rank));
  std::string line;
  while (std::getline(commands, line) && line != "quit") {
    CLI::App app;
    Command command;
    add_options(app, command);
    try {
      app.parse(line);
    } catch (const CLI::ParseError& error) {
      std::fprintf(stderr, "bad command \"%s\": %s\n", line.c_str(), error.what());
      return 2;
    }
    run(command);
  }
  return 0;
}

}  // namespace bench
