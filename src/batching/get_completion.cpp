// SPDX-License-Identifier: BSD-3-Clause
#include "batching/get_completion.hpp"

#include <cstring>

#include "queueing/request_queue.hpp"

namespace windrow {

void GetCompletion::add_duplicates(const QueuedRequest& get, int64_t trailing, int64_t element_bytes) {
  if (get.decomposition->duplicates().empty())
    return;
  const int64_t size = get.staged ? get.staged->memory_bytes : element_bytes;
  duplicates_.push_back({&get.decomposition->duplicates(), trailing * size, get.data});
}

void GetCompletion::add_conversion(const QueuedRequest& get, std::shared_ptr<const ByteRuns> runs) {
  if (get.staged)
    conversions_.push_back({std::move(runs), get.staged.get(), get.variable});
}

Status GetCompletion::complete(const Settings& settings, const Catalog& catalog, Trace& trace) const {
  Status status;
  for (const Conversion& each : conversions_) {
    const int64_t out_of_range = convert_out(each.runs->runs, *each.staged);
    trace.values_clamped += out_of_range;
    trace.bytes_copied += each.runs->total;
    status.update(check_out_of_range(settings, out_of_range, *each.staged, false,
                                     catalog.variables[static_cast<size_t>(each.variable)].path));
  }
  for (const auto& [places, element_bytes, memory] : duplicates_)
    for (const LocalDuplicate& duplicate : *places) {
      std::memcpy(memory + duplicate.to * element_bytes, memory + duplicate.from * element_bytes,
                  static_cast<size_t>(duplicate.length * element_bytes));
      trace.bytes_copied += duplicate.length * element_bytes;
    }
  return status;
}

}  // namespace windrow
