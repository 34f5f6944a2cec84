// SPDX-License-Identifier: BSD-3-Clause
// Leftovers: elements after the last record that a killed job has left in chunks. Before a variable grows over them,
// they get the fill value. Both functions are local, on the rank that has the chunk index, and take the layout of one
// part. Readers see none of the bytes that they change.
#pragma once

#include "chunking/chunks.hpp"

namespace windrow {

// Fills the rest of the unfiltered chunks that contain the last of `records`. They are changed in place.
Status blank_tail(DataFile& data, Format& format, const ChunkLayout& layout, int64_t records);

// Fills all records after the first `records`. The layout includes the records that were found.
Status blank_records(DataFile& data, Format& format, const ChunkLayout& layout, int64_t records);

}  // namespace windrow
