// SPDX-License-Identifier: BSD-3-Clause
#include "planning/request_batch.hpp"

#include <algorithm>
#include <utility>

namespace windrow {

void RequestBatch::add(std::shared_ptr<const ByteRuns> ranges, int64_t base, const Memory& memory) {
  items.push_back({.runs = ranges->runs,
                   .hull = {ranges->hull.begin + base, ranges->hull.end + base},
                   .total = ranges->total,
                   .file_base = base,
                   .memory = memory.data,
                   .swap_bytes = memory.swap_bytes,
                   .element_bytes = memory.element_bytes});
  bytes += ranges->total;
  pieces += ranges->pieces;
  long_bytes += ranges->long_bytes;
  long_pieces += ranges->long_pieces;
  runs.push_back(std::move(ranges));
}

void RequestBatch::finish(int rank) {
  std::sort(key.begin(), key.end());
  largest_rank_bytes = bytes;
  ranks_with_data = bytes > 0 ? 1 : 0;
  entries = static_cast<int64_t>(key.size());
  if (reading)
    uniform_most = uniform_least = -1 - rank;  // differs from that of any other rank
}

}  // namespace windrow
