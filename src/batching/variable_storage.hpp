// SPDX-License-Identifier: BSD-3-Clause
// VariableStorage: the interface to the way in which the variables of a batch are stored. There are three: contiguous
// in one file, split over subfiles, and in chunks. A storage decides which bytes move, and by which plan, and what
// happens before and after. VariableFlush takes the same steps for every storage:
//
//   runs_of, add_items    local: the bytes of each request, as items of the batch
//   finish_batch          local: after the last item
//   ready_plan            collective: a cached plan, or a new one
//   prepare_move          collective: reads or writes what must be there before, such as fill values
//   begin_move, end_move  collective: move the batch
//   conclude_move         local: after all ranks have agreed on the outcome
//
// A step that fails ends the batch on all ranks. The exceptions are begin_move() and end_move(): every rank takes both,
// and errors are agreed on after end_move().
//
// An object is made for one batch. A batch with a cached plan allocates no memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "batching/file_view.hpp"
#include "batching/variable_batch.hpp"
#include "engine/flush_engine.hpp"
#include "flush/in_flight.hpp"
#include "planning/batch_summary.hpp"
#include "planning/prepared_plan.hpp"
#include "queueing/queued_request.hpp"
#include "queueing/request_list.hpp"

namespace windrow {

// A queued request with its variable. Refers to both.
struct VariableRequest {
  const QueuedRequest& request;
  const Variable& variable;
  int64_t trailing = 0;       // number of elements of the variable for each element of the decomposition
  int64_t element_bytes = 0;  // size of an element of the variable

  bool is_record() const noexcept { return request.record >= 0; }
  RequestBatch::Memory memory() const noexcept {
    return {request.staged ? request.staged->bytes.get() : request.data, swap_bytes(request, variable),
            static_cast<int>(component_size(variable.type))};
  }
};

class VariableStorage {
 public:
  virtual ~VariableStorage() = default;

  // The only variable of the batch; -1 if the batch has all variables that moves() accepts.
  int variable() const noexcept { return variable_; }
  // Distinguishes the cached plans of batches that have the same requests.
  int64_t plan_group() const noexcept { return plan_group_; }
  // Whether batches of this storage contain the variable. The same on all ranks.
  virtual bool moves(int number, const Variable& variable) const noexcept = 0;

  // Whether the report shows the plan as cached.
  virtual bool is_cached(const BatchSummary& summary) const noexcept { return summary.plan_id > 0; }

  // Local. Returns the bytes that this rank moves for a request, with their places in memory. out_of_memory.
  virtual Result<std::shared_ptr<const ByteRuns>> runs_of(const VariableRequest& request,
                                                          VariableBatch& batch) const = 0;
  // Local. Adds these bytes to the batch, at their addresses in the file. `runs` is not empty.
  virtual Status add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                           VariableBatch& batch) const = 0;
  virtual void finish_batch(VariableBatch& batch) const = 0;

  // Collective, agreed. Returns the plan of the batch, prepared for its transfer. The plan cache owns it; it is valid
  // until the batch has moved.
  virtual Result<PreparedPlan*> ready_plan(const VariableBatch& batch, const BatchSummary& summary) = 0;
  // Collective, agreed. Prepares the file for the batch. Adds its own requests to `forecast`, the forecast of the plan.
  virtual Status prepare_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                              InFlightBatch& in_flight, PlanForecast& forecast) = 0;
  // Collective. Adds the same requests to `forecast`, for an explanation; nothing moves. The status is of this rank.
  virtual Status forecast_move(const VariableBatch& batch, const BatchSummary& summary, const PreparedPlan& prepared,
                               PlanForecast& forecast) = 0;
  // Collective. Starts the transfer. Every rank calls it, also after an error of its own. `in_background`: the I/O
  // thread may continue to write after the call has returned.
  virtual void begin_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                          bool in_background, InFlightBatch& in_flight) = 0;
  // Collective. Completes the transfer. The status is of this rank.
  virtual Status end_move(const VariableBatch& batch, InFlightBatch& in_flight) = 0;
  // Whether the ranks together write all bytes of the variables of the batch.
  virtual bool is_whole(const BatchSummary& summary) const noexcept = 0;
  // Local. Updates the state of the variables by the agreed outcome of the batch.
  virtual void conclude_move(const VariableBatch& batch, const InFlightBatch& in_flight,
                             const Status& verdict) noexcept = 0;
  // Local. Called on all ranks instead of the steps after ready_plan(), if the batch does not move.
  virtual void cancel_move() noexcept {}

 protected:
  explicit VariableStorage(int variable = -1, int64_t plan_group = 0) noexcept
      : variable_(variable), plan_group_(plan_group) {}

 private:
  int variable_;
  int64_t plan_group_;
};

// The arguments of one call that moves requests.
struct CallArguments {
  const FileView& file;
  RequestList& requests;
};

// The puts of one ordinal, or the gets (ordinal 0).
struct BatchKind {
  bool reading = false;
  int64_t ordinal = 0;
};

// Local. Builds the batch of this storage. out_of_memory.
Status build_batch(const CallArguments& call, FlushEngine& engine, const VariableStorage& storage, BatchKind kind,
                   VariableBatch& batch);

}  // namespace windrow
