// SPDX-License-Identifier: BSD-3-Clause
#include "batching/contiguous_storage.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/units.hpp"
#include "extent/interleave.hpp"
#include "planning/sampled_ratio.hpp"

namespace windrow {
namespace {

// Readers of the virtual datasets open every file that they read from, and get no error if the system opens no more.
std::string warning_of_files(const Subfiles& subfiles) {
  constexpr int64_t k_of_others = 32;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return {};
  if (subfiles.used() + k_of_others <= static_cast<int64_t>(limit.rlim_cur))
    return {};
  return fmt::format(
      "warning: {} exceed the limit of open files of a process here ({}): other programs that read a whole variable at "
      "once would get fill values without an error; Windrow does not",
      counted(subfiles.used(), "subfile"), limit.rlim_cur);
}

}  // namespace

Extent hull_of(const RequestBatch& batch) noexcept {
  Extent all{INT64_MAX, 0};
  for (const Item& item : batch.items)
    all = {std::min(all.begin, item.hull.begin), std::max(all.end, item.hull.end)};
  return all;
}

void VariableContext::adapt(Pattern& pattern, Strategy&, PlanLimits&) const {
  const auto& variables = view_.catalog().variables;
  const AddressSpace space = view_.space();
  // Regions by subfile, from the first to the last record that is moved. Records of other variables may be between
  // them.
  std::map<int64_t, Extent> records;
  bool interleaves = false;  // the moved records of several variables form one region
  for_each_among(summary_.objects, variables.size(), [&](size_t i) {
    if (component_size(variables[i].type) > 1 &&
        variables[i].placement.big_endian == (std::endian::native == std::endian::little))
      pattern.swapped = true;
    const Placement& place = variables[i].placement;
    const SplitVariable* split = space.find_split(i);
    if (place.stride > 0)
      interleaves = interleaves || place.has_bytes();
    else if (split != nullptr && split->grows)
      space.for_each_part_of_records(*split, summary_.records, [&](int64_t part, Extent bytes) {
        Extent& region = records.try_emplace(part, bytes).first->second;
        region = {std::min(region.begin, bytes.begin), std::max(region.end, bytes.end)};
      });
    else
      space.for_each_extent(i, [&](int64_t, Extent bytes) { pattern.regions.push_back(bytes); });
  });
  for (const auto& [subfile, bytes] : records)
    pattern.regions.push_back(bytes);
  if (interleaves && summary_.hull.begin < summary_.hull.end)
    pattern.regions.push_back(summary_.hull);
  unite_regions(pattern);
  int64_t bytes = 0;
  for (const Extent& region : pattern.regions)
    bytes += region.size();
  pattern.never_written = !pattern.reading && bytes > pattern.bytes &&
                          are_never_written(view_.catalog(), view_.write_state, summary_.objects);
}

void VariableContext::complete(PreparedPlan& prepared) const {
  describe(prepared.plan);
  // A window whose holes are filled is written as a whole.
  if (!prepared.plan.reading && view_.write_state.any_needs_fill(summary_.objects))
    prepared.plan.whole_windows = true;
}

void VariableContext::describe(Plan& plan) const {
  const Subfiles* subfiles = view_.subfiles;
  plan.strategy.files =
      subfiles != nullptr ? Files::subfiles : Files::one;  // the files that exist, not those that were requested
  if (!view_.files_reason.empty())
    plan.reasons.push_back(view_.files_reason);
  if (subfiles != nullptr) {
    if (view_.files_reason.empty())
      plan.reasons.push_back(
          fmt::format("files subfiles({}): {}", subfiles->count(), view_.is_new ? "as asked" : "as the file is"));
    if (std::string warning = warning_of_files(*subfiles); !warning.empty())
      plan.reasons.push_back(std::move(warning));
  }
  describe_striping(view_.striping, plan.reasons);
}

Status VariableContext::prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace,
                                Trace& trace) const {
  if (Status status = prepare_requests(prepared, batch, workspace, trace); !status.ok())
    return status;
  const auto& regions = prepared.plan.pattern.regions;
  // Bytes that were never written are read as zeros, not as the end of the file. In a file that was cut short they are
  // an error.
  const bool reads = (batch.reading && !view_.is_cut_short) || prepared.plan.strategy.access == Access::sieve;
  if (!view_.is_writable || !reads || regions.empty())
    return {};
  prepared.outdated = view_.is_explained;  // the plan of the flush extends the file
  return view_.comm.rank() == 0 && !view_.is_explained ? file().extend(regions) : Status{};
}

std::string VariableContext::conflict_of(size_t object) const {
  return fmt::format(
      "ranks put \"{}\" with different decompositions; all ranks must use the same decompositions in the same order",
      view_.catalog().variables[object].path);
}

Result<std::shared_ptr<const ByteRuns>> ContiguousStorage::runs_of(const VariableRequest& request,
                                                                   VariableBatch&) const {
  return windrow::runs_of(request.request, request.variable, request.trailing * request.element_bytes,
                          engine_.run_options());
}

Status ContiguousStorage::add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                                    VariableBatch& batch) const {
  const int64_t stride = request.variable.placement.stride;
  int64_t base = file_.space().place_of(static_cast<size_t>(request.request.variable));
  if (request.is_record())  // the byte runs are those of one record
    base += request.request.record * (stride > 0 ? stride : row_bytes(request.variable));
  else if (stride > 0 && stride != row_bytes(request.variable))
    runs = interleaved(*runs, row_bytes(request.variable), stride);
  if (stride > 0)
    batch.hull = {std::min(batch.hull.begin, runs->hull.begin + base), std::max(batch.hull.end, runs->hull.end + base)};
  batch.add(std::move(runs), base, request.memory());
  return {};
}

void ContiguousStorage::finish_batch(VariableBatch& batch) const {
  if (!batch.reading && engine_.planner.may_compress(batch))
    batch.sampled_ratio = sampled_ratio_of(batch.items);
  if (is_in_memory(batch))
    batch.in_memory = 1;
}

// Whether the bytes of the gets are in the page cache. Only rank 0 queries it, so that all ranks plan with the same
// answer. It cannot if it reads nothing.
bool ContiguousStorage::is_in_memory(const VariableBatch& batch) const {
  const Access access = engine_.planner.strategy().access;
  return batch.reading && !batch.items.empty() && file_.is_on_local_disk && file_.comm.host_roots().size() == 1 &&
         file_.comm.rank() == 0 && (access == Access::automatic || access == Access::contiguous) &&
         file_.data.in_memory(hull_of(batch));
}

Result<PreparedPlan*> ContiguousStorage::plan(const VariableBatch& batch, const BatchSummary& summary) {
  return engine_.planner.ready(batch, summary, VariableContext(file_, summary));
}

Result<PreparedPlan*> ContiguousStorage::ready_plan(const VariableBatch& batch, const BatchSummary& summary) {
  auto ready = plan(batch, summary);
  if (ready.ok() || batch.reading || file_.is_explained || !file_.publication.is_temporary())
    return ready;
  // After an error of the storage the file cannot be published. After out_of_memory nothing was written, and the flush
  // can be repeated.
  const Code code = ready.status().code();
  if (code == Code::no_permission || code == Code::no_space || code == Code::io)
    file_.publication.fail(ready.status());
  return ready;
}

Status ContiguousStorage::prepare_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                                       InFlightBatch& in_flight, PlanForecast& forecast) {
  if (Status filled = file_.filling().fill_before(summary, prepared, batch.reading, in_flight.fill, forecast);
      !filled.ok())
    return filled;
  // The error is local: this rank still takes part in the transfer, and the ranks agree afterwards.
  if (!batch.reading && !prepared.direct)
    in_flight.local = guard([&] {
      if (file_.filling().knows_holes(prepared, summary.objects, in_flight.never_written))
        forecast.read_requests = 0;
      return Status{};
    });
  if (!in_flight.local.ok())
    in_flight.never_written.clear();
  return {};
}

Status ContiguousStorage::forecast_move(const VariableBatch& batch, const BatchSummary& summary,
                                        const PreparedPlan& prepared, PlanForecast& forecast) {
  if (Status status = file_.filling().forecast(summary, prepared, batch.reading, forecast); !status.ok())
    return status;
  if (batch.reading || prepared.direct)
    return {};
  return guard([&] {
    FillMap never_written;
    if (file_.filling().knows_holes(prepared, summary.objects, never_written))
      forecast.read_requests = 0;
    return Status{};
  });
}

void ContiguousStorage::begin_move(const VariableBatch& batch, const BatchSummary& summary, PreparedPlan& prepared,
                                   bool in_background, InFlightBatch& in_flight) {
  if (!batch.reading)
    file_.write_state.mark_written(summary.objects);
  engine_.executor.begin(in_flight, prepared, batch, file_.data, in_background);
}

Status ContiguousStorage::end_move(const VariableBatch&, InFlightBatch& in_flight) {
  return engine_.executor.end(in_flight);
}

void ContiguousStorage::conclude_move(const VariableBatch& batch, const InFlightBatch&,
                                      const Status& verdict) noexcept {
  if (!batch.reading)
    file_.write_state.end_filling(verdict.ok());
}

}  // namespace windrow
