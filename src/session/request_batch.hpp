// SPDX-License-Identifier: BSD-3-Clause
// What of a queue moves in one plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chunking/chunks.hpp"
#include "decomposition/decomposition.hpp"
#include "distribution/shared_decomposition.hpp"
#include "exchange/item.hpp"
#include "planning/pattern_numbers.hpp"
#include "session/convert.hpp"

namespace windrow {

// What of the queue moves in one plan: all gets, or the puts of one ordinal. The numbers are this rank's.
struct RequestBatch : PatternNumbers {
  bool reading = false;
  std::vector<Item> items;                            // sorted by place in the file
  std::vector<std::shared_ptr<const ByteRuns>> runs;  // [items] what they point to
  std::vector<std::array<int64_t, 3>> key;  // variable, decomposition, ownership: what a kept plan is found by
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
  std::vector<int64_t> variables;       // bits: those that this rank moves, chunked ones too
  // Of one chunked variable: items lie in its chunks' line. Otherwise nullptr, and chunked variables are among the bits
  // only.
  std::shared_ptr<const ChunkLayout> layout;
  int variable = -1;
  bool is_explained = false;  // nothing moves

  bool takes(int number, bool chunked) const noexcept { return layout ? number == variable : !chunked; }
};

}  // namespace windrow
