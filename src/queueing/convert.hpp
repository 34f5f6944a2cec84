// SPDX-License-Identifier: BSD-3-Clause
// Conversion of elements between the type in the program's memory and the type in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "extent/pieces.hpp"
#include "format/format.hpp"

namespace windrow {

// Integers, floating-point numbers and booleans can be converted to each other and to complex numbers; complex numbers
// only to complex numbers.
bool is_convertible(Type from, Type to) noexcept;

// Converts as C does: fractions are cut off, and values other than 0 are true. A value that does not fit, which C
// leaves undefined, becomes the nearest value, and NaN becomes 0. Returns the number of values that did not fit. `in`
// and `out` need not be aligned.
int64_t convert(Type from, const std::byte* in, Type to, std::byte* out, int64_t elements) noexcept;

// The data of one request in the variable's type, while the request is queued. Text is padded with blanks in memory,
// and with NULs in the file.
struct Staged {
  Type stored = Type::none;            // type of the variable
  Type type = Type::none;              // type of the elements in `memory`
  int64_t stored_bytes = 0;            // size of an element of the variable
  int64_t memory_bytes = 0;            // size of an element in `memory`
  std::byte* memory = nullptr;         // owned by the program; a put does not write to it
  std::unique_ptr<std::byte[]> bytes;  // converted elements, in the order of `memory`
  int64_t out_of_range = 0;            // number of values of a put that did not fit
};

// Convert the pieces in `runs`, which are in bytes of the variable's type. Return the number of values that did not
// fit.
int64_t convert_in(PieceView runs, const Staged& staged) noexcept;   // from memory
int64_t convert_out(PieceView runs, const Staged& staged) noexcept;  // to memory

}  // namespace windrow
