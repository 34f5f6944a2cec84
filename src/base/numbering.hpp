// SPDX-License-Identifier: BSD-3-Clause
// How messages count and order what a program gave: as C does, or as Fortran does. Inside the library everything is as
// in C.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace windrow {

enum class Numbering {
  c,
  fortran
};

// Of the messages that this thread makes; the one before is returned. A binding sets it for the time of a call.
Numbering set_numbering(Numbering numbering) noexcept;
Numbering numbering() noexcept;

// An index from 0: of an element, a row, a record, a point, a block, a variable. Fortran counts from 1.
int64_t shown_index_of(int64_t index) noexcept;
template <std::integral Index>
int64_t shown_index(Index index) noexcept {
  return shown_index_of(static_cast<int64_t>(index));
}

// Dimension `number` of `dimensions`. Fortran counts from 1 and from the other side.
int64_t shown_dimension(size_t number, size_t dimensions) noexcept;

// "4 x 3": sizes, one a dimension, in the program's order; "()" of none.
std::vector<int64_t> shown_order(std::span<const int64_t> sizes);
std::string shown_sizes(std::span<const int64_t> sizes);
std::string shown_indices(std::span<const int64_t> indices);

// "0 to 9" of ten things, "1 to 10" in Fortran; "none" of no things.
std::string shown_range(int64_t count);

// "first" and "last": where the slowest dimension is, along which variables grow, and where the fastest is.
const char* slowest_side() noexcept;
const char* fastest_side() noexcept;

}  // namespace windrow
