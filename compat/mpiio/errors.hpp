// SPDX-License-Identifier: BSD-3-Clause
// Errors of Windrow as error codes of MPI.
#pragma once

#include <mpi.h>

namespace mpiio {

// Whether a call of Windrow with this code has moved nothing, so that MPI's function may try.
bool moved_nothing(int windrow_code) noexcept;

// Calls the error handler of the file, and returns an error code of the class that fits `windrow_code`. Its text is
// Windrow's message. Local.
int fail(MPI_File file, int windrow_code) noexcept;

}  // namespace mpiio
