// SPDX-License-Identifier: BSD-3-Clause
// Copies the variables of a file to another file with other positions.
#pragma once

#include <cstdint>
#include <span>

#include "dataio/data_file.hpp"
#include "format/format.hpp"

namespace windrow {

struct Relocation {
  std::span<const Variable> variables;  // old positions
  std::span<const Placement> places;    // [variables] new positions
  int rank = 0, ranks = 1;              // this rank copies its share
  int64_t buffer_bytes = 0;             // memory used, independent of the size of the file
};

// Local. The two files keep the errors.
void copy_variables(const Relocation& relocation, DataFile& from, DataFile& to);

}  // namespace windrow
