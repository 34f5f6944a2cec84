// SPDX-License-Identifier: BSD-3-Clause
// VariableStorage: how the variables of one batch are stored, and so which bytes move, by which plan, and what happens
// before and after. A flush takes the same steps for every storage:
//
//   runs_of, add_items   for each request: the bytes of this rank, as items of the batch
//   finish_batch         once all items are there
//   ready_plan           collective: the prepared plan
//   prepare_move         collective: what must be read or written before
//   begin_move, end_move move the batch
//   conclude_move        once all ranks have agreed on the outcome
//
// An object is made for one batch, and must not allocate where a plan is cached.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "batching/file_view.hpp"
#include "batching/flush_engine.hpp"
#include "batching/variable_batch.hpp"
#include "flush/in_flight.hpp"
#include "planning/batch_summary.hpp"
#include "planning/prepared_plan.hpp"
#include "queueing/queued_request.hpp"
#include "queueing/request_list.hpp"

namespace windrow {

// A queued request with its variable.
struct VariableRequest {
  const QueuedRequest& request;
  const Variable& variable;
  std::span<const int64_t> shape;  // what the decomposition describes: the variable when it was queued, or one record
  int64_t trailing = 0;            // elements of the variable for each element of the decomposition
  int64_t element_bytes = 0;       // of the variable

  bool is_record() const noexcept { return request.record >= 0; }
  RequestBatch::Memory memory() const noexcept {
    return {request.staged ? request.staged->bytes.get() : request.data, swap_bytes(request, variable),
            static_cast<int>(component_size(variable.type))};
  }
};

class VariableStorage {
 public:
  virtual ~VariableStorage() = default;

  int variable() const noexcept { return variable_; }  // that alone moves; -1: all that move()
  // Distinguishes the plans of batches with the same requests.
  int64_t plan_group() const noexcept { return plan_group_; }
  // Whether batches of this storage move a variable.
  virtual bool moves(int number, const Variable& variable) const noexcept = 0;

  // Whether a report says that the plan was made in an earlier flush.
  virtual bool is_cached(const BatchSummary& summary) const noexcept { return summary.plan_id > 0; }

  // Local. What this rank moves for a request, with its places in memory.
  virtual Result<std::shared_ptr<const ByteRuns>> runs_of(const VariableRequest& request,
                                                          VariableBatch& batch) const = 0;
  // Local. Adds them, which are not empty, at their addresses.
  virtual Status add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                           VariableBatch& batch) const = 0;
  virtual void finish_batch(VariableBatch& batch) const = 0;

  // Collective, agreed.
  virtual Result<PreparedPlan*> ready_plan(const VariableBatch& batch, const BatchSummary& summary) = 0;
  // Collective, agreed. `forecast`: of the plan; gets what this adds.
  virtual Status prepare_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                              InFlightBatch& in_flight, PlanForecast& forecast) = 0;
  // Collective: the same forecast, where nothing moves. The status is this rank's own.
  virtual Status forecast_move(const VariableBatch& batch, const BatchSummary& summary, const PreparedPlan& prepared,
                               PlanForecast& forecast) = 0;
  // By every rank, whatever has failed on it. `behind`: the I/O thread may go on after the call.
  virtual void begin_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared, bool behind,
                          InFlightBatch& in_flight) = 0;
  virtual Status end_move(const VariableBatch& batch, InFlightBatch& in_flight) = 0;  // the status is this rank's own
  // Whether the bytes of all ranks are all bytes of the variables that the batch writes.
  virtual bool is_whole(const BatchSummary& summary) const noexcept = 0;
  // Local, once all ranks know the outcome.
  virtual void conclude_move(const VariableBatch& batch, const InFlightBatch& in_flight,
                             const Status& verdict) noexcept = 0;
  // Local: the batch does not move. It is called where all ranks know so.
  virtual void cancel_move() noexcept {}

 protected:
  explicit VariableStorage(int variable = -1, int64_t plan_group = 0) noexcept
      : variable_(variable), plan_group_(plan_group) {}

 private:
  int variable_;
  int64_t plan_group_;
};

// Local: the requests of one ordinal of puts, or the gets (ordinal 0), as a batch of this storage.
Status build_batch(const FileView& file, FlushEngine& engine, const VariableStorage& storage, RequestList& requests,
                   bool reading, int64_t ordinal, VariableBatch& batch);

}  // namespace windrow
