// SPDX-License-Identifier: BSD-3-Clause
// Definitions of grids and fields for viewers. The calls are collective and agreed. Every rank checks the definition
// and keeps it; rank 0 writes the text of all of them when the file is published. `local`: an error that this rank has
// found before the call.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "publication/xdmf_sidecar.hpp"

namespace windrow {

// Returns the number of the grid.
Result<int> define_grid(const Comm& comm, const Catalog& catalog, ViewerGrids& grids, ViewerGrid grid, Status local);
Status define_field(const Comm& comm, const Catalog& catalog, ViewerGrids& grids, int grid, GridField field,
                    Status local);

}  // namespace windrow
