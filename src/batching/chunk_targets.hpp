// SPDX-License-Identifier: BSD-3-Clause
// ChunkTargetFinder: finds the storage target of each chunk of a batch, so that domains can be assigned by target. Only
// the roots have the chunk indices, so this is a collective step. A plan must know the addresses of chunks, so new
// chunks are allocated before it is made.
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

class ChunkTargetFinder {
 public:
  // All references must outlive this object. `base`: the layout of the base file.
  ChunkTargetFinder(Comm& comm, const ChunkLayout& layout, const FormatOfPart& format_of, const StorageLayout& base,
                    const SubfileSet& set) noexcept
      : comm_(comm), layout_(layout), format_of_(format_of), base_(base), set_(set) {}

  // Collective; the status is of this rank. Sets `found`, with the reason if the targets cannot be known.
  Status find(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found, Status local);
  // Local, after a failure. Writes fill values into the chunks that find() has allocated and that are not written.
  void fill_reserved() noexcept;

 private:
  bool is_possible(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found) const;
  Status find_moved(const VariableBatch& batch, std::vector<int64_t>& moved, Status local);
  Status append_own(const VariableBatch& batch, std::span<const Extent> regions, std::span<const int64_t> moved,
                    std::vector<std::byte>& message);
  const StorageLayout& stripes_of(const ChunkPart& part) const noexcept {
    return part.number < 0 ? base_ : set_.layouts()[part.number];
  }

  Comm& comm_;
  const ChunkLayout& layout_;
  const FormatOfPart& format_of_;
  const StorageLayout& base_;
  const SubfileSet& set_;
  std::vector<int64_t> reserved_;  // on a root: chunks that find() has allocated
};

}  // namespace windrow
