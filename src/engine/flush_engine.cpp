// SPDX-License-Identifier: BSD-3-Clause
#include "engine/flush_engine.hpp"

#include <utility>

#include "comm/agree.hpp"

namespace windrow {

FlushEngine::~FlushEngine() {
  (void)guard([&] { return workspace.arena.leave_to(comm_), Status{}; });
}

void FlushEngine::begin(DataFile& file) {
  trace = Trace{};
  report.plans.clear();
  report.sent.clear();
  report.sums = {};
  report.maxima = {};
  report.touched.clear();
  file.begin_flush();
  began_ = seconds_now();
  tracer.begin(began_, trace);
}

void FlushEngine::add_plan(const PreparedPlan& prepared, const PlanForecast& forecast, bool is_cached) {
  report.plans.push_back({prepared.plan, forecast, is_cached, prepared.id});
}

// Sets the numbers of the report: those of this batch and of the earlier ones. `seconds`: the duration of the batch, or
// of its exchange only if the program continued during the batch.
void FlushEngine::add_to_report(DataFile& file, double seconds, int64_t metadata_opens) {
  trace.total_seconds = this->seconds();
  trace.is_writer = file.used() ? 1 : 0;
  trace.metadata_opens = metadata_opens;
  trace.data_opens = file.opens();
  trace.targets = static_cast<int64_t>(file.touched().targets().size());
  (void)guard([&] { return report.touched = file.touched(), Status{}; });
  store_trace(trace, report.sums, report.maxima);
  store_batch(seconds, report.maxima);
}

Status FlushEngine::conclude(Status local, const InFlightBatch& in_flight, DataFile& file, int64_t metadata_opens) {
  PreparedPlan& prepared = *in_flight.prepared;
  add_to_report(file, in_flight.seconds, metadata_opens);
  const bool tunes = prepared.transfer && prepared.tuner_of(in_flight.in_background) != nullptr;
  if (tunes)
    store_tuning(prepared.transfer->coder().predicted(), report.sums);
  if (prepared.transfer)
    local.update(guard([&] { return take_traffic(*prepared.transfer); }));
  Status verdict = agree(comm_, std::move(local), Reduction{.maximum = report.maxima, .sum = report.sums, .bits = {}});
  if (tunes && read_batch(report.maxima) > 0 && verdict.ok())
    learn(prepared, in_flight.in_background);
  return verdict;
}

void FlushEngine::end() noexcept {
  report.ranks = comm_.size();
  report.under_way = false;
  report.done = true;
}

// Local. Adds to the report what this rank has sent to each other rank.
Status FlushEngine::take_traffic(const Transfer& transfer) {
  transfer.visit_traffic([&](const Traffic& traffic) {
    if (traffic.messages > 0 && traffic.rank != comm_.rank())
      report.sent.push_back({traffic.rank, traffic.messages, traffic.raw_bytes, traffic.wire_bytes});
  });
  return {};
}

// Local. The numbers are the same on every rank, so all ranks learn the same.
void FlushEngine::learn(PreparedPlan& prepared, bool in_background) {
  Predicted predicted;
  read_tuning(predicted, report.sums);
  CodecTuner& tuner = *prepared.tuner_of(in_background);
  tuner.learn(prepared.transfer->coder().arm(), read_batch(report.maxima), predicted);
  (void)guard([&] {
    if (!report.plans.empty())
      report.plans.back().codec_reason = tuner.why();
    return Status{};
  });
}

}  // namespace windrow
