// SPDX-License-Identifier: BSD-3-Clause
// The division of a variable among the ranks that write its fill value. Pure.
#pragma once

#include "extent/extent.hpp"
#include "layout/layout.hpp"

namespace windrow {

// The part of `whole` that `rank` of `ranks` fills. The parts of all ranks are disjoint and cover `whole`. As many
// ranks as have at least 16 MiB each take part, spread over all ranks; parts end at the ends of stripes. `layout`:
// nullptr if the file has no stripes.
Extent fill_share(Extent whole, int rank, int ranks, const StorageLayout* layout);

}  // namespace windrow
