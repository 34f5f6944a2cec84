// SPDX-License-Identifier: BSD-3-Clause
// Decompositions from the arguments of the C interface.
#pragma once

#include "capi/handles.hpp"
#include "decomposition/decomposition.hpp"

namespace windrow {

Result<Decomposition> block_of(int ndims, const int64_t* shape, const int64_t* start, const int64_t* count,
                               const int64_t* memory_shape, const int64_t* memory_start);

}  // namespace windrow
