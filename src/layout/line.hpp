// SPDX-License-Identifier: BSD-3-Clause
// The layout of several files whose bytes lie one after the other in a line. Pure.
#pragma once

#include <optional>
#include <span>

#include "layout/layout.hpp"

namespace windrow {

// File i has the bytes of the line from `begin + i * room` on, with the stripes of its own layout. nullopt: a file has no known stripes, or stripes that do
// not divide the place of the file in the line.
std::optional<StorageLayout> layout_of_line(std::span<const StorageLayout> files, int64_t begin, int64_t room);

}  // namespace windrow
