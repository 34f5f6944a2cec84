// SPDX-License-Identifier: BSD-3-Clause
// A simulation's workload from a traced flush.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workload.hpp"

namespace cli {

// Uses the variables of one decomposition, the one with the most bytes, or the lists of plain bytes. `flush`: the first
// in the trace is 1; 0: the last that moved data. Local. Throws Failure if the file is not a trace, has no such flush,
// or does not record what each rank holds. Reports a truncation after that flush on stderr.
windrow::Workload traced_workload(const std::string& path, int64_t flush);

}  // namespace cli
