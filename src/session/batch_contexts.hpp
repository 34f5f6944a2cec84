// SPDX-License-Identifier: BSD-3-Clause
// What variables add to the plans of their batches, by how they are stored: contiguous, split over the files of a set,
// or chunked.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "planning/batch_context.hpp"
#include "planning/batch_summary.hpp"
#include "session/chunk_plan.hpp"
#include "session/variable_batch.hpp"
#include "storage/striping.hpp"
#include "subfiling/address_space.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

// Of an open file. All must outlive its contexts.
struct VariableStorage {
  const Comm& comm;
  DataFile& file;
  const Catalog& catalog;
  const Subfiles* subfiles;  // nullptr: the file is one
  const WriteState& write_state;
  const Striping& striping;
  const std::string& files_reason;  // why there are so many files; "": they were asked for
  bool is_new = false;              // the file is being created
  bool is_writable = false;
  bool is_cut_short = false;  // it ended before its variables do when it was opened: it is damaged
};

class VariableContext : public BatchContext {
 public:
  VariableContext(const VariableStorage& storage, const BatchSummary& summary) noexcept
      : BatchContext(storage.file), storage_(storage), summary_(summary) {}
  void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const override;
  void complete(PreparedPlan& prepared) const override;
  Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const override;
  std::string conflict_of(size_t object) const override;

 protected:
  void describe(Plan& plan) const;
  const VariableStorage& storage() const noexcept { return storage_; }
  const BatchSummary& summary() const noexcept { return summary_; }

 private:
  const VariableStorage& storage_;
  const BatchSummary& summary_;
};

class SplitContext final : public VariableContext {
 public:
  // `line`: of all files of the set, where domains are dealt by target and it is known; else nullptr.
  SplitContext(const VariableStorage& storage, const BatchSummary& summary,
               std::shared_ptr<const StorageLayout> line) noexcept
      : VariableContext(storage, summary), line_(std::move(line)) {}
  void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const override;
  void complete(PreparedPlan& prepared) const override;

 private:
  std::shared_ptr<const StorageLayout> line_;
};

class ChunkedContext final : public VariableContext {
 public:
  // `format_of`: where the index of a part's chunks is, on its root.
  ChunkedContext(const VariableStorage& storage, const BatchSummary& summary, std::shared_ptr<const ChunkLayout> layout,
                 const ChunkTargets& targets, FormatOfPart format_of)
      : VariableContext(storage, summary),
        layout_(std::move(layout)),
        targets_(targets),
        format_of_(std::move(format_of)) {}
  void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const override;
  void complete(PreparedPlan& prepared) const override;
  Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const override;

 private:
  void prepare_roots(const PreparedPlan& prepared, ChunkPlan& chunks, Trace& trace) const;

  std::shared_ptr<const ChunkLayout> layout_;
  const ChunkTargets& targets_;
  FormatOfPart format_of_;
};

}  // namespace windrow
