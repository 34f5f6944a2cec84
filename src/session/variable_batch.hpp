// SPDX-License-Identifier: BSD-3-Clause
// VariableBatch: what of a queue moves in one plan, and what is done with it beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chunking/chunks.hpp"
#include "decomposition/decomposition.hpp"
#include "planning/request_batch.hpp"
#include "queueing/convert.hpp"

namespace windrow {

// All gets, or the puts of one ordinal. Its objects are variables, chunked ones too; its lists are decompositions.
struct VariableBatch : RequestBatch {
  struct Repeat {
    const std::vector<LocalDuplicate>* duplicates;  // the decomposition's, which the queue keeps
    int64_t element_bytes;
    std::byte* memory;
  };
  std::vector<Repeat> repeats;  // gets of what this rank holds more than once
  struct Conversion {
    std::shared_ptr<const ByteRuns> runs;
    const Staged* staged;  // the queue's
    int variable;
  };
  std::vector<Conversion> conversions;  // gets into memory that is not as the variables are
  // Of one chunked variable: items lie in its chunks' line. Otherwise nullptr, and chunked variables are among the bits
  // only.
  std::shared_ptr<const ChunkLayout> layout;
  int variable = -1;
  bool is_explained = false;  // nothing moves

  bool takes(int number, bool chunked) const noexcept { return layout ? number == variable : !chunked; }
};

}  // namespace windrow
