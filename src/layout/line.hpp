// SPDX-License-Identifier: BSD-3-Clause
// The layout of several files whose bytes form one linear address space. Pure.
#pragma once

#include <optional>
#include <span>

#include "layout/layout.hpp"

namespace windrow {

// A plan has an entry for each file and each group of writers, so their number grows with the square of the files.
inline constexpr size_t k_most_files_of_line = 1025;  // including the base file

// File i has the bytes from `begin + i * room` on, with the stripes of its own layout. nullopt: the stripes of a file
// are unknown, or do not divide its offset in the line; or there are too many files.
std::optional<StorageLayout> layout_of_line(std::span<const StorageLayout> files, int64_t begin, int64_t room);

}  // namespace windrow
