// SPDX-License-Identifier: BSD-3-Clause
// Definitions of grids and fields for viewers, as collective calls: every rank checks and keeps them, rank 0 writes
// their text when the file is published. Agreed. `local`: what this rank has found wrong before.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "publication/xdmf_sidecar.hpp"

namespace windrow {

// Returns the grid's number.
Result<int> define_grid(const Comm& comm, const Catalog& catalog, ViewerGrids& grids, ViewerGrid grid, Status local);
Status define_field(const Comm& comm, const Catalog& catalog, ViewerGrids& grids, int grid, GridField field,
                    Status local);

}  // namespace windrow
