// SPDX-License-Identifier: BSD-3-Clause
// What a plan of chunks has beside others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "chunking/chunks.hpp"
#include "layout/layout.hpp"
#include "planning/prepared_plan.hpp"

namespace windrow {

// On which targets the chunks of a batch lie.
struct ChunkTargets {
  std::shared_ptr<const StorageLayout>
      layout;            // of the chunks' line, an object for each chunk; nullptr: they are not known
  const char* why = "";  // they are not
  bool guessed = false;  // some chunks of a plan that is explained have no place yet
};

struct ChunkPlan final : PlanExtension {
  std::shared_ptr<const ChunkLayout> layout;
  std::vector<int64_t> looked_up;       // chunks whose places this rank has to know before
  std::unique_ptr<ChunkPlacer> placer;  // on a root, to write
  ChunkRoots roots;                     // of a writer
};

// nullptr: the plan is of bytes of the file.
inline ChunkPlan* chunk_plan_of(const PreparedPlan& prepared) noexcept {
  return static_cast<ChunkPlan*>(prepared.extension.get());
}

}  // namespace windrow
