// SPDX-License-Identifier: BSD-3-Clause
// PartFormats: returns the format that has the chunk index of a part, on the root of the part.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "chunking/chunks.hpp"
#include "format/format.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

// Cached plans refer to this object, so it lasts as long as the open file. It refers to the owners of the formats.
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
