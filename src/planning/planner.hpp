// SPDX-License-Identifier: BSD-3-Clause
// Planner: what moves by which plan. Batches of all ranks become summaries in one agreement; a batch and its summary
// become a prepared plan, new or out of the cache. It knows byte ranges and memory; what the file adds says a
// BatchContext.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "planning/batch_context.hpp"
#include "planning/batch_summary.hpp"
#include "planning/plan_cache.hpp"
#include "planning/request_batch.hpp"
#include "planning/workspace.hpp"

namespace windrow {

class Planner {
 public:
  // All must outlive it.
  Planner(Comm& comm, Workspace& workspace, Trace& trace) noexcept
      : comm_(comm), workspace_(workspace), trace_(trace) {}

  // How ranks of a host may talk: through memory that they share; with checksums.
  void set_ways(bool share, bool check_messages) noexcept { share_ = share, check_messages_ = check_messages; }
  void set_strategy(Strategy strategy) noexcept { strategy_ = std::move(strategy); }
  const Strategy& strategy() const noexcept { return strategy_; }
  PlanLimits& limits() noexcept { return limits_; }
  const PlanLimits& limits() const noexcept { return limits_; }
  PlanCache& cache() noexcept { return cache_; }

  // Local: memory for what ranks tell each other of so many objects.
  Status grow(size_t objects);
  // The same on all ranks: how many there are from now on. There is memory for them.
  void set_objects(size_t count) noexcept { objects_ = count; }

  // Numbers that are combined in the agreement of summarize(), by those who call it. Afterwards those of all ranks.
  static constexpr size_t k_extra_maxima = 4, k_extra_sums = 1;
  struct Extra {
    std::array<int64_t, k_extra_maxima> maximum;
    std::array<int64_t, k_extra_sums> sum{};
  };

  // Collective: one agreement for one or two batches. Allocates nothing.
  Status summarize(Status local, std::initializer_list<const RequestBatch*> batches,
                   std::initializer_list<BatchSummary*> summaries, Extra* extra = nullptr);

  // Collective, for a summary of the last summarize(). `local`: what this rank has met before. An error is agreed.
  Result<PreparedPlan*> ready(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                              Status local = {});

  // Local: whether a plan may have to be made that depends on what messages to other hosts shrink to.
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
                        const BatchContext& context, std::span<int64_t> sums, std::span<int64_t> most);
  PlanQuery query_for(const RequestBatch& batch) const noexcept { return {batch, strategy_, limits_}; }

  Comm& comm_;
  Workspace& workspace_;
  Trace& trace_;
  bool share_ = true, check_messages_ = false;
  Strategy strategy_;
  PlanLimits limits_;
  PlanCache cache_;
  size_t objects_ = 0;
  std::vector<int64_t> bits_, identities_;  // what ranks tell each other
};

}  // namespace windrow
