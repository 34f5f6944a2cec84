// SPDX-License-Identifier: BSD-3-Clause
#include "batching/split_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "extent/interleave.hpp"
#include "layout/layout.hpp"

namespace windrow {
namespace {

// The context of a batch of a set: what the planner must know about its files.
class SplitContext final : public VariableContext {
 public:
  // `line`: the layout of the address space, if domains are assigned by target and it is known; otherwise nullptr.
  SplitContext(const FileView& view, const BatchSummary& summary, std::shared_ptr<const StorageLayout> line) noexcept
      : VariableContext(view, summary), line_(std::move(line)) {}

  // As many writers as files, unless the user has set a number. Domains then end where files end, and ranks whose data
  // is in the order of the parts write it themselves.
  void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const override {
    VariableContext::adapt(pattern, strategy, limits);
    limits.layout = line_;  // not the layout of the base file: an address is not an offset in that file
    if (limits.layout)
      limits.unit = lock_unit(*limits.layout);
    if (limits.writers == 0)
      limits.writers = std::min<int64_t>(view().subfiles->used(), view().comm.size());
    if (strategy.access == Access::mapped)
      strategy.access = Access::automatic;  // a range of addresses is not a range of one file
  }

  void complete(PreparedPlan& prepared) const override {
    VariableContext::complete(prepared);
    // There is a gap between two files, which no request crosses.
    prepared.rule.hole_bytes = std::min(prepared.rule.hole_bytes, FileLine::k_unit);
  }

 private:
  std::shared_ptr<const StorageLayout> line_;
};

// The split of a variable with this number of records, made from the split of one record.
Result<Split> with_records(const Split& of_one, int64_t records) {
  auto bounds = of_one.bounds();
  bounds[0] = {0, records};
  return Split::make(std::move(bounds));
}

}  // namespace

Result<std::vector<SharedDecomposition::PartRuns>> part_runs_of(const FlushEngine& engine,
                                                                const VariableRequest& request,
                                                                const SplitVariable& split) {
  const QueuedRequest& entry = request.request;
  Split all;
  const bool all_records = split.grows && !request.is_record();
  if (all_records) {
    auto made = with_records(split.split, entry.rows);
    if (!made.ok())
      return made.status();
    all = std::move(made).value();
  }
  // The first element of the record. 0 for a variable that grows, whose parts are those of one record.
  const int64_t first =
      request.is_record() && !split.grows
          ? entry.record * checked_product(std::span<const int64_t>(request.variable.shape).subspan(1)).value_or(0)
          : 0;
  const RunOptions options = engine.run_options();
  const SharedDecomposition::Cut cut{all_records ? all : split.split, request.trailing, split.element_bytes, first,
                                     options.direct_bytes};
  return entry.put ? entry.decomposition->write_parts(owner_of(entry, options), cut)
                   : entry.decomposition->read_parts(cut);
}

void add_records(const VariableRequest& request, const SplitVariable& split, VariableBatch& batch) noexcept {
  if (!split.grows)
    return;
  const int64_t record = request.request.record;
  const Extent moved = request.is_record() ? Extent{record, record + 1} : Extent{0, request.request.rows};
  batch.records = {std::min(batch.records.begin, moved.begin), std::max(batch.records.end, moved.end)};
}

Status SplitStorage::add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                               VariableBatch& batch) const {
  const SplitVariable* split = file().subfiles->find(request.request.variable);
  if (split == nullptr)
    return ContiguousStorage::add_items(request, std::move(runs), batch);
  return add_parts(request, *split, batch);
}

// Adds one item for each part of which this rank has elements.
Status SplitStorage::add_parts(const VariableRequest& request, const SplitVariable& split, VariableBatch& batch) const {
  const char* verb = request.request.put ? "put" : "get";
  const std::string& path = request.variable.path;
  const Subfiles& subfiles = *file().subfiles;
  add_records(request, split, batch);
  auto found = part_runs_of(engine(), request, split);
  if (!found.ok())
    return {found.status().code(), fmt::format("{} of \"{}\": {}", verb, path, found.status().message())};
  for (auto& [part, runs] : found.value()) {
    if (runs->total == 0)
      continue;
    if (Status fault = subfiles.fault_of(part); !fault.ok())
      return {fault.code(), fmt::format("{} of \"{}\" in \"{}\": {}", verb, path, file().path, fault.message())};
    const int64_t stride = split.strides[static_cast<size_t>(part)];
    const int64_t record = std::max<int64_t>(0, request.request.record);
    const int64_t base = subfiles.place(split, part) + record * stride;
    if (split.grows && !request.is_record() && stride != split.row_bytes(part))
      runs = interleaved(*runs, split.row_bytes(part), stride);
    batch.add(runs, base, request.memory());
  }
  return {};
}

// Sorts the items of all variables by address, and the list of runs in the same way.
void SplitStorage::finish_batch(VariableBatch& batch) const {
  std::vector<size_t> order(batch.items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return batch.items[a].file_base < batch.items[b].file_base; });
  std::vector<Item> items;
  std::vector<std::shared_ptr<const ByteRuns>> runs;
  for (const size_t i : order) {
    items.push_back(batch.items[i]);
    runs.push_back(std::move(batch.runs[i]));
  }
  batch.items = std::move(items);
  batch.runs = std::move(runs);
  ContiguousStorage::finish_batch(batch);
}

Result<PreparedPlan*> SplitStorage::plan(const VariableBatch& batch, const BatchSummary& summary) {
  Status local;
  if (summary.plan_id == 0 && engine().assigns_targets()) {
    const StageTimer timer(engine().trace, Stage::plan);
    local = file().set.layouts().find({}, file().striping_options, file().striping.layout, file().data);
  }
  return engine().planner.ready(
      batch, summary, SplitContext(file(), summary, engine().assigns_targets() ? file().set.layouts().line() : nullptr),
      std::move(local));
}

}  // namespace windrow
