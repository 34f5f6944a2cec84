// SPDX-License-Identifier: BSD-3-Clause
#include "flush/executor.hpp"

#include <algorithm>

#include "comm/agree.hpp"
#include "comm/backoff.hpp"

namespace windrow {

void InFlightBatch::wait() noexcept {
  for (Backoff backoff; thread.is_running() && thread.done() != thread.posted();)
    backoff.wait();
}

// Returns nullptr if this thread makes all requests.
IoThread* Executor::thread_for(const PreparedPlan& prepared, bool in_background, bool any_direct) {
  const bool wanted = in_background ? in_background_ : prepared.storage_windows > 1 && while_waiting_;
  const bool useful = prepared.storage_windows > 0 || (in_background && any_direct);
  if (!wanted || !useful || !io_thread_.start())
    return nullptr;
  trace_.io_threads = 1;
  return &io_thread_;
}

void Executor::move_directly(InFlightBatch& batch, std::span<const Item> items, bool reading, IoThread* thread) {
  DataFile& file = *batch.file;
  if (reading && batch.prepared->plan.strategy.access == Access::mapped) {
    read_mapped(items, file, workspace_.bounce, trace_);
  } else if (reading) {
    read_direct(items, file, workspace_.bounce, trace_);
  } else if (batch.in_background && thread != nullptr && !items.empty()) {
    batch.direct = {items, &file, workspace_.bounce, batch.prepared->rule.locks_holes};
    thread->post({[](void* object, int64_t) noexcept {
                    const InFlightBatch::Direct& what = static_cast<InFlightBatch*>(object)->direct;
                    write_direct(what.items, *what.file, what.bounce, what.file->work(), what.shares);
                  },
                  &batch, 0});
  } else {
    write_direct(items, file, workspace_.bounce, trace_, batch.prepared->rule.locks_holes);
  }
}

void Executor::begin(InFlightBatch& batch, PreparedPlan& prepared, const RequestBatch& requests, DataFile& file,
                     bool in_background) {
  batch.prepared = &prepared;
  batch.file = &file;
  batch.in_background = in_background;
  batch.began = seconds_now();
  const StageTimer timer(trace_, Stage::exchange);
  const std::span<const Item> aggregated = prepared.direct ? std::span<const Item>() : split_items(prepared, requests);
  const std::span<const Item> direct =
      prepared.direct ? std::span<const Item>(requests.items) : std::span<const Item>(prepared.direct_items);
  IoThread* thread = thread_for(prepared, in_background, !direct.empty());
  move_directly(batch, direct, requests.reading, thread);
  if (prepared.direct)
    return;
  if (prepared.transfer->shared_refused())
    trace_.shared_refused = 1;
  // Without domains, other ranks may write into the holes at the same time.
  const bool locked = !prepared.plan.has_domains() || prepared.rule.locks_holes;
  batch.sink.emplace(file, prepared.rule, thread, locked,
                     StorageSink::Holes{.fill = batch.fill.wanted ? &batch.fill : nullptr,
                                        .never_written = batch.never_written.empty() ? nullptr : &batch.never_written});
  batch.fetcher.emplace(file, prepared.rule, thread);
  prepared.transfer->begin(aggregated, workspace_.arena, {*batch.sink, *batch.fetcher}, prepared.order(in_background),
                           trace_);
  if (in_background)
    comm_.set_holder(&batch);
}

Status Executor::end(InFlightBatch& batch) {
  PreparedPlan& prepared = *batch.prepared;
  {
    const StageTimer timer(trace_, Stage::exchange);
    if (!prepared.direct)
      batch.local.update(prepared.transfer->end(trace_));
    batch.wait();
    if (batch.sink)
      batch.sink->fill_rest();
    comm_.release_holder(&batch);
  }
  batch.seconds = batch.in_background ? (prepared.transfer ? prepared.transfer->coder().seconds() : 0)
                                      : seconds_now() - batch.began;
  batch.file->take_counters(trace_);
  batch.local.update(batch.file->take_status());
  count(prepared);
  return std::move(batch.local);
}

Status Executor::run(PreparedPlan& prepared, const RequestBatch& requests, DataFile& file) {
  InFlightBatch batch(comm_, io_thread_);
  begin(batch, prepared, requests, file, false);
  return agree(comm_, end(batch));
}

Status Executor::move(PreparedPlan& prepared, const RequestBatch& requests, DataFile& file, const Transfer::Ends& ends,
                      double& seconds) {
  Status local;
  {
    const StageTimer timer(trace_, Stage::exchange);
    const double began = seconds_now();
    if (prepared.transfer->shared_refused())
      trace_.shared_refused = 1;
    prepared.transfer->begin(requests.items, workspace_.arena, ends, prepared.order(false), trace_);
    local = prepared.transfer->end(trace_);
    seconds = seconds_now() - began;
  }
  local.update(ends.sink.status());
  local.update(ends.fetcher.status());
  if (ends.background != nullptr)
    local.update(ends.background->status());
  file.take_counters(trace_);
  local.update(file.take_status());
  count(prepared);
  return local;
}

void Executor::count(const PreparedPlan& prepared) noexcept {
  const Transfer* transfer = prepared.transfer.get();
  trace_.buffer_bytes =
      std::max(trace_.buffer_bytes,
               prepared.extra_bytes + (transfer != nullptr ? transfer->buffer_bytes() + transfer->shared_bytes() : 0));
  if (transfer != nullptr)
    trace_.codec_memory = std::max(trace_.codec_memory, transfer->coder().bytes());
}

}  // namespace windrow
