// SPDX-License-Identifier: BSD-3-Clause
// VariableFlush: moves one batch. The steps are: get the plan, move, agree.
#include <algorithm>

#include "batching/variable_flush.hpp"
#include "comm/agree.hpp"

namespace windrow {

// Collective.
Status VariableFlush::run_batch(const CallArguments& call, VariableStorage& storage, Batch& what) {
  MovingVariables moving(comm_, engine_.executor.io_thread());
  if (Status verdict = begin_batch(call, storage, what, false, moving); !verdict.ok())
    return verdict;
  return end_batch(call, storage, moving);
}

// Collective, agreed. After an error nothing moves. `in_background`: the I/O thread may continue after the call.
Status VariableFlush::begin_batch(const CallArguments& call, VariableStorage& storage, Batch& what, bool in_background,
                                  MovingVariables& moving) {
  moving.batch = std::move(what.batch);
  const VariableBatch& batch = moving.batch;
  const BatchSummary& summary = what.summary;
  InFlightBatch& in_flight = moving.in_flight;
  auto ready = storage.ready_plan(batch, summary);
  if (!ready.ok()) {
    storage.cancel_move();
    return ready.status();
  }
  PreparedPlan& prepared = *ready.value();
  const auto& variables = call.file.catalog().variables;
  if (!batch.reading)
    call.file.write_state.start_writing(summary.objects,
                                        [&](size_t i) { return storage.moves(static_cast<int>(i), variables[i]); });
  moving.is_whole = !batch.reading && storage.is_whole(summary);
  PlanForecast forecast = prepared.forecast;
  if (Status verdict = storage.prepare_move(batch, summary, prepared, in_flight, forecast); !verdict.ok()) {
    storage.cancel_move();
    return verdict;
  }
  // From here to the agreement there is no return: the other ranks wait for messages of this one, also after an error.
  if (in_flight.local.ok())
    in_flight.local = guard([&] {
      engine_.add_plan(prepared, forecast, storage.is_cached(summary));
      return Status{};
    });
  storage.begin_move(batch, summary, prepared, in_background, in_flight);
  return {};
}

// Collective.
Status VariableFlush::end_batch(const CallArguments& call, VariableStorage& storage, MovingVariables& moving) {
  Status local = storage.end_move(moving.batch, moving.in_flight);
  Status verdict = conclude(call, std::move(local), moving);
  storage.conclude_move(moving.batch, moving.in_flight, verdict);
  if (moving.is_whole && verdict.ok())
    call.file.write_state.end_whole();
  return verdict;
}

// Collective, agreed. The last agreement of a batch, which also reduces its numbers for the report.
Status VariableFlush::conclude(const CallArguments& call, Status local, MovingVariables& moving) {
  const FileView& file = call.file;
  const VariableBatch& batch = moving.batch;
  const InFlightBatch& in_flight = moving.in_flight;
  if (batch.reading && local.ok())
    local = guard([&] { return batch.completion.complete(file.settings, file.catalog(), engine_.trace); });
  const int64_t subfile_opens = file.subfiles != nullptr ? file.subfiles->opens() : 0;
  Status verdict = engine_.conclude(std::move(local), in_flight, file.data, file.metadata_opens + subfile_opens);
  if (verdict.ok() || batch.reading)
    return verdict;
  if (!check_in_step(file.identity).ok())
    return verdict;  // the ranks are not in step, so they cannot agree on what is undefined
  mark_unfinished(call);
  const bool is_temporary = file.publication.is_temporary();
  Status named = UndefinedElements(file.catalog(), file.write_state, !is_temporary)
                     .add_names(std::move(verdict), &VariableState::moving);
  if (is_temporary)
    file.publication.fail(named);
  return named;
}

// Collective, after a failure. Marks the variables of which earlier batches of this flush have written some puts while
// others are not written.
void VariableFlush::mark_unfinished(const CallArguments& call) {
  if (put_batches_ <= 1)
    return;
  WriteState& write_state = call.file.write_state;
  for (const auto& [variable, count] : call.requests.put_counts())
    if (count > std::max<int64_t>(put_batch_, 1))
      write_state[static_cast<size_t>(variable)].moving = true;
  const std::span<int64_t> bits = chunked_bits(call.file, false);
  write_state.pack(&VariableState::moving, bits);
  (void)agree(comm_, Status{}, Reduction{.maximum = {}, .sum = {}, .bits = bits});
  write_state.unpack(&VariableState::moving, bits);
}

}  // namespace windrow
