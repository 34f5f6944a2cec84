// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "chunking/chunks.hpp"
#include "comm/comm.hpp"
#include "subfiling/subfiles.hpp"
#include "trace/trace.hpp"

namespace windrow {

// Where the chunks of a layout are found.
struct ChunkSource {
  Comm& comm;
  const ChunkLayout& layout;
  const FormatOfPart& format_of;
  const Subfiles* subfiles;  // nullptr if the file is a single file
};

// Collective; the status is of this rank. Requests the places of the chunks `wanted`, in ascending order, from the
// ranks that have their index (roots), and enters them into `known`.
Status find_chunks(const ChunkSource& source, std::span<const int64_t> wanted, KnownChunks& known, Trace& trace);

}  // namespace windrow
