// SPDX-License-Identifier: BSD-3-Clause
// ChunkedStorage: the storage of one chunked variable, which moves in a separate batch. The plan divides the linear
// space of its chunks, and each window is encoded or decoded. A split variable has one batch for each chunk size of its
// parts, nearly always one in all.
#pragma once

#include <memory>
#include <vector>

#include "batching/chunk_plan.hpp"
#include "batching/chunk_targets.hpp"
#include "batching/variable_storage.hpp"

namespace windrow {

class ChunkedStorage final : public VariableStorage {
 public:
  // Both references must outlive this object.
  ChunkedStorage(const FileView& file, FlushEngine& engine, int variable, std::shared_ptr<const ChunkLayout> layout)
      : VariableStorage(variable, layout->group + 1),
        file_(file),
        engine_(engine),
        layout_(std::move(layout)),
        format_of_([&formats = file.formats](const ChunkPart& part) { return formats(part); }),
        targets_(file, *layout_, format_of_) {}
  ChunkedStorage(const ChunkedStorage&) = delete;
  ChunkedStorage& operator=(const ChunkedStorage&) = delete;

  bool is_cached(const BatchSummary&) const noexcept override { return false; }
  bool moves(int number, const Variable&) const noexcept override { return number == variable(); }
  Result<std::shared_ptr<const ByteRuns>> runs_of(const VariableRequest& request, VariableBatch& batch) const override;
  Status add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                   VariableBatch& batch) const override;
  void finish_batch(VariableBatch& batch) const override;
  Result<PreparedPlan*> ready_plan(const VariableBatch& batch, const BatchSummary& summary) override;
  Status prepare_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                      InFlightBatch& in_flight, PlanForecast& forecast) override;
  Status forecast_move(const VariableBatch&, const BatchSummary&, const PreparedPlan&, PlanForecast&) override {
    return {};
  }
  void begin_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared, bool in_background,
                  InFlightBatch& in_flight) override;
  Status end_move(const VariableBatch& batch, InFlightBatch& in_flight) override;
  bool is_whole(const BatchSummary&) const noexcept override { return false; }  // other parts may have another batch
  void conclude_move(const VariableBatch& batch, const InFlightBatch& in_flight,
                     const Status& verdict) noexcept override;
  void cancel_move() noexcept override { targets_.fill_reserved(); }

 private:
  Result<std::shared_ptr<const ByteRuns>> runs_in_parts(const VariableRequest& request, const SplitVariable& split,
                                                        VariableBatch& batch) const;

  const FileView& file_;
  FlushEngine& engine_;
  std::shared_ptr<const ChunkLayout> layout_;
  FormatOfPart format_of_;
  ChunkTargetFinder targets_;
  KnownChunks known_;
};

// Returns the layout of the chunks of a variable. For a split variable, returns one layout for each chunk size of its
// parts. Local, the same on all ranks.
Result<std::vector<std::shared_ptr<const ChunkLayout>>> chunk_layouts_of(const FileView& file, int variable);

}  // namespace windrow
