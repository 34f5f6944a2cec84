// SPDX-License-Identifier: BSD-3-Clause
// Decompositions from the arguments of the C interface.
#pragma once

#include "capi/handles.hpp"
#include "decomposition/decomposition.hpp"

namespace windrow {

// The arguments of windrow_block().
struct BlockArguments {
  int ndims = 0;
  const int64_t* shape = nullptr;
  const int64_t* start = nullptr;
  const int64_t* count = nullptr;
  const int64_t* memory_shape = nullptr;
  const int64_t* memory_start = nullptr;
};

Result<Decomposition> block_of(const BlockArguments& from);

}  // namespace windrow
