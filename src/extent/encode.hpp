// SPDX-License-Identifier: BSD-3-Clause
// The wire format of a list of pieces: its file side, delta-coded in integers of variable length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// The part of a list inside the window. The memory of each piece is its offset in a packed message, which is the sum of
// the lengths before it. Pieces that touch in the file are merged; this does not move any byte of the message.
Pieces file_side(PieceView view, Extent window);

// Appends file_side() to `out`: about 2 bytes a run for dense irregular lists, and a few bytes a dimension for the part
// of a block.
//   list   := varint(nests) nest*
//   nest   := varint(begin - end of the previous nest) [2 varint(loops)] run loop*
//   run    := varint(header) [length] [stride - length]
//   header := (count - 1) * 4 + (same stride as before ? 2 : 0) + (same length as before ? 1 : 0)
//   loop   := varint(count - 2) varint(stride - span of the repeated part)
// The length is present only if it differs, the stride only if it differs and count > 1. No run has the header 2.
void encode(PieceView view, Extent window, std::vector<std::byte>& out);

// Reads what encode() wrote from `bytes` at `position`, and advances `position` past it. Safe on any input; malformed
// input is Code::bad_file.
Result<Pieces> decode(std::span<const std::byte> bytes, size_t& position);

}  // namespace windrow
