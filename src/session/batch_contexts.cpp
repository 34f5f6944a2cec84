// SPDX-License-Identifier: BSD-3-Clause
#include "session/batch_contexts.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/units.hpp"
#include "filling/fill_manager.hpp"

namespace windrow {
namespace {

// Readers of the virtual datasets open every file that they touch, and are told nothing when the system gives them no
// more.
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

void VariableContext::adapt(Pattern& pattern, Strategy&, PlanLimits&) const {
  const auto& variables = storage_.catalog.variables;
  const AddressSpace space(storage_.catalog, storage_.subfiles);
  // By subfile, from the first to the last record that is moved: between them may be those of other variables.
  std::map<int64_t, Extent> records;
  bool interleaves = false;  // their records lie between each other: one region, of the records that are moved
  for_each_among(summary_.objects, variables.size(), [&](size_t i) {
    if (component_size(variables[i].type) > 1 &&
        variables[i].placement.big_endian == (std::endian::native == std::endian::little))
      pattern.swapped = true;
    const Placement& place = variables[i].placement;
    const SplitVariable* split = space.find_split(i);
    if (place.stride > 0)
      interleaves = interleaves || (place.bytes != 0 && place.offset >= 0);
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
                          are_never_written(storage_.catalog, storage_.write_state, summary_.objects);
}

void VariableContext::complete(PreparedPlan& prepared) const {
  describe(prepared.plan);
  // A window whose holes are filled is written whole.
  if (!prepared.plan.reading && storage_.write_state.any_needs_fill(summary_.objects))
    prepared.plan.whole_windows = true;
}

void VariableContext::describe(Plan& plan) const {
  const Subfiles* subfiles = storage_.subfiles;
  plan.strategy.files = subfiles != nullptr ? Files::subfiles : Files::one;  // what is, whatever was asked for
  if (!storage_.files_reason.empty())
    plan.reasons.push_back(storage_.files_reason);
  if (subfiles != nullptr) {
    if (storage_.files_reason.empty())
      plan.reasons.push_back(
          fmt::format("files subfiles({}): {}", subfiles->count(), storage_.is_new ? "as asked" : "as the file is"));
    if (std::string warning = warning_of_files(*subfiles); !warning.empty())
      plan.reasons.push_back(std::move(warning));
  }
  describe_striping(storage_.striping, plan.reasons);
}

Status VariableContext::prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace,
                                Trace& trace) const {
  if (Status status = prepare_requests(prepared, batch, workspace, trace); !status.ok())
    return status;
  const auto& regions = prepared.plan.pattern.regions;
  // What was never written is read as something, not as the end of the file; but one that was cut short is damaged.
  const bool reads = (batch.reading && !storage_.is_cut_short) || prepared.plan.strategy.access == Access::sieve;
  if (storage_.comm.rank() == 0 && storage_.is_writable && reads && !regions.empty())
    return file().extend(regions);
  return {};
}

std::string VariableContext::conflict_of(size_t object) const {
  return fmt::format(
      "ranks put \"{}\" with different decompositions; all ranks must use the same decompositions in the same order",
      storage_.catalog.variables[object].path);
}

// As many writers as files, where nobody asks for others: domains then end where files do, and ranks in line with the
// parts write their own.
void SplitContext::adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const {
  VariableContext::adapt(pattern, strategy, limits);
  limits.layout = line_;  // not the base file's: a place in the line is none in it
  if (limits.layout)
    limits.unit = lock_unit(*limits.layout);
  if (limits.writers == 0)
    limits.writers = std::min<int64_t>(storage().subfiles->used(), storage().comm.size());
  if (strategy.access == Access::mapped)
    strategy.access = Access::automatic;  // a part of the line is not a part of one file
}

void SplitContext::complete(PreparedPlan& prepared) const {
  VariableContext::complete(prepared);
  // Between two files there is a gap that nobody reads over.
  prepared.rule.hole_bytes = std::min(prepared.rule.hole_bytes, FileLine::k_unit);
}

// Writers are all ranks that there is a chunk for: they encode, each its own part of the line. What the user asked of
// axes that make no sense here is left aside.
void ChunkedContext::adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const {
  constexpr int64_t k_most_chunks = 16384;  // of a window: a word between ranks tells of each
  VariableContext::adapt(pattern, strategy, limits);
  const int64_t chunk = layout_->chunk_bytes();
  limits.buffer_bytes = std::min(limits.buffer_bytes, k_most_chunks * chunk);
  pattern.regions = regions_of(*layout_, summary().hull, summary().records);
  pattern.overlapping = false;
  strategy.gather = Gather::none;
  strategy.domains = targets_.layout ? Domains::target : Domains::aligned;
  strategy.access = Access::contiguous;
  limits.unit = limits.window_unit = chunk;
  limits.least_unit = 0;
  limits.layout = targets_.layout;  // a place in the line is none in the file: the file's layout says nothing of it
  if (limits.writers == 0)
    limits.writers = storage().comm.size();
  int64_t bytes = 0;
  for (const Extent& region : pattern.regions)
    bytes += region.size();
  limits.writers = std::min(limits.writers, bytes / chunk);
}

void ChunkedContext::complete(PreparedPlan& prepared) const {
  auto& reasons = prepared.plan.reasons;
  prepared.outdated = targets_.guessed;
  if (targets_.guessed)
    reasons.emplace_back(
        "some of these chunks are new: a flush allocates them and plans by their addresses; here they are assumed to "
        "be contiguous");
  prepared.plan.stripes_cut = std::nullopt;  // a chunk may lie in several stripes
  const Strategy& asked = prepared.asked;
  if (*targets_.why != 0)
    reasons.push_back(fmt::format("domains aligned: {}", targets_.why));
  else if (!targets_.layout && asked.domains != Domains::automatic && asked.domains != Domains::aligned)
    reasons.emplace_back("domains aligned: a chunked variable is divided at chunk boundaries");
  if (asked.gather != Gather::automatic && asked.gather != Gather::none)
    reasons.emplace_back("gather none: each rank sends its parts of a chunk directly to the rank that encodes it");
  describe(prepared.plan);
  auto chunks = std::make_unique<ChunkPlan>();
  chunks->layout = layout_;
  prepared.extension = std::move(chunks);
}

Status ChunkedContext::prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace&, Trace& trace) const {
  ChunkPlan& chunks = *chunk_plan_of(prepared);
  PlanForecast& forecast = prepared.forecast;
  forecast.bytes = batch.bytes;
  forecast.messages = prepared.transfer->expected_messages();
  prepared.transfer->for_each_storage_window([&](const Window& window, PieceView covered) {
    ++prepared.storage_windows;
    layout_->for_each_chunk(window, [&](int64_t chunk, int64_t) {
      const int64_t held = bytes_within(covered, layout_->bytes_of(chunk));
      if (held == 0)
        return;
      if (!batch.reading)
        ++forecast.write_requests;
      if (batch.reading || held < layout_->bytes_inside(chunk)) {
        ++forecast.read_requests;
        chunks.looked_up.push_back(chunk);
      }
    });
  });
  if (!batch.reading)
    prepare_roots(prepared, chunks, trace);
  return {};
}

// Whom this writer may ask for room: the roots of the parts in its domain. And if this rank is a root, who may ask it.
void ChunkedContext::prepare_roots(const PreparedPlan& prepared, ChunkPlan& chunks, Trace& trace) const {
  const auto& parts = layout_->parts;
  const int self = storage().comm.rank();
  bool own = false;
  std::set<int> askers, roots;
  for (size_t i = 0; i < prepared.plan.domains.size(); ++i) {
    const Extent domain = prepared.plan.domains[i];
    auto part = std::partition_point(
        parts.begin(), parts.end(), [&](const ChunkPart& each) { return layout_->bytes_of(each).end <= domain.begin; });
    for (; part != parts.end() && layout_->bytes_of(*part).begin < domain.end; ++part) {
      if (domain.empty() || part->grid.count() == 0)
        continue;
      own = own || part->root == self;
      if (part->root == self)
        askers.insert(prepared.plan.writers[i]);
      if (prepared.plan.writers[i] == self)
        roots.insert(part->root);
    }
  }
  askers.erase(self);
  roots.erase(self);
  chunks.roots = {std::vector<int>(roots.begin(), roots.end()),
                  std::vector<MPI_Request>(roots.size(), MPI_REQUEST_NULL)};
  if (!own)
    return;
  chunks.placer = std::make_unique<ChunkPlacer>(storage().comm, trace, *chunks.layout, format_of_,
                                                static_cast<int64_t>(askers.size()),
                                                prepared.plan.window_bytes / layout_->chunk_bytes());
}

}  // namespace windrow
