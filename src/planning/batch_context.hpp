// SPDX-License-Identifier: BSD-3-Clause
// BatchContext: the interface by which a file tells the planner about a batch. The planner knows byte ranges only. The
// context adds where the bytes are, which choices the file permits, and the names of objects for errors. It is made for
// one call of the planner.
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

  // Called before a plan is made. Adds the regions to the pattern, and restricts strategy and limits to what the file
  // permits. Pure, with the same result on all ranks.
  virtual void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const = 0;
  // Called after a plan was made. Adds reasons, and decides whether windows are written as a whole. The same on all
  // ranks.
  virtual void complete(PreparedPlan&) const {}
  // Local, after the transfer of the plan is prepared, if it has one. Counts the requests of this rank for the
  // forecast, and allocates the memory that they need. out_of_memory.
  virtual Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const {
    return prepare_requests(prepared, batch, workspace, trace);
  }
  // Returns the message of the error that ranks write one object through different lists of ranges.
  virtual std::string conflict_of(size_t object) const = 0;

 protected:
  explicit BatchContext(DataFile& file) noexcept : file_(file) {}
  // prepare() for windows that are bytes of the file.
  Status prepare_requests(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const;

 private:
  DataFile& file_;
};

// Makes the regions of a pattern sorted, disjoint and maximal. Before, they may be in any order and in parts.
void unite_regions(Pattern& pattern);

}  // namespace windrow
