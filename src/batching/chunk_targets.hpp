// SPDX-License-Identifier: BSD-3-Clause
// Where the chunks of a batch lie: their indices are at their roots, which all ranks ask in collective steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "batching/chunk_plan.hpp"
#include "batching/variable_batch.hpp"
#include "chunking/chunks.hpp"
#include "comm/comm.hpp"
#include "planning/batch_summary.hpp"
#include "subfiling/subfile_set.hpp"
#include "trace/trace.hpp"

namespace windrow {

// Finds out on which targets of the storage the chunks of one batch lie, so that domains can be assigned by target.
// Chunks that are new get room before: the plan must know their addresses.
class ChunkTargetFinder {
 public:
  // All must outlive it. `base`: the layout of the base file.
  ChunkTargetFinder(Comm& comm, const ChunkLayout& layout, const FormatOfPart& format_of, const StorageLayout& base,
                    const SubfileSet& set) noexcept
      : comm_(comm), layout_(layout), format_of_(format_of), base_(base), set_(set) {}

  // Collective; the status is this rank's own.
  Status find(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found, Status local);
  // Local, after a failure: the chunks that got room, and that the format does not find yet, are filled.
  void fill_reserved() noexcept;

 private:
  bool is_possible(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found) const;
  Status find_moved(const VariableBatch& batch, std::vector<int64_t>& moved, Status local);
  Status append_own(const VariableBatch& batch, std::span<const Extent> regions, std::span<const int64_t> moved,
                    std::vector<std::byte>& message);
  const StorageLayout& stripes_of(const ChunkPart& part) const noexcept {
    return part.number < 0 ? base_ : set_.layout_of(part.number);
  }

  Comm& comm_;
  const ChunkLayout& layout_;
  const FormatOfPart& format_of_;
  const StorageLayout& base_;
  const SubfileSet& set_;
  std::vector<int64_t> reserved_;  // on a root: chunks that got room for the plan
};

}  // namespace windrow
