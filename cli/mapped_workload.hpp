// SPDX-License-Identifier: BSD-3-Clause
// A simulation's workload from a decomposition map, as PIO and SCORPIO write it (PIOc_writemap, piodecomp...).
#pragma once

#include <string>

#include "sim/workload.hpp"

namespace cli {

// Whether the file begins like a map. Local.
bool is_map(const std::string& path);

// Takes ranks, shape and elements from the map, and everything else from `asked`. Replicated elements are written by
// the lowest rank, and read by all. Local. Throws Failure if the file is not a map, or has another version.
windrow::Workload mapped_workload(const std::string& path, windrow::Workload asked);

}  // namespace cli
