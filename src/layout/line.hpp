// SPDX-License-Identifier: BSD-3-Clause
// The layout of several files whose bytes lie one after the other in a line. Pure.
#pragma once

#include <optional>
#include <span>

#include "layout/layout.hpp"

namespace windrow {

// A plan has an entry for each file and each group of writers: their number grows with the square of the files.
inline constexpr size_t k_most_files_of_line = 1025;  // the base file among them

// File i has the bytes of the line from `begin + i * room` on, with the stripes of its own layout. nullopt: a file has
// no known stripes, or stripes that do not divide the place of the file in the line; or there are too many files.
std::optional<StorageLayout> layout_of_line(std::span<const StorageLayout> files, int64_t begin, int64_t room);

}  // namespace windrow
