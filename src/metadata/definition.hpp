// SPDX-License-Identifier: BSD-3-Clause
// Definitions of variables as texts, to compare those of several ranks.
#pragma once

#include <string>

#include "format/format.hpp"

namespace windrow {

// For people: what tells two definitions apart, mostly.
std::string description_of(const VariableDefinition& definition);

// All that must be the same on every rank, for a hash.
void append_definition(std::string& text, const VariableDefinition& definition);

}  // namespace windrow
