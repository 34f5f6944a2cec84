// SPDX-License-Identifier: BSD-3-Clause
// ChunkPlan: what a prepared plan of chunks has in addition to a plan of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "chunking/chunks.hpp"
#include "layout/layout.hpp"
#include "planning/prepared_plan.hpp"

namespace windrow {

// The storage targets that have the chunks of a batch.
struct ChunkTargets {
  std::shared_ptr<const StorageLayout>
      layout;            // of the linear chunk space, with an object for each chunk; nullptr if it is unknown
  const char* why = "";  // the reason if it is unknown
  bool guessed = false;  // the plan is only explained, and some chunks have no place yet
};

struct ChunkPlan final : PlanExtension {
  std::shared_ptr<const ChunkLayout> layout;
  std::vector<int64_t> looked_up;       // chunks whose places this rank must know before the transfer
  std::unique_ptr<ChunkPlacer> placer;  // on a root, for a write
  ChunkRoots roots;                     // the roots that this writer sends requests to
};

// nullptr if the plan moves bytes of the file, not chunks.
inline ChunkPlan* chunk_plan_of(const PreparedPlan& prepared) noexcept {
  return static_cast<ChunkPlan*>(prepared.extension.get());
}

}  // namespace windrow
