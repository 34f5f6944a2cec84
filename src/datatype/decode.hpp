// SPDX-License-Identifier: BSD-3-Clause
// Reads an MPI datatype back from its constructors.
#pragma once

#include <mpi.h>

#include "datatype/type_map.hpp"

namespace windrow {

// Local. Errors of MPI on `comm` are returned, not fatal: it is used to learn whether the type is committed. The type
// is not kept. O(blocks) for lists, otherwise O(constructors). Code::bad_argument: no type, a type that is not
// committed, an unknown constructor or predefined type, bytes beyond 64 bits. Code::mpi: MPI failed, or it contradicts
// the constructors.
Result<TypeMap> type_map_of(MPI_Datatype type, MPI_Comm comm);

}  // namespace windrow
