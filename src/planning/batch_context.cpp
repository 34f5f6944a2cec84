// SPDX-License-Identifier: BSD-3-Clause
#include "planning/batch_context.hpp"

#include <algorithm>

namespace windrow {
namespace {

// Allocates the buffer for direct pieces whose elements are in the other byte order.
void reserve_bounce(std::span<const Item> items, PreparedPlan& prepared, Workspace& workspace, Trace& trace) {
  const bool swaps = std::any_of(items.begin(), items.end(), [](const Item& item) { return item.swap_bytes > 1; });
  if (!swaps)
    return;
  const int64_t bytes = bounce_bytes(prepared.limits);
  if (workspace.bounce.empty()) {
    workspace.bounce.resize(static_cast<size_t>(bytes));
    ++trace.allocations;
  }
  prepared.extra_bytes += bytes;
}

}  // namespace

Status BatchContext::prepare_requests(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace,
                                      Trace& trace) const {
  PlanForecast& forecast = prepared.forecast;
  const int64_t bounce = bounce_bytes(prepared.limits);
  forecast.bytes = batch.bytes;
  int64_t& requests = batch.reading ? forecast.read_requests : forecast.write_requests;
  if (prepared.direct) {
    reserve_bounce(batch.items, prepared, workspace, trace);
    if (prepared.plan.strategy.access != Access::mapped)
      requests = direct_requests(batch.items, bounce);
    return {};
  }
  forecast.messages = prepared.transfer->expected_messages();
  reserve_bounce(prepared.direct_items, prepared, workspace, trace);
  requests = direct_requests(prepared.direct_items, bounce);
  int64_t scratch = 0;
  prepared.transfer->for_each_storage_window([&](const Window& window, PieceView covered) {
    ++prepared.storage_windows;
    window.for_each_part([&](Extent part, int64_t) {
      for_each_request(prepared.rule, part, covered, [&](const Request& request) {
        ++requests;
        if (!request.holes || batch.reading)
          return;
        forecast.read_requests += reads_before(prepared.rule, request);
        scratch = std::max(scratch, std::min(prepared.rule.read_before_bytes, request.bytes.size()));
      });
    });
  });
  prepared.extra_bytes += scratch;
  if (scratch > file_.reserved())
    ++trace.allocations;
  return file_.reserve(scratch);
}

void unite_regions(Pattern& pattern) {
  auto& regions = pattern.regions;
  std::sort(regions.begin(), regions.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  size_t count = 0;
  for (const Extent& region : regions) {
    if (count > 0 && region.begin < regions[count - 1].end)
      pattern.overlapping = true;
    if (count > 0 && region.begin <= regions[count - 1].end)
      regions[count - 1].end = std::max(regions[count - 1].end, region.end);
    else
      regions[count++] = region;
  }
  regions.resize(count);
}

}  // namespace windrow
