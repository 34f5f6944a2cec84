// SPDX-License-Identifier: BSD-3-Clause
// SplitStorage: the storage of the contiguous variables of a set of subfiles. A split variable has one part in each
// subfile; other variables are in the base file. The bytes of all files form one address space, so one plan moves them.
#pragma once

#include "batching/contiguous_storage.hpp"

namespace windrow {

class SplitStorage final : public ContiguousStorage {
 public:
  SplitStorage(const FileView& file, FlushEngine& engine) noexcept : ContiguousStorage(file, engine) {}

  Status add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                   VariableBatch& batch) const override;
  void finish_batch(VariableBatch& batch) const override;

 protected:
  Result<PreparedPlan*> plan(const VariableBatch& batch, const BatchSummary& summary) override;

 private:
  Status add_parts(const VariableRequest& request, const SplitVariable& split, VariableBatch& batch) const;
};

// Returns the byte runs of each part that this rank moves. The shape is that of the variable when the request was
// queued.
Result<std::vector<SharedDecomposition::PartRuns>> part_runs_of(const FlushEngine& engine,
                                                                const VariableRequest& request,
                                                                const SplitVariable& split);
// Adds the records of this request to the range of records that the batch moves. Does nothing for a variable that
// cannot grow.
void add_records(const VariableRequest& request, const SplitVariable& split, VariableBatch& batch) noexcept;

}  // namespace windrow
