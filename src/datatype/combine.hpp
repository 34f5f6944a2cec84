// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a memory type go in a file that is seen through a filetype. No MPI here.
#pragma once

#include <cstdint>

#include "datatype/type_map.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// A view of a file as in MPI-IO: copies of the filetype from `displacement` on.
struct TiledView {
  int64_t displacement = 0;
  int64_t etype_size = 1;
  TypeMap filetype;
};

// Pieces of the file with their places in memory, which are `memory_base` plus the offset in the list. The order in the
// file is the order of the data.
struct ViewedBytes {
  Pieces pieces;
  int64_t memory_base = 0;  // the lowest byte of memory, from the address of the buffer: of any sign
};

// Byte i of `count` copies of the memory type is byte i of the data of the view from `offset` etypes on. Holes of the
// view are not counted. Loops whose sizes match on both sides stay loops: O(dimensions) for arrays in memory and in the
// file. Otherwise O(pieces) steps, and runs where pieces are regular. If several tiles are touched, and one has several
// nests, the nests are repeated for each tile.
// Code::bad_argument: negative arguments; data for a view without any; an offset of more than 64 bits; a filetype whose
// displacements are negative, not ascending, or overlap, also those of one copy with those of the next.
Result<ViewedBytes> combine(const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count);

}  // namespace windrow
