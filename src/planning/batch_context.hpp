// SPDX-License-Identifier: BSD-3-Clause
// BatchContext: what the planner has to know of the file that a batch is moved to or from, and of what the batch's
// objects are. A file of plain bytes says where its bytes are; all else has a default.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataio/data_file.hpp"
#include "plan/plan.hpp"
#include "planning/prepared_plan.hpp"
#include "planning/workspace.hpp"

namespace windrow {

class BatchContext {
 public:
  virtual ~BatchContext() = default;
  DataFile& file() const noexcept { return file_; }

  // Before the plan is made. The pattern needs its regions; strategy and limits are what was asked for, and become what
  // can be here. The same on all ranks.
  virtual void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const = 0;
  // Once it is made: more reasons, and whether windows are written whole.
  virtual void complete(PreparedPlan&) const {}
  // Local, once its transfer is ready, if it has one: the requests of this rank in the forecast, and memory for them.
  virtual Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const {
    return prepare_requests(prepared, batch, workspace, trace);
  }
  // The error when ranks write an object through different lists of ranges.
  virtual std::string conflict_of(size_t object) const = 0;

 protected:
  explicit BatchContext(DataFile& file) noexcept : file_(file) {}
  // Of windows that are bytes of the file.
  Status prepare_requests(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const;

 private:
  DataFile& file_;
};

// The regions of a pattern, in any order and in parts, become sorted, disjoint and maximal.
void unite_regions(Pattern& pattern);

}  // namespace windrow
