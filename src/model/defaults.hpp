// SPDX-License-Identifier: BSD-3-Clause
// Default machine numbers for machines without measurements.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/machine.hpp"

namespace windrow {

// `file_system`: a value of the option file_system; an unlisted value counts as unknown. `cores`: shared by the ranks
// of a host; 0: one core a rank.
Machine default_machine(std::string_view file_system, int64_t cores = 0);

}  // namespace windrow
