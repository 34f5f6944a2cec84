// SPDX-License-Identifier: BSD-3-Clause
// Helpers of all subcommands: exit codes, output (by rank 0 only), collective errors, sizes and times as text.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "copy/ranks.hpp"

namespace cli {

// Documented in docs/cli.md; scripts depend on them.
enum Exit : int {
  k_exit_ok = 0,
  k_exit_failed = 1,      // the work failed: storage, memory, a damaged file
  k_exit_mistake = 2,     // a usage error: the command line, or a file named in it; nothing was written
  k_exit_unsupported = 3  // the file has parts that cannot be read or copied yet; nothing was written
};

// Ends a subcommand. Thrown on every rank; main() prints the message on rank 0.
class Failure : public std::runtime_error {
 public:
  Failure(Exit exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  Exit exit_code() const noexcept { return exit_code_; }

 private:
  Exit exit_code_;
};

struct World {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  bool prints() const noexcept { return rank == 0; }
  copying::Ranks ranks() const noexcept { return {comm, rank, size}; }
};

// Rank 0 calls `inspect`, which returns "" or an error, or throws; every rank then throws a Failure. Collective.
void require_on_rank_0(const World& world, const std::function<std::string()>& inspect,
                       Exit otherwise = k_exit_mistake);

void print_line(const World& world, const std::string& line);        // stdout, rank 0
void print_error_line(const World& world, const std::string& line);  // stderr, rank 0, after "windrow: "

std::vector<std::string> lines_of(const char* text);  // none of nullptr
std::string bytes_text(int64_t bytes);                // "37.6 MB": decimal units
std::string seconds_text(double seconds);             // "0.42 s", "3 min 07 s"
std::string one_line(std::string text);  // replaces control characters by spaces, because names come from foreign files

}  // namespace cli
