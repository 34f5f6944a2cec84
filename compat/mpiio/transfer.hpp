// SPDX-License-Identifier: BSD-3-Clause
// Collective calls that move data.
#pragma once

#include "hooks.h"

namespace mpiio {

// Collective. The ranks agree whether Windrow or MPI's function moves the bytes.
int move(const mpiio_call& call);
// The second half of a split call. Local if Windrow took the first half.
int end_split(const mpiio_call& call);

}  // namespace mpiio
