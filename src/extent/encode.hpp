// SPDX-License-Identifier: BSD-3-Clause
// The wire form of a list of pieces: its file side, delta-coded in numbers of variable length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// What of a list lies inside the window, with the place of each piece in a packed message as its memory: the sum of the
// lengths before it. Pieces that touch in the file are one: the places of bytes in the message do not change by that.
Pieces file_side(PieceView view, Extent window);

// Appends file_side() to `out`: about 2 bytes a run for dense irregular lists, and a few bytes a dimension for the part
// of a block.
//   list   := varint(nests) nest*
//   nest   := varint(begin - end of the nest before) [2 varint(loops)] run loop*
//   run    := varint(header) [length] [stride - length]
//   header := (count - 1) * 4 + (stride as before ? 2 : 0) + (length as before ? 1 : 0)
//   loop   := varint(count - 2) varint(stride - what it repeats)
// The length only where it differs, the stride only where it differs and count > 1: no run has the header 2.
void encode(PieceView view, Extent window, std::vector<std::byte>& out);

// Reads what encode() wrote from `bytes` at `position`, which moves behind it. Any input is safe; what cannot be a list
// is Code::bad_file.
Result<Pieces> decode(std::span<const std::byte> bytes, size_t& position);

}  // namespace windrow
