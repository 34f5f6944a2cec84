// SPDX-License-Identifier: BSD-3-Clause
// PartFormats: finds the format object with the chunk index of a part, on its root.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "chunking/chunks.hpp"
#include "format/format.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

// Cached plans refer to it, and it refers to what owns the formats.
struct PartFormats {
  const std::unique_ptr<Format>& base;
  SubfileSet& set;

  Result<Format*> operator()(const ChunkPart& part) const {
    if (part.number < 0)
      return base.get();
    return set.format(part.number);
  }
};

}  // namespace windrow
