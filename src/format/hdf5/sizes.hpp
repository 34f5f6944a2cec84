// SPDX-License-Identifier: BSD-3-Clause
// How much memory what a file says of itself takes, nearly: of what can be long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/format.hpp"

namespace windrow {

int64_t memory_of(const std::string& text) noexcept;
int64_t memory_of(const std::vector<std::string>& texts) noexcept;
int64_t memory_of(const Attribute& attribute) noexcept;
int64_t memory_of(const std::vector<Attribute>& attributes) noexcept;
int64_t memory_of(const Chunking& chunking) noexcept;
int64_t memory_of(const VariableDefinition& definition) noexcept;
int64_t memory_of(const Catalog& catalog) noexcept;

}  // namespace windrow
