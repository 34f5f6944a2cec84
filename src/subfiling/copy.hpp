// SPDX-License-Identifier: BSD-3-Clause
// The variables of a file on their way into another that has them elsewhere.
#pragma once

#include <cstdint>
#include <span>

#include "dataio/data_file.hpp"
#include "format/format.hpp"

namespace windrow {

struct Relocation {
  std::span<const Variable> variables;  // where they are
  std::span<const Placement> places;    // [variables] where they go
  int rank = 0, ranks = 1;              // this rank copies its share
  int64_t buffer_bytes = 0;             // held meanwhile, whatever the file's size
};

// Local. What failed is in the files' status.
void copy_variables(const Relocation& relocation, DataFile& from, DataFile& to);

}  // namespace windrow
