// SPDX-License-Identifier: BSD-3-Clause
// Chooses the number of files for files=auto.
#pragma once

#include <cstdint>
#include <string>

#include "model/machine.hpp"
#include "storage/file_system.hpp"

namespace windrow {

struct FileCount {
  int64_t files = 1;  // 1: a single file without a set
  std::string why;    // for the plan's reasons
};

// Minimum size of a part of a variable in this case.
inline constexpr int64_t k_least_part_bytes = int64_t{64} << 20;

// A file that may get subfiles, and who writes it.
struct FileCountInput {
  FileSystem kind;
  bool can_split;  // whether its format supports subfiles
  int64_t ranks, hosts;
  int64_t targets = 0;  // number of targets in its layout; 0: unknown
};

// Deterministic. May throw std::bad_alloc.
FileCount choose_file_count(const FileCountInput& input);

// Uses the predicted seconds of the machine's storage if it has several targets; otherwise the rule above. `bytes`:
// expected size of the file; 0: unknown, and 64 MiB per rank is assumed.
FileCount choose_file_count_by(const Machine& machine, const FileCountInput& input, int64_t bytes);

}  // namespace windrow
