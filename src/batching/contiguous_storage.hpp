// SPDX-License-Identifier: BSD-3-Clause
// ContiguousStorage: the storage of variables that are contiguous in one file, or whose records are interleaved with
// those of other variables. All of them move in one batch.
#pragma once

#include "batching/variable_storage.hpp"
#include "planning/batch_context.hpp"

namespace windrow {

// The context of a batch of variables: what the planner must know about the file and about them.
class VariableContext : public BatchContext {
 public:
  VariableContext(const FileView& view, const BatchSummary& summary) noexcept
      : BatchContext(view.data), view_(view), summary_(summary) {}
  void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const override;
  void complete(PreparedPlan& prepared) const override;
  Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const override;
  std::string conflict_of(size_t object) const override;

 protected:
  void describe(Plan& plan) const;
  const FileView& view() const noexcept { return view_; }
  const BatchSummary& summary() const noexcept { return summary_; }

 private:
  const FileView& view_;
  const BatchSummary& summary_;
};

class ContiguousStorage : public VariableStorage {
 public:
  // Both must outlive this object.
  ContiguousStorage(const FileView& file, FlushEngine& engine) noexcept : file_(file), engine_(engine) {}

  bool moves(int, const Variable& variable) const noexcept override { return !variable.is_chunked(); }
  Result<std::shared_ptr<const ByteRuns>> runs_of(const VariableRequest& request, VariableBatch& batch) const override;
  Status add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                   VariableBatch& batch) const override;
  void finish_batch(VariableBatch& batch) const override;
  Result<PreparedPlan*> ready_plan(const VariableBatch& batch, const BatchSummary& summary) override;
  Status prepare_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                      InFlightBatch& in_flight, PlanForecast& forecast) override;
  Status forecast_move(const VariableBatch& batch, const BatchSummary& summary, const PreparedPlan& prepared,
                       PlanForecast& forecast) override;
  void begin_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared, bool in_background,
                  InFlightBatch& in_flight) override;
  Status end_move(const VariableBatch& batch, InFlightBatch& in_flight) override;
  bool is_whole(const BatchSummary& summary) const noexcept override { return file_.filling().is_whole(summary); }
  void conclude_move(const VariableBatch& batch, const InFlightBatch& in_flight,
                     const Status& verdict) noexcept override;

 protected:
  virtual Result<PreparedPlan*> plan(const VariableBatch& batch, const BatchSummary& summary);
  const FileView& file() const noexcept { return file_; }
  FlushEngine& engine() const noexcept { return engine_; }

 private:
  bool is_in_memory(const VariableBatch& batch) const;

  const FileView& file_;
  FlushEngine& engine_;
};

// The extent from the first to the last byte that this rank moves.
Extent hull_of(const RequestBatch& batch) noexcept;

}  // namespace windrow
