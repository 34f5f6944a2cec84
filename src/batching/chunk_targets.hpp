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
#include "batching/file_view.hpp"
#include "batching/variable_batch.hpp"
#include "chunking/chunks.hpp"
#include "planning/batch_summary.hpp"
#include "trace/trace.hpp"

namespace windrow {

class ChunkTargetFinder {
 public:
  // All references must outlive this object.
  ChunkTargetFinder(const FileView& file, const ChunkLayout& layout, const FormatOfPart& format_of) noexcept
      : file_(file), layout_(layout), format_of_(format_of) {}

  // Collective; the status is of this rank. Sets `found`, with the reason if the targets cannot be known.
  Status find(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found, Status local);
  // Local, after a failure. Writes fill values into the chunks that find() has allocated and that are not written.
  void fill_reserved() noexcept;

 private:
  bool is_possible(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found) const;
  Status find_moved(const VariableBatch& batch, std::vector<int64_t>& moved, Status local);
  Status append_own(std::span<const Extent> regions, std::span<const int64_t> moved, std::vector<std::byte>& message);
  const StorageLayout& stripes_of(const ChunkPart& part) const noexcept {
    return part.number < 0 ? file_.striping.layout : file_.set.layouts()[part.number];
  }

  const FileView& file_;
  const ChunkLayout& layout_;
  const FormatOfPart& format_of_;
  std::vector<int64_t> reserved_;  // on a root: chunks that find() has allocated
};

}  // namespace windrow
