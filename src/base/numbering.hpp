// SPDX-License-Identifier: BSD-3-Clause
// How messages number and order indices and dimensions: as in C, or as in Fortran. The library itself uses C order
// throughout.
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

// Sets the numbering of messages made by this thread and returns the previous one. A language binding sets it for the
// duration of a call.
Numbering set_numbering(Numbering numbering) noexcept;
Numbering numbering() noexcept;

// Converts an index that counts from 0: of an element, a row, a record, a point, a block or a variable. Fortran counts
// from 1.
int64_t shown_index_of(int64_t index) noexcept;
template <std::integral Index>
int64_t shown_index(Index index) noexcept {
  return shown_index_of(static_cast<int64_t>(index));
}

// Converts dimension `number` of `dimensions`. Fortran counts from 1, fastest dimension first.
int64_t shown_dimension(size_t number, size_t dimensions) noexcept;

// "4 x 3": one size a dimension, in the program's order. "()" for no dimensions.
std::vector<int64_t> shown_order(std::span<const int64_t> sizes);
std::string shown_sizes(std::span<const int64_t> sizes);
std::string shown_indices(std::span<const int64_t> indices);

// "0 to 9" for ten indices, "1 to 10" in Fortran; "none" for no indices.
std::string shown_range(int64_t count);

// "first" in C, "last" in Fortran: the position of the slowest dimension, along which variables grow. The second
// function gives the position of the fastest dimension.
const char* slowest_side() noexcept;
const char* fastest_side() noexcept;

}  // namespace windrow
