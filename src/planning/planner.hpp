// SPDX-License-Identifier: BSD-3-Clause
// Planner: finds the plan of a batch, in two collective steps. summarize() combines the numbers of all ranks into a
// summary, in one agreement, which also finds a cached plan. ready() returns this plan, or makes and prepares a new
// one. The planner knows byte ranges and memory; a BatchContext adds what depends on the file.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/agree.hpp"
#include "comm/comm.hpp"
#include "planning/batch_context.hpp"
#include "planning/batch_summary.hpp"
#include "planning/plan_cache.hpp"
#include "planning/request_batch.hpp"
#include "planning/workspace.hpp"

namespace windrow {

class Planner {
 public:
  // All references must outlive this object.
  Planner(Comm& comm, Workspace& workspace, Trace& trace) noexcept
      : comm_(comm), workspace_(workspace), trace_(trace) {}

  // Local, the same on all ranks. `share`: ranks of a host may exchange data through shared memory. `check_messages`:
  // messages have checksums.
  void set_ways(bool share, bool check_messages) noexcept { share_ = share, check_messages_ = check_messages; }
  void set_strategy(Strategy strategy) noexcept { strategy_ = std::move(strategy); }
  const Strategy& strategy() const noexcept { return strategy_; }
  PlanLimits& limits() noexcept { return limits_; }
  const PlanLimits& limits() const noexcept { return limits_; }
  PlanCache& cache() noexcept { return cache_; }

  // Local. Allocates memory for the reduction of this number of objects. out_of_memory.
  Status grow(size_t objects);
  // Local, the same on all ranks. Sets the number of objects; grow() has allocated the memory.
  void set_objects(size_t count) noexcept { objects_ = count; }

  // Numbers of the caller that summarize() combines in its agreement. Afterwards they are those of all ranks.
  static constexpr size_t k_extra_maxima = 4, k_extra_sums = 1;
  struct Extra {
    std::array<int64_t, k_extra_maxima> maximum;
    std::array<int64_t, k_extra_sums> sum{};
  };

  // Collective, agreed. Sets the summaries of one or two batches, in one agreement. Allocates no memory.
  Status summarize(Status local, std::initializer_list<const RequestBatch*> batches,
                   std::initializer_list<BatchSummary*> summaries, Extra* extra = nullptr);

  // Collective, agreed. Returns the prepared plan for a summary of the last summarize(). The cache owns it. `local`: an
  // error that this rank has found before.
  Result<PreparedPlan*> ready(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                              Status local = {});

  // Local. Whether a new plan may be needed that depends on the compression ratio of messages to other hosts.
  bool may_compress(const RequestBatch& batch) const noexcept;

 private:
  using MadePlan = std::unique_ptr<PreparedPlan>;
  Result<MadePlan> make(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                        Status local);
  Status know_link(int64_t bytes, Status local);
  Status plan_for(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                  PreparedPlan& made) const;
  Status prepare(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                 PreparedPlan& made);
  Status agree_on_lists(Status local, const RequestBatch& batch, const BatchSummary& summary,
                        const BatchContext& context, const Reduction& numbers);
  PlanQuery query_for(const RequestBatch& batch) const noexcept { return {batch, strategy_, limits_}; }

  Comm& comm_;
  Workspace& workspace_;
  Trace& trace_;
  bool share_ = true, check_messages_ = false;
  Strategy strategy_;
  PlanLimits limits_;
  PlanCache cache_;
  size_t objects_ = 0;
  std::vector<int64_t> bits_, identities_;  // numbers in the reductions
};

}  // namespace windrow
