// SPDX-License-Identifier: BSD-3-Clause
// Pure: a simulation as text, page and JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/simulate.hpp"

namespace cli {

std::vector<std::string> simulation_lines(const windrow::Simulation& simulation);
std::string simulation_json(const windrow::Simulation& simulation);
std::string simulation_page(const windrow::Simulation& simulation);  // self-contained XHTML

}  // namespace cli
