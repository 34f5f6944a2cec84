// SPDX-License-Identifier: BSD-3-Clause
#include "batching/chunked_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "batching/chunk_lookup.hpp"
#include "batching/contiguous_storage.hpp"
#include "batching/split_storage.hpp"
#include "comm/agree.hpp"

namespace windrow {
namespace {

// The context of a batch of one chunked variable: what the planner must know about it.
class ChunkedContext final : public VariableContext {
 public:
  ChunkedContext(const FileView& view, const BatchSummary& summary, std::shared_ptr<const ChunkLayout> layout,
                 const ChunkTargets& targets, const FormatOfPart& format_of)
      : VariableContext(view, summary), layout_(std::move(layout)), targets_(targets), format_of_(format_of) {}
  void adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const override;
  void complete(PreparedPlan& prepared) const override;
  Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const override;

 private:
  void prepare_roots(const PreparedPlan& prepared, ChunkPlan& chunks, Trace& trace) const;

  std::shared_ptr<const ChunkLayout> layout_;
  const ChunkTargets& targets_;
  const FormatOfPart& format_of_;
};

// All ranks are writers, as far as there are chunks, because writers encode: each a part of the linear space. Choices
// of the user that do not apply to chunks are ignored.
void ChunkedContext::adapt(Pattern& pattern, Strategy& strategy, PlanLimits& limits) const {
  constexpr int64_t k_most_chunks = 16384;  // maximum in a window, since messages have words for each
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
  limits.layout = targets_.layout;  // not the layout of the file: the linear space is not a range of the file
  if (limits.writers == 0)
    limits.writers = view().comm.size();
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
  prepared.plan.stripes_cut = std::nullopt;  // a chunk may be in several stripes
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
    layout_->for_each_chunk(window, covered, [&](int64_t chunk, int64_t) {
      const int64_t moved = bytes_within(covered, layout_->bytes_of(chunk));
      if (!batch.reading)
        ++forecast.write_requests;
      if (batch.reading || moved < layout_->bytes_inside(chunk)) {
        ++forecast.read_requests;
        chunks.looked_up.push_back(chunk);
      }
    });
  });
  if (!batch.reading)
    prepare_roots(prepared, chunks, trace);
  return {};
}

// Sets the ranks that this writer may request space from: the roots of the parts in its domain. If this rank is a root,
// also sets the number of ranks that may request space from it.
void ChunkedContext::prepare_roots(const PreparedPlan& prepared, ChunkPlan& chunks, Trace& trace) const {
  const auto& parts = layout_->parts;
  const int self = view().comm.rank();
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
  chunks.placer = std::make_unique<ChunkPlacer>(
      view().comm, trace, *chunks.layout, format_of_,
      ChunkPlacer::Requests{static_cast<int64_t>(askers.size()), prepared.plan.window_bytes / layout_->chunk_bytes()});
}

// Joins lists of pieces, each of which begins at the given element.
Pieces one_after_another(std::span<const std::pair<int64_t, Pieces>> lists) {
  if (lists.size() == 1 && lists.front().first == 0)
    return lists.front().second;
  PiecesBuilder all;
  for (const auto& [place, list] : lists)
    for (NestCursor cursor(list); !cursor.done(); cursor.next()) {
      Nest nest = cursor.nest();
      nest.run.file += place;
      all.add(nest);
    }
  return all.take();
}

// The layouts of the parts of a split variable. Parts whose chunks have the same number of elements form one linear
// space. A part that is shorter than a chunk has shorter chunks.
Result<std::vector<std::shared_ptr<const ChunkLayout>>> layouts_of_parts(const FileView& file, const Variable& whole,
                                                                         const SplitVariable& split) {
  const FileLine& line = file.subfiles->line();
  std::map<int64_t, std::shared_ptr<ChunkLayout>> groups;  // by number of elements in a chunk
  for (int64_t number = 0; number < split.split.parts(); ++number) {
    auto chunking = split.chunking(number);
    if (!chunking.ok())
      return chunking.status();
    auto grid = ChunkGrid::make(split.shape(number), chunking.value().shape);
    if (!grid.ok())
      return Status{grid.status().code(), fmt::format("\"{}\": {}", whole.path, grid.status().message())};
    auto& layout = groups[grid.value().elements()];
    if (!layout) {
      layout = std::make_shared<ChunkLayout>();
      layout->path = whole.path;
      layout->fill_value = whole.fill;
      layout->element_bytes = element_bytes(whole.type, whole.details);
    }
    const int64_t first = layout->parts.empty() ? 0 : layout->count();
    layout->parts.push_back({number, std::move(grid).value(), std::move(chunking).value(), first,
                             file.subfiles->owner_of(number, file.comm.size()), line.place(number + 1, 0), line.room});
    if (layout->count() > (int64_t{1} << 62) / layout->chunk_bytes())
      return Status{Code::bad_argument,
                    fmt::format("\"{}\": its chunks together have more than 2^62 bytes", whole.path)};
  }
  std::vector<std::shared_ptr<const ChunkLayout>> layouts;
  for (auto& [elements, layout] : groups) {
    layout->group = static_cast<int64_t>(layouts.size());
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

}  // namespace

Result<std::vector<std::shared_ptr<const ChunkLayout>>> chunk_layouts_of(const FileView& file, int variable) {
  const Variable& whole = file.catalog().variables[static_cast<size_t>(variable)];
  if (const SplitVariable* split = file.space().find_split(static_cast<size_t>(variable)); split != nullptr)
    return layouts_of_parts(file, whole, *split);
  auto made = layout_of(whole);
  if (!made.ok())
    return made.status();
  return std::vector{std::move(made).value()};
}

Result<std::shared_ptr<const ByteRuns>> ChunkedStorage::runs_of(const VariableRequest& request,
                                                                VariableBatch& batch) const {
  const SplitVariable* split = file_.space().find_split(static_cast<size_t>(variable()));
  if (split != nullptr)
    return runs_in_parts(request, *split, batch);
  const ChunkGrid& grid = layout_->parts.front().grid;
  return chunk_runs_of(request.request, request.variable,
                       {grid, request.trailing, request.element_bytes,
                        request.is_record() ? request.request.record % grid.chunk()[0] : -1},
                       engine_.run_options());
}

// The byte runs of the parts whose chunks are in the linear space of this batch.
Result<std::shared_ptr<const ByteRuns>> ChunkedStorage::runs_in_parts(const VariableRequest& request,
                                                                      const SplitVariable& split,
                                                                      VariableBatch& batch) const {
  const QueuedRequest& entry = request.request;
  const auto named = [&](const Status& status) {
    return Status{status.code(),
                  fmt::format("{} of \"{}\" in \"{}\": {}", entry.put ? "put" : "get", request.variable.path,
                              file_.path, status.message()),
                  status.rank()};
  };
  auto bytes = std::make_shared<ByteRuns>();
  if (split.grows && !request.is_record() && entry.rows == 0)
    return std::shared_ptr<const ByteRuns>(std::move(bytes));
  auto parts = part_runs_of(engine_, request, split);
  if (!parts.ok())
    return named(parts.status());
  std::vector<std::pair<int64_t, Pieces>> placed;  // first element in the linear space, and the pieces from there
  auto at = layout_->parts.begin();
  for (const auto& [part, runs] : parts.value()) {
    at = std::partition_point(at, layout_->parts.end(),
                              [number = part](const ChunkPart& each) { return each.number < number; });
    if (at == layout_->parts.end())
      break;
    if (at->number != part || runs->total == 0)
      continue;
    if (Status fault = file_.subfiles->fault_of(part); !fault.ok())
      return named(fault);
    const int64_t first = split.grows ? std::max<int64_t>(0, entry.record) * split.split.elements(part) : 0;
    placed.emplace_back(at->first * at->grid.elements(), at->grid.place(PieceView(runs->elements, 1), first));
  }
  if (!placed.empty()) {
    add_records(request, split, batch);
    bytes->elements = with_runs(one_after_another(placed));
  }
  bytes->see(PieceView(bytes->elements, split.element_bytes));
  return std::shared_ptr<const ByteRuns>(std::move(bytes));
}

Status ChunkedStorage::add_items(const VariableRequest& request, std::shared_ptr<const ByteRuns> runs,
                                 VariableBatch& batch) const {
  int64_t base = 0;
  if (request.is_record() && !layout_->is_split()) {
    const ChunkGrid& grid = layout_->parts.front().grid;
    base = request.request.record / grid.chunk()[0] * grid.layer() * request.element_bytes;
  }
  batch.add(std::move(runs), base, request.memory());
  return {};
}

void ChunkedStorage::finish_batch(VariableBatch& batch) const {
  if (!batch.items.empty())
    batch.hull = hull_of(batch);
}

Result<PreparedPlan*> ChunkedStorage::ready_plan(const VariableBatch& batch, const BatchSummary& summary) {
  ChunkTargets found;
  Status local;
  if (summary.plan_id == 0 && engine_.assigns_targets()) {
    const StageTimer timer(engine_.trace, Stage::plan);
    if (file_.subfiles != nullptr)
      local = file_.set.layouts().find({}, file_.striping_options, file_.striping.layout, file_.data);
    local = targets_.find(batch, summary, found, std::move(local));
  }
  return engine_.planner.ready(batch, summary, ChunkedContext(file_, summary, layout_, found, format_of_),
                               std::move(local));
}

// The places of chunks that the plan reads, or overwrites partly, must be known before the transfer.
Status ChunkedStorage::prepare_move(const VariableBatch&, const BatchSummary&, PreparedPlan& prepared, InFlightBatch&,
                                    PlanForecast&) {
  if (prepared.forecast.read_requests == 0)  // the forecast is that of all ranks
    return {};
  return agree(file_.comm, find_chunks({file_.comm, *layout_, format_of_, file_.subfiles},
                                       chunk_plan_of(prepared)->looked_up, known_, engine_.trace));
}

void ChunkedStorage::begin_move(const VariableBatch&, const BatchSummary&, PreparedPlan& prepared, bool,
                                InFlightBatch& in_flight) {
  in_flight.prepared = &prepared;
  in_flight.file = &file_.data;
}

Status ChunkedStorage::end_move(const VariableBatch& batch, InFlightBatch& in_flight) {
  PreparedPlan& prepared = *in_flight.prepared;
  ChunkPlan& chunks = *chunk_plan_of(prepared);
  ChunkSink sink(file_.comm, file_.data, *chunks.layout, known_, {chunks.placer.get(), chunks.roots});
  ChunkFetcher fetcher(file_.data, *chunks.layout, known_);
  if (chunks.placer)
    chunks.placer->begin({}, nullptr);
  in_flight.local.update(
      engine_.executor.move(prepared, batch, file_.data, {sink, fetcher, chunks.placer.get()}, in_flight.seconds));
  return in_flight.local;
}

void ChunkedStorage::conclude_move(const VariableBatch&, const InFlightBatch& in_flight,
                                   const Status& verdict) noexcept {
  if (ChunkPlacer* placer = chunk_plan_of(*in_flight.prepared)->placer.get(); placer != nullptr)
    placer->finish(verdict.ok() || file_.publication.is_temporary(),
                   file_.data);  // a temporary file will not be published
  if (!verdict.ok())
    targets_.fill_reserved();
}

}  // namespace windrow
