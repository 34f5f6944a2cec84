// SPDX-License-Identifier: BSD-3-Clause
// All ranks take the same path through these functions. Between two agreements there is no return.
#include "batching/variable_flush.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "batching/contiguous_storage.hpp"
#include "batching/inline_variables.hpp"
#include "batching/split_storage.hpp"
#include "comm/agree.hpp"

namespace windrow {

VariableFlush::~VariableFlush() {
  pending_.reset();
}

Status VariableFlush::grow(size_t variables) {
  if (Status status = engine_.planner.grow(variables); !status.ok())
    return status;
  return guard([&] { return chunked_bits_.resize(2 * ((variables + 63) / 64)), Status{}; });
}

void VariableFlush::forget_plans() noexcept {
  engine_.planner.cache().clear();
  chunk_layouts_.clear();
}

void VariableFlush::forget_chunks_of(int variable, const std::string& path) {
  chunk_layouts_.erase(variable);
  engine_.planner.cache().forget_if([&](const PreparedPlan& prepared) {
    const ChunkPlan* chunks = chunk_plan_of(prepared);
    return chunks != nullptr && chunks->layout->path == path;
  });
}

void VariableFlush::begin(const FileView& file) {
  put_batches_ = put_batch_ = 0;
  engine_.begin(file.data);
}

Status VariableFlush::move(const FileView& file, RequestList& requests, Status local) {
  return move_all({file, requests}, std::move(local), nullptr);
}

void VariableFlush::end(const FileView& file, const Status& verdict, const RequestList& requests) {
  engine_.end();
  cancel(file, verdict, requests);
}

void VariableFlush::cancel(const FileView& file, const Status& verdict, const RequestList& requests) {
  engine_.tracer.end(comm_, engine_.trace, {file.catalog(), requests.requests(), verdict, is_empty_}, engine_.report);
}

Status VariableFlush::begin_pending(const FileView& file, RequestList& requests, Status local) {
  std::unique_ptr<PendingFlush> pending;
  local.update(guard([&] {
    pending = std::make_unique<PendingFlush>(comm_, engine_.executor.io_thread());
    return Status{};
  }));
  Status verdict = move_all({file, requests}, std::move(local), pending.get());
  if (!verdict.ok())
    return verdict;
  pending->requests = std::move(requests);
  pending->seconds = engine_.seconds();
  pending_ = std::move(pending);
  engine_.report.ranks = comm_.size();
  engine_.report.under_way = true;
  return verdict;
}

Status VariableFlush::end_pending(const FileView& file) {
  const CallArguments call{file, pending_->requests};
  engine_.resume(pending_->seconds);  // without the time that the program used in between
  Status verdict;
  if (pending_->is_moving)
    verdict = with_storage(file, [&](VariableStorage& storage) { return end_batch(call, storage, pending_->puts); });
  if (verdict.ok() && pending_->any_chunked_gets)
    verdict = move_chunked(call, {.reading = true});
  if (verdict.ok() && pending_->any_gets) {
    Batch gets{.batch = std::move(pending_->gets), .summary = {}};
    verdict = reduce(Status{}, {&gets.batch}, {&gets.summary}, file);
    if (verdict.ok())
      verdict = with_storage(file, [&](VariableStorage& storage) { return run_batch(call, storage, gets); });
  }
  end(file, verdict, pending_->requests);
  pending_.reset();
  return verdict;
}

template <class Visit>
Status VariableFlush::with_storage(const FileView& file, Visit&& visit) {
  if (file.subfiles == nullptr) {
    ContiguousStorage storage(file, engine_);
    return visit(storage);
  }
  SplitStorage storage(file, engine_);
  return visit(storage);
}

Status VariableFlush::build(const CallArguments& call, BatchKind kind, VariableBatch& batch) {
  return with_storage(call.file, [&](VariableStorage& storage) {
    return guard([&] { return build_batch(call, engine_, storage, kind, batch); });
  });
}

// Collective, agreed. One agreement for all given batches; allocates no memory.
Status VariableFlush::reduce(Status local, std::initializer_list<const RequestBatch*> batches,
                             std::initializer_list<BatchSummary*> summaries, const FileView& file,
                             Planner::Extra* extra) {
  engine_.planner.set_objects(file.catalog().variables.size());
  return engine_.planner.summarize(std::move(local), batches, summaries, extra);
}

// Collective, agreed. Builds the first batch of puts and the batch of gets. Reads inline variables between.
Status VariableFlush::build_first(const CallArguments& call, Status local, Batch& puts, Batch& gets) {
  const FileView& file = call.file;
  {
    const StageTimer timer(engine_.trace, Stage::describe);
    if (local.ok())
      local = build(call, {.reading = false}, puts.batch);
    if (local.ok())
      local = build(call, {.reading = true}, gets.batch);
    if (local.ok())
      local = guard([&] { return InlineVariables(file, engine_.run_options(), engine_.trace).read(call.requests); });
  }
  gets.batch.reading = true;
  const StageTimer timer(engine_.trace, Stage::agree);
  OrphanedPuts orphaned(comm_.rank(), call.requests.requests());
  Planner::Extra extra;
  static_assert(extra.maximum.size() == 1 + OrphanedPuts::k_maxima);
  extra.maximum[0] = call.requests.put_batches();
  std::copy(orphaned.maximum.begin(), orphaned.maximum.end(), extra.maximum.begin() + 1);
  extra.sum[0] = orphaned.sum;
  Status verdict = reduce(std::move(local), {&puts.batch, &gets.batch}, {&puts.summary, &gets.summary}, file, &extra);
  if (!verdict.ok())
    return verdict;
  std::copy(extra.maximum.begin() + 1, extra.maximum.end(), orphaned.maximum.begin());
  orphaned.sum = extra.sum[0];
  if (orphaned.is_doubtful())
    verdict = OrphanedPuts::check(
        comm_, call.requests.requests(), file.catalog().variables,
        [&](const QueuedRequest& request) { return request.decomposition->loses(engine_.planner.strategy().owner); });
  if (verdict.ok())
    put_batches_ = extra.maximum[0];
  return verdict;
}

// Collective, agreed. `pending`: nullptr, or it receives the last batch of puts, which stays in flight, and the gets.
Status VariableFlush::move_all(const CallArguments& call, Status local, PendingFlush* pending) {
  Batch puts, gets;
  if (Status verdict = build_first(call, std::move(local), puts, gets); !verdict.ok())
    return verdict;
  // A program must not write for hours to a file that cannot be published. The same on every rank.
  if (put_batches_ > 0 && call.file.publication.has_failed())
    return call.file.publication.failure();
  const bool any_gets = gets.summary.entries > 0, any_chunked = keep_chunked(call.file, true, gets.summary.objects);
  is_empty_ = put_batches_ == 0 && !any_gets && !any_chunked;
  for (int64_t ordinal = 0; ordinal < put_batches_; ++ordinal)
    if (Status verdict = move_puts(call, ordinal, puts, ordinal + 1 == put_batches_ ? pending : nullptr); !verdict.ok())
      return verdict;
  if (pending == nullptr)
    return move_gets(call, gets, any_chunked);
  pending->gets = std::move(gets.batch);
  pending->any_gets = any_gets;
  pending->any_chunked_gets = any_chunked;
  return {};
}

// Collective, agreed. `puts`: for the first ordinal it has been built.
Status VariableFlush::move_puts(const CallArguments& call, int64_t ordinal, Batch& puts, PendingFlush* pending) {
  put_batch_ = ordinal;
  if (ordinal > 0) {
    puts.batch = VariableBatch{};
    Status local = build(call, {.reading = false, .ordinal = ordinal}, puts.batch);
    if (Status verdict = reduce(std::move(local), {&puts.batch}, {&puts.summary}, call.file); !verdict.ok())
      return verdict;
  }
  // Chunked variables come first, because only the last batch may stay in flight while the program continues.
  const int64_t entries = puts.summary.entries;
  if (keep_chunked(call.file, false, puts.summary.objects)) {
    if (Status verdict = move_chunked(call, {.reading = false, .ordinal = ordinal}); !verdict.ok())
      return verdict;
    // The summary refers to memory that other reductions have overwritten.
    if (entries > 0)
      if (Status verdict = reduce(Status{}, {&puts.batch}, {&puts.summary}, call.file); !verdict.ok())
        return verdict;
  }
  if (entries == 0)
    return {};
  return with_storage(call.file, [&](VariableStorage& storage) {
    if (pending == nullptr)
      return run_batch(call, storage, puts);
    Status verdict = begin_batch(call, storage, puts, true, pending->puts);
    pending->is_moving = verdict.ok();
    return verdict;
  });
}

// Collective.
Status VariableFlush::move_gets(const CallArguments& call, Batch& gets, bool any_chunked) {
  const bool any = gets.summary.entries > 0;
  if (any_chunked)
    if (Status verdict = move_chunked(call, {.reading = true}); !verdict.ok())
      return verdict;
  if (!any)
    return {};
  // The summary refers to memory that other reductions may have overwritten.
  if (put_batches_ > 0 || any_chunked)
    if (Status verdict = reduce(Status{}, {&gets.batch}, {&gets.summary}, call.file); !verdict.ok())
      return verdict;
  return with_storage(call.file, [&](VariableStorage& storage) { return run_batch(call, storage, gets); });
}

std::span<int64_t> VariableFlush::chunked_bits(const FileView& file, bool reading) noexcept {
  const size_t words = (file.catalog().variables.size() + 63) / 64;
  return std::span(chunked_bits_).subspan(reading ? words : 0, words);
}

// Copies the bits of chunked variables, since those of a summary are valid only until the next reduction. Returns
// whether there are any.
bool VariableFlush::keep_chunked(const FileView& file, bool reading, std::span<const int64_t> variables) noexcept {
  const auto& all = file.catalog().variables;
  const std::span<int64_t> bits = chunked_bits(file, reading);
  std::copy(variables.begin(), variables.end(), bits.begin());
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].is_chunked())
      bits[i / 64] &= static_cast<int64_t>(~(uint64_t{1} << (i % 64)));
  return std::any_of(bits.begin(), bits.end(), [](int64_t word) { return word != 0; });
}

// Collective, agreed. After a failure no further variable moves, and mark_unfinished() uses the bits of the puts.
Status VariableFlush::move_chunked(const CallArguments& call, BatchKind kind) {
  for (size_t i = 0; i < call.file.catalog().variables.size(); ++i)
    if (is_among(i, chunked_bits(call.file, kind.reading)))
      if (Status verdict = run_chunked(call, static_cast<int>(i), kind); !verdict.ok())
        return verdict;
  return {};
}

// Local. Makes the chunk layouts of a variable, unless they are cached.
Status VariableFlush::know_layouts(const FileView& file, int variable) {
  auto& layouts = chunk_layouts_[variable];
  if (!layouts.empty())
    return {};
  auto made = chunk_layouts_of(file, variable);
  if (!made.ok())
    return made.status();
  layouts = std::move(made).value();
  return {};
}

template <class Visit>
Status VariableFlush::for_each_chunked_batch(const CallArguments& call, int variable, BatchKind kind, Visit&& visit) {
  size_t groups = 1;  // the same on all ranks, once they have agreed on the first
  for (size_t group = 0; group < groups; ++group) {
    Batch what;
    what.batch.reading = kind.reading;
    std::optional<ChunkedStorage> storage;
    Status local = guard([&] { return know_layouts(call.file, variable); });
    if (local.ok())
      local = guard([&] {
        storage.emplace(call.file, engine_, variable, chunk_layouts_.at(variable)[group]);
        return build_batch(call, engine_, *storage, kind, what.batch);
      });
    if (Status verdict = reduce(std::move(local), {&what.batch}, {&what.summary}, call.file); !verdict.ok())
      return verdict;
    groups = chunk_layouts_.find(variable)->second.size();
    if (what.summary.bytes == 0)
      continue;
    if (Status verdict = visit(*storage, what); !verdict.ok())
      return verdict;
  }
  return {};
}

// Collective.
Status VariableFlush::run_chunked(const CallArguments& call, int variable, BatchKind kind) {
  int64_t bytes = 0;
  Status verdict = for_each_chunked_batch(call, variable, kind, [&](ChunkedStorage& storage, Batch& what) {
    bytes += what.summary.bytes;
    return run_batch(call, storage, what);
  });
  if (!verdict.ok())
    return verdict;
  const Variable& whole = call.file.catalog().variables[static_cast<size_t>(variable)];
  if (!kind.reading && bytes > 0 && bytes >= whole.placement.bytes)
    call.file.write_state.end_whole();
  return {};
}

// Collective, agreed. `local`: the status of this rank.
Status VariableFlush::add_plan(const Batch& what, const PreparedPlan& prepared, const PlanForecast& forecast,
                               Status local, FlushReport& planned) {
  if (local.ok())
    local = guard([&] {
      planned.plans.push_back({prepared.plan, forecast, what.summary.plan_id > 0});
      return Status{};
    });
  return agree(comm_, std::move(local));
}

// Collective, agreed. Adds the plans of chunked variables. Afterwards the summaries of both batches are valid again.
Status VariableFlush::explain_chunked(const CallArguments& call, Batch& puts, Batch& gets, FlushReport& planned) {
  bool any = keep_chunked(call.file, false, puts.summary.objects);
  any = keep_chunked(call.file, true, gets.summary.objects) || any;
  if (!any)
    return {};
  for (const bool reading : {false, true})
    for (size_t i = 0; i < call.file.catalog().variables.size(); ++i) {
      if (!is_among(i, chunked_bits(call.file, reading)))
        continue;
      Status verdict = for_each_chunked_batch(
          call, static_cast<int>(i), {.reading = reading}, [&](ChunkedStorage& storage, Batch& what) -> Status {
            auto ready = storage.ready_plan(what.batch, what.summary);
            if (!ready.ok())
              return ready.status();
            return add_plan(what, *ready.value(), ready.value()->forecast, Status{}, planned);
          });
      if (!verdict.ok())
        return verdict;
    }
  return reduce(Status{}, {&puts.batch, &gets.batch}, {&puts.summary, &gets.summary}, call.file);
}

// Collective, agreed.
Status VariableFlush::explain_batch(const CallArguments& call, Batch& what, FlushReport& planned) {
  return with_storage(call.file, [&](VariableStorage& storage) -> Status {
    auto ready = storage.ready_plan(what.batch, what.summary);
    if (!ready.ok())
      return ready.status();
    PlanForecast forecast = ready.value()->forecast;
    Status local = storage.forecast_move(what.batch, what.summary, *ready.value(), forecast);
    return add_plan(what, *ready.value(), forecast, std::move(local), planned);
  });
}

Status VariableFlush::explain(const FileView& file, RequestList& requests, Status local, bool json, std::string& text) {
  const CallArguments call{file, requests};
  Batch puts, gets;
  if (local.ok())
    local = build(call, {.reading = false}, puts.batch);
  if (local.ok())
    local = build(call, {.reading = true}, gets.batch);
  gets.batch.reading = true;
  Status verdict = reduce(std::move(local), {&puts.batch, &gets.batch}, {&puts.summary, &gets.summary}, file);
  FlushReport planned;
  if (verdict.ok())
    verdict = explain_chunked(call, puts, gets, planned);
  if (verdict.ok() && puts.summary.entries > 0)
    verdict = explain_batch(call, puts, planned);
  const bool any_gets = gets.summary.entries > 0;
  if (verdict.ok() && any_gets)  // the plan of the puts may have replaced that of the gets in the cache
    verdict = reduce(Status{}, {&gets.batch}, {&gets.summary}, file);
  if (verdict.ok() && any_gets)
    verdict = explain_batch(call, gets, planned);
  if (!verdict.ok())
    return verdict;
  return agree(comm_, guard([&] {
                 const FlushReport& shown = planned.plans.empty() ? engine_.report : planned;
                 text = json ? explain_json(shown) : explain_text(shown);
                 return Status{};
               }));
}

}  // namespace windrow
