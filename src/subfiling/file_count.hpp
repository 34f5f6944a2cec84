// SPDX-License-Identifier: BSD-3-Clause
// How many files, where a program leaves it to us by files=auto.
#pragma once

#include <cstdint>
#include <string>

#include "model/machine.hpp"
#include "storage/file_system.hpp"

namespace windrow {

struct FileCount {
  int64_t files = 1;  // 1: one file, and no set
  std::string why;    // for the plan's reasons
};

// A variable has no parts smaller than this then.
inline constexpr int64_t k_least_part_bytes = int64_t{64} << 20;

// `can_split`: whether the file's format can have subfiles. `targets`: that a file's layout spreads it over; 0: it is
// not known. The same from the same numbers. May throw std::bad_alloc.
FileCount choose_file_count(FileSystem kind, bool can_split, int64_t ranks, int64_t hosts, int64_t targets = 0);

// The same by what the machine's storage is predicted to take, where it has several targets; else by the rule above.
// `bytes`: that there will be in the file; 0: it is not known, and what is predicted is of 64 MiB a rank.
FileCount choose_file_count_by(const Machine& machine, FileSystem kind, bool can_split, int64_t ranks, int64_t hosts,
                               int64_t targets, int64_t bytes);

}  // namespace windrow
