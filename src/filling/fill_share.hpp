// SPDX-License-Identifier: BSD-3-Clause
// The division of a variable among the ranks that write its fill value. Pure.
#pragma once

#include "extent/extent.hpp"
#include "layout/layout.hpp"

namespace windrow {

// The part of `whole` that `rank` of `ranks` fills. The parts of all ranks are disjoint and cover `whole`. Each
// part has at least 16 MiB if possible, so on a short variable only some ranks have one, spread over all ranks. Parts
// end at the ends of stripes. `layout`: nullptr if the file has no stripes.
Extent fill_share(Extent whole, int rank, int ranks, const StorageLayout* layout);

}  // namespace windrow
