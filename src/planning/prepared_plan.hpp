// SPDX-License-Identifier: BSD-3-Clause
// PreparedPlan: a plan with all that moving by it takes, made for a batch and used again for the next one alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/tuner.hpp"
#include "exchange/engine.hpp"
#include "plan/access.hpp"
#include "plan/forecast.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"
#include "planning/request_batch.hpp"

namespace windrow {

// What a storage that is not plain bytes keeps with a plan.
struct PlanExtension {
  virtual ~PlanExtension() = default;
};

struct PreparedPlan {
  int64_t id = 0;             // the same on every rank
  std::vector<BatchKey> key;  // this and the next two: what it was made for
  Strategy asked;
  PlanLimits limits;
  Plan plan;
  AccessRule rule;  // how windows meet the file
  std::unique_ptr<Transfer> transfer;
  // Of flushes, and of those in two parts, where the codec is left to what is measured; or nullptr.
  std::array<std::shared_ptr<CodecTuner>, 2> tuners;
  CodecTuner* tuner_of(bool behind) const noexcept { return tuners[behind ? 1 : 0].get(); }
  CodecOrder order(bool behind) const noexcept {
    return tuner_of(behind) != nullptr ? tuner_of(behind)->order() : CodecOrder{};
  }
  std::vector<std::shared_ptr<const ByteRuns>> runs;  // keeps alive what the transfer describes
  bool direct = false;                                // no exchange: each rank moves its own pieces
  std::vector<Item> direct_items, aggregated_items;   // where both are: see take_apart()
  PlanForecast forecast;                              // over all ranks
  int64_t memory = 0;                                 // bytes that it takes, on the rank where that is most
  int64_t extra_bytes = 0;                            // of buffers that are not the transfer's
  bool outdated = false;                              // the file has changed so that another would be made
  int64_t storage_windows = 0;                        // that this rank moves to or from the storage
  std::unique_ptr<PlanExtension> extension;           // nullptr: its windows are bytes of the file
};

// Each item to those that their holder moves itself, to those that are aggregated, which are the result, or in two
// parts to both. Allocates nothing: the lists have had their room since the plan was made.
std::span<const Item> take_apart(PreparedPlan& prepared, const RequestBatch& batch) noexcept;

}  // namespace windrow
