// SPDX-License-Identifier: BSD-3-Clause
// A plan with all that moving by it takes. A file keeps some.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chunking/chunks.hpp"
#include "codec/tuner.hpp"
#include "distribution/shared_decomposition.hpp"
#include "exchange/engine.hpp"
#include "layout/layout.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"
#include "reporting/report.hpp"

namespace windrow {

// On which targets the chunks of a batch lie.
struct ChunkTargets {
  std::shared_ptr<const StorageLayout>
      layout;            // of the chunks' line, an object for each chunk; nullptr: they are not known
  const char* why = "";  // they are not
  bool guessed = false;  // some chunks of a plan that is explained have no place yet
};

// A plan that was made ready for a batch; kept for the next flush of the same shape.
struct PreparedPlan {
  int64_t id = 0;  // the same on every rank
  std::vector<std::array<int64_t, 3>> key;
  Strategy asked;  // what it was made for
  PlanLimits limits;
  Plan plan;
  std::unique_ptr<Transfer> transfer;
  std::array<std::shared_ptr<CodecTuner>, 2>
      tuners;  // of flushes, and of those in two, where the codec is left to what is measured; or nullptr
  CodecTuner* tuner_of(bool behind) const noexcept { return tuners[behind ? 1 : 0].get(); }
  CodecOrder order(bool behind) const noexcept {
    return tuner_of(behind) != nullptr ? tuner_of(behind)->order() : CodecOrder{};
  }
  std::vector<std::shared_ptr<const ByteRuns>> runs;  // keeps alive what the transfer describes
  bool direct = false;                                // no exchange: each rank moves its own pieces
  std::vector<Item> direct_items, aggregated_items;   // where both are: see part()
  PlanForecast forecast;                              // over all ranks
  int64_t memory = 0;                                 // bytes that it takes, on the rank where that is most
  int64_t beside = 0;                                 // bytes of buffers that are not the transfer's
  bool outdated = false;                              // chunks have got places since, by which another is made
  int64_t storage_windows = 0;                        // that this rank moves to or from the storage
  std::shared_ptr<const ChunkLayout> layout;          // of a chunked variable, or nullptr
  std::vector<int64_t> looked_up;                     // chunks whose places this rank has to know before
  std::unique_ptr<ChunkPlacer> placer;                // on a root, to write
  ChunkRoots roots;                                   // of a writer
};

inline constexpr size_t k_plan_words = 2;
inline constexpr size_t k_most_plans = 64 * k_plan_words;  // kept by a file
inline constexpr int64_t k_plan_memory = int64_t{64}
                                         << 20;      // bytes on a rank that they take together, but for the last one
using PlanBits = std::array<int64_t, k_plan_words>;  // a bit for each plan that a file keeps

}  // namespace windrow
