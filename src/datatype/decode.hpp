// SPDX-License-Identifier: BSD-3-Clause
// Reads an MPI datatype back from its constructors.
#pragma once

#include <mpi.h>

#include "datatype/type_map.hpp"

namespace windrow {

// Local. The type need not be committed, and is not kept. O(blocks) for lists, otherwise O(constructors).
// Code::bad_argument: no type, an unknown constructor or predefined type, bytes beyond 64 bits. Code::mpi: MPI failed,
// or it contradicts the constructors.
Result<TypeMap> type_map_of(MPI_Datatype type);

}  // namespace windrow
