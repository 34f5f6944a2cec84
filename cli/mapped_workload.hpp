// SPDX-License-Identifier: BSD-3-Clause
// What the map of a decomposition says that ranks hold, as something to simulate: the text that PIO and SCORPIO write
// of one (PIOc_writemap, piodecomp...).
#pragma once

#include <string>

#include "sim/workload.hpp"

namespace cli {

// Whether the file begins as a map does. Local.
bool is_map(const std::string& path);

// Ranks, shape and what each rank holds; all else as `asked` has it. What several ranks hold is written by the lowest,
// and read by all. Local. Throws Failure for a file that is no map, or of another version.
windrow::Workload mapped_workload(const std::string& path, windrow::Workload asked);

}  // namespace cli
