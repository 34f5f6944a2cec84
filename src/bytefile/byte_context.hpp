// SPDX-License-Identifier: BSD-3-Clause
// ByteContext: what the planner must know about a file of plain bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planning/batch_context.hpp"
#include "storage/striping.hpp"

namespace windrow {

class ByteContext final : public BatchContext {
 public:
  // `regions`: have all bytes of the batch; sorted and disjoint.
  ByteContext(DataFile& file, std::vector<Extent> regions, const Striping& striping)
      : BatchContext(file), regions_(std::move(regions)), striping_(striping) {}

  void adapt(Pattern& pattern, Strategy&, PlanLimits&) const override { pattern.regions = regions_; }
  // The holes between the bytes belong to the program, which may write them by other means at the same time.
  void complete(PreparedPlan& prepared) const override {
    prepared.rule.locks_holes = true;
    describe_striping(striping_, prepared.plan.reasons);
  }
  // The lists of ranks are disjoint, whatever they are, so there are no conflicts.
  std::string conflict_of(size_t) const override { return "internal error: byte lists conflict"; }

 private:
  std::vector<Extent> regions_;
  const Striping& striping_;
};

}  // namespace windrow
