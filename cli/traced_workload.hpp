// SPDX-License-Identifier: BSD-3-Clause
// What a traced flush moved, as something to simulate.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workload.hpp"

namespace cli {

// Of the variables that went through one decomposition, the one with the most bytes. `flush`: the first in the trace is
// 1; 0: the last that moved something. Local. Throws Failure for a file that is no trace, that has no such flush, or
// that does not tell what each rank holds. Of one that is cut short behind that flush it says so on stderr.
windrow::Workload traced_workload(const std::string& path, int64_t flush);

}  // namespace cli
