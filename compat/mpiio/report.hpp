// SPDX-License-Identifier: BSD-3-Clause
// Tally: what became of the calls of one file, for WINDROW_MPIIO_REPORT.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "hooks.h"

namespace mpiio {

// "write_at_all_begin"
std::string name_of(const mpiio_call& call);

class Tally {
 public:
  // Whether the environment asks for a report.
  static bool is_wanted() noexcept;

  // `because`: why MPI's function was called; empty: Windrow moved the bytes. `bytes`: of all ranks, as far as known.
  void add(const mpiio_call& call, const char* because, int64_t bytes, double seconds) noexcept;
  // Appends a line to the report. Errors are printed.
  void write(const std::string& path, int ranks, const char* because, const std::string& message) const noexcept;

 private:
  std::string line(const std::string& path, int ranks, const char* because, const std::string& message) const;

  struct Sum {
    int64_t calls = 0;
    int64_t bytes = 0;
    double seconds = 0;
  };
  std::map<std::tuple<std::string, std::string>, Sum> sums_;  // [name, because]
};

}  // namespace mpiio
