// SPDX-License-Identifier: BSD-3-Clause
// What is believed of a machine that nobody has measured.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/machine.hpp"

namespace windrow {

// `file_system`: as the option file_system has it; for one that it does not know, as for an unknown one. `cores`: that
// the ranks of a host share; 0: one each.
Machine default_machine(std::string_view file_system, int64_t cores = 0);

}  // namespace windrow
