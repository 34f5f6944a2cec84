// SPDX-License-Identifier: BSD-3-Clause
// Definitions of variables as text, for the comparison between ranks. Pure.
#pragma once

#include <string>

#include "format/format.hpp"

namespace windrow {

// A short text for messages. Two different definitions usually have different texts.
std::string description_of(const VariableDefinition& definition);

// Appends everything that must be the same on every rank, for a hash.
void append_definition(std::string& text, const VariableDefinition& definition);

}  // namespace windrow
