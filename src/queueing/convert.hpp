// SPDX-License-Identifier: BSD-3-Clause
// Elements of one type as elements of another, on their way between the program's memory and what is moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "extent/pieces.hpp"
#include "format/format.hpp"

namespace windrow {

// Integers, floating-point numbers and booleans become each other and complex numbers; complex numbers only complex
// ones.
bool is_convertible(Type from, Type to) noexcept;

// C's rules where they say something: fractions are cut off, what is not 0 is true. Else the nearest value that there
// is, and 0 for what is not a number. Returns how many did not fit. Neither side needs to be aligned.
int64_t convert(Type from, const std::byte* in, Type to, std::byte* out, int64_t elements) noexcept;

// A piece of the program's memory in the variable's type, for as long as it is queued. Text is text on both sides:
// filled up with blanks in memory, with NULs in the file.
struct Staged {
  Type stored = Type::none;            // the variable's
  Type type = Type::none;              // of `memory`
  int64_t stored_bytes = 0;            // of one element there
  int64_t memory_bytes = 0;            // and in `memory`
  std::byte* memory = nullptr;         // the program's; never written through for a put
  std::unique_ptr<std::byte[]> bytes;  // laid out as `memory` is
  int64_t out_of_range = 0;            // of a put
};

// Of the pieces in `runs`, which are in bytes of the variable's type.
int64_t convert_in(PieceView runs, const Staged& staged) noexcept;   // memory to staged bytes
int64_t convert_out(PieceView runs, const Staged& staged) noexcept;  // and back

}  // namespace windrow
