// SPDX-License-Identifier: BSD-3-Clause
// What a killed job has left in chunks after the last record: before a variable grows past it, it becomes unwritten.
// Both functions are local, on the rank that has the index of the chunks, and take the layout of one part. Readers see
// none of the bytes that they change.
#pragma once

#include "chunking/chunks.hpp"

namespace windrow {

// Fills the rest of unfiltered chunks that have the last of `records`; they are changed where they are.
Status blank_tail(DataFile& data, Format& format, const ChunkLayout& layout, int64_t records);

// Fills all records after the first `records`. The layout has those that were found.
Status blank_records(DataFile& data, Format& format, const ChunkLayout& layout, int64_t records);

}  // namespace windrow
