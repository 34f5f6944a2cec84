// SPDX-License-Identifier: BSD-3-Clause
// From rank 0's mesh to the parts that the ranks work on; library windrow_mesh_mpi.
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>

#include "partition.hpp"

namespace windrow::mesh {

// What every rank throws, with the same message.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Rank 0 gets the mesh by `read`, partitions it by METIS into a part per rank and sends each its own. Afterwards no
// rank holds the whole mesh. Collective over `comm`. Throws Failure: what `read` threw on rank 0, or that the mesh
// cannot be partitioned.
MeshPart distribute(MPI_Comm comm, const std::function<TetrahedralMesh()>& read);

}  // namespace windrow::mesh
