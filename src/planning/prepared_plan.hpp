// SPDX-License-Identifier: BSD-3-Clause
// PreparedPlan: a plan with its prepared transfer and everything else that moving a batch needs. It is made for one
// batch and cached, so that the next batch with the same key is moved without new descriptions, messages or memory.
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

// What a context adds to a plan whose windows are not bytes of the file.
struct PlanExtension {
  virtual ~PlanExtension() = default;
};

struct PreparedPlan {
  int64_t id = 0;  // the same on every rank
  // The requests, the strategy and the limits that the plan was made for.
  std::vector<BatchKey> key;
  Strategy asked;
  PlanLimits limits;
  Plan plan;
  AccessRule rule;                     // how windows are written to the file and read from it
  std::unique_ptr<Transfer> transfer;  // nullptr if `direct`
  // The codec tuners of transfers in the foreground, and in the background. nullptr unless the codec is chosen by
  // measurements.
  std::array<std::shared_ptr<CodecTuner>, 2> tuners;
  CodecTuner* tuner_of(bool in_background) const noexcept { return tuners[in_background ? 1 : 0].get(); }
  CodecOrder order(bool in_background) const noexcept {
    return tuner_of(in_background) != nullptr ? tuner_of(in_background)->order() : CodecOrder{};
  }
  std::vector<std::shared_ptr<const ByteRuns>> runs;  // the transfer refers to them
  bool direct = false;                                // no exchange: each rank moves its own pieces
  std::vector<Item> direct_items, aggregated_items;   // if the plan has both: see split_items()
  PlanForecast forecast;                              // of all ranks
  int64_t memory = 0;                                 // the largest number of bytes that the plan keeps on a rank
  int64_t extra_bytes = 0;                            // bytes of buffers outside the transfer
  bool outdated = false;                              // the file has changed, and a new plan would differ
  int64_t storage_windows = 0;                        // number of windows that this rank writes or reads
  std::unique_ptr<PlanExtension> extension;           // nullptr if the windows are bytes of the file
};

// Divides the items of a batch into direct_items, which their holder moves, and aggregated_items, which are returned.
// An item may be divided into both. Allocates no memory: the lists got theirs when the plan was made.
std::span<const Item> split_items(PreparedPlan& prepared, const RequestBatch& batch) noexcept;

}  // namespace windrow
