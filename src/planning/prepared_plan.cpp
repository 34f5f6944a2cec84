// SPDX-License-Identifier: BSD-3-Clause
#include "planning/prepared_plan.hpp"

namespace windrow {

std::span<const Item> split_items(PreparedPlan& prepared, const RequestBatch& batch) noexcept {
  if (prepared.plan.direct_bytes == 0)
    return batch.items;
  prepared.direct_items.clear();
  prepared.aggregated_items.clear();
  for (size_t i = 0; i < batch.items.size(); ++i) {
    const Item& item = batch.items[i];
    const ByteRuns& bytes = *prepared.runs[i];
    if (bytes.long_pieces == 0)
      prepared.aggregated_items.push_back(item);
    if (bytes.long_pieces > 0 && bytes.long_pieces == bytes.pieces)
      prepared.direct_items.push_back(item);
    if (bytes.short_runs.empty())
      continue;
    prepared.aggregated_items.push_back(
        make_item(bytes.short_runs, item.file_base, item.memory, item.swap_bytes, item.element_bytes));
    prepared.direct_items.push_back(make_item(bytes.long_runs, item.file_base, item.memory, item.swap_bytes));
  }
  return prepared.aggregated_items;
}

}  // namespace windrow
