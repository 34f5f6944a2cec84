// SPDX-License-Identifier: BSD-3-Clause
// VariableFlush: moves one batch. The steps are: get the plan, move, agree.
#include <algorithm>

#include "batching/variable_flush.hpp"
#include "comm/agree.hpp"

namespace windrow {

// Collective.
Status VariableFlush::run_batch(const CallArguments& call, VariableStorage& storage, VariableBatch batch,
                                const BatchSummary& summary) {
  MovingVariables moving(comm_, engine_.executor.io_thread());
  if (Status verdict = begin_batch(call, storage, std::move(batch), summary, false, moving); !verdict.ok())
    return verdict;
  return end_batch(call, storage, moving);
}

// Collective, agreed. After an error nothing moves. `behind`: the I/O thread may continue after the call.
Status VariableFlush::begin_batch(const CallArguments& call, VariableStorage& storage, VariableBatch taken,
                                  const BatchSummary& summary, bool behind, MovingVariables& moving) {
  moving.batch = std::move(taken);
  const VariableBatch& batch = moving.batch;
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
      report_.plans.push_back({prepared.plan, forecast, storage.is_cached(summary), prepared.id});
      return Status{};
    });
  storage.begin_move(batch, summary, prepared, behind, in_flight);
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

// Sets the numbers of the report: those of this batch and of the earlier ones. `seconds`: the duration of the batch, or
// of its exchange only if the program continued during the batch.
void VariableFlush::add_to_report(const FileView& file, double seconds) {
  Trace& trace = engine_.trace;
  trace.total_seconds = seconds_now() - began_;
  trace.is_writer = file.data.used() ? 1 : 0;
  trace.metadata_opens = file.metadata_opens + (file.subfiles != nullptr ? file.subfiles->opens() : 0);
  trace.data_opens = file.data.opens();
  trace.targets = static_cast<int64_t>(file.data.touched().targets().size());
  (void)guard([&] { return report_.touched = file.data.touched(), Status{}; });
  store_trace(trace, report_.sums, report_.maxima);
  store_batch(seconds, report_.maxima);
}

// Collective, agreed. The last agreement of a batch, which also reduces its numbers for the report.
Status VariableFlush::conclude(const CallArguments& call, Status local, MovingVariables& moving) {
  const FileView& file = call.file;
  const VariableBatch& batch = moving.batch;
  const InFlightBatch& in_flight = moving.in_flight;
  PreparedPlan& prepared = *in_flight.prepared;
  if (batch.reading && local.ok())
    local = guard([&] { return batch.completion.complete(file.settings, file.catalog(), engine_.trace); });
  add_to_report(file, in_flight.seconds);
  const bool tunes = prepared.transfer && prepared.tuner_of(in_flight.behind) != nullptr;
  if (tunes)
    store_tuning(prepared.transfer->coder().predicted(), report_.sums);
  if (prepared.transfer)
    local.update(guard([&] { return take_traffic(*prepared.transfer); }));
  Status verdict =
      agree(comm_, std::move(local), Reduction{.maximum = report_.maxima, .sum = report_.sums, .bits = {}});
  if (tunes && read_batch(report_.maxima) > 0 && verdict.ok())
    learn(prepared, in_flight.behind);
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

// Local. Adds to the report what this rank has sent to each other rank.
Status VariableFlush::take_traffic(const Transfer& transfer) {
  transfer.visit_traffic([&](const Traffic& traffic) {
    if (traffic.messages > 0 && traffic.rank != comm_.rank())
      report_.sent.push_back({traffic.rank, traffic.messages, traffic.raw_bytes, traffic.wire_bytes});
  });
  return {};
}

// Local. The numbers are the same on every rank, so all ranks learn the same.
void VariableFlush::learn(PreparedPlan& prepared, bool behind) {
  Predicted predicted;
  read_tuning(predicted, report_.sums);
  CodecTuner& tuner = *prepared.tuner_of(behind);
  tuner.learn(prepared.transfer->coder().arm(), read_batch(report_.maxima), predicted);
  (void)guard([&] {
    if (!report_.plans.empty())
      report_.plans.back().codec_reason = tuner.why();
    return Status{};
  });
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
