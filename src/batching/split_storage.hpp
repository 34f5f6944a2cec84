// SPDX-License-Identifier: BSD-3-Clause
// SplitStorage: contiguous variables of a set of subfiles. Split ones have a part in each subfile, others lie in the
// base file. The bytes of all files are one address space.
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

// What this rank moves of each part, for as many records as the variable had when the request was queued.
Result<std::vector<SharedDecomposition::PartRuns>> part_runs_of(const FlushEngine& engine,
                                                                const VariableRequest& request,
                                                                const SplitVariable& split);
// The batch moves the records of this request. Does nothing for a variable that cannot grow.
void add_records(const VariableRequest& request, const SplitVariable& split, VariableBatch& batch) noexcept;

}  // namespace windrow
