// SPDX-License-Identifier: BSD-3-Clause
// Flush: the queue becomes batches, a batch becomes a plan, a plan moves the data. Every rank walks the same way
// through here: between two agreements nothing returns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/handle.hpp"
#include "comm/same.hpp"
#include "planning/batch_summary.hpp"
#include "queueing/replicas.hpp"
#include "session/file.hpp"
#include "session/pending_flush.hpp"

namespace windrow {

Status File::queue(bool put, int variable, std::shared_ptr<SharedDecomposition> decomposition, std::byte* data,
                   int64_t record, std::optional<Type> type) {
  if (Status writable = put ? guard([&] { return check_writable("put"); }) : Status{}; !writable.ok()) {
    queue_.refuse(writable);
    return writable;
  }
  return queue_.add(put, variable, std::move(decomposition), data, record, type);
}

void File::drop_queue() {
  queue_.clear();
}

Status File::flush(Status local) {
  const CallScope call(*comm_, Call::flush, &identity_);
  if (Status before = end_pending(); !before.ok()) {
    drop_queue();
    return before;
  }
  begin_report();
  Status verdict = move_queue(std::move(local), nullptr);
  report_.ranks = comm_->size();
  report_.done = true;
  end_trace(verdict, queue_.list().requests());
  drop_queue();
  return verdict;
}

Status File::flush_begin() {
  const CallScope call(*comm_, Call::flush_begin, &identity_);
  if (Status before = end_pending(); !before.ok()) {
    drop_queue();
    return before;
  }
  begin_report();
  Status local = guard([&] {
    pending_ = std::make_unique<PendingFlush>(*comm_, executor_.io_thread());
    return Status{};
  });
  Status verdict = move_queue(std::move(local), pending_.get());
  if (!verdict.ok()) {
    pending_.reset();
    end_trace(verdict, queue_.list().requests());
  }
  if (pending_) {
    pending_->requests = std::move(queue_.list());
    pending_->seconds = seconds_now() - flush_begin_;
    report_.ranks = comm_->size();
    report_.under_way = true;
  }
  drop_queue();
  return verdict;
}

Status File::flush_end() {
  const CallScope call(*comm_, Call::flush_end, &identity_);
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (pending_ == nullptr)
    return {Code::bad_state, "flush_end: no flush is in progress"};
  flush_begin_ = seconds_now() - pending_->seconds;  // what the program did in between is not the flush's
  Status verdict = pending_->moving ? end_batch(pending_->puts) : Status{};
  if (verdict.ok() && pending_->chunked_gets)  // of the requests of flush_begin, not of those that were queued since
    verdict =
        move_chunked(pending_->requests, true, 0, std::span(chunked_bits_).subspan(variable_words(), variable_words()));
  if (verdict.ok() && pending_->any_gets) {
    BatchSummary numbers;
    verdict = reduce_batches(Status{}, {&pending_->gets}, {&numbers}, nullptr);
    if (verdict.ok())
      verdict = run_batch(std::move(pending_->gets), numbers);
  }
  report_.ranks = comm_->size();
  report_.under_way = false;
  report_.done = true;
  end_trace(verdict, pending_->requests.requests());
  pending_.reset();
  return verdict;
}

// Every collective call on an open file begins here, but for close(): after the end of MPI rank 0 must not ask a
// format, whose library may use it.
Status File::end_pending() {
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (!mpi_is_running())
    return agree(*comm_, Status{});  // which says so, without communication
  return pending_ ? flush_end() : Status{};
}

void File::begin_report() {
  trace_ = Trace{};
  report_.plans.clear();
  report_.sent.clear();
  report_.sums = {};
  report_.maxima = {};
  report_.touched.clear();
  put_batches_ = put_batch_ = 0;
  data_->begin_flush();
  flush_begin_ = seconds_now();
  tracer_.begin(flush_begin_, trace_);
}

// Collective.
void File::end_trace(const Status& verdict, std::span<const QueuedRequest> requests) {
  tracer_.end(*comm_, trace_, catalog_, verdict, nothing_queued_, requests, report_);
}

// Collective: whether all that is queued are gets of variables that have places. They are there, though what was
// defined since finds no room.
bool File::reads_what_has_places() {
  const auto has_places = [this](const QueuedRequest& entry) {
    const SplitVariable* split = subfiles_ ? subfiles_->find(entry.variable) : nullptr;
    if (split == nullptr)
      return catalog_.variables[static_cast<size_t>(entry.variable)].placement.offset >= 0;
    return std::none_of(split->offsets.begin(), split->offsets.end(), [](int64_t offset) { return offset < 0; });
  };
  const bool moved = subfiles_ && subfiles_->moved();  // and the other ranks do not know it
  const auto requests = queue_.list().requests();
  const bool only = !moved && std::all_of(requests.begin(), requests.end(),
                                          [&](const QueuedRequest& entry) { return !entry.put && has_places(entry); });
  std::array<int64_t, 2> found{only ? 0 : 1, requests.empty() ? 0 : 1};
  return agree(*comm_, Status{}, Reduction{.maximum = found, .sum = {}, .bits = {}}).ok() && found[0] == 0 &&
         found[1] == 1;
}

// `pending`: nullptr, or what the last batch of puts goes on in, and the gets, after the call.
Status File::move_queue(Status local, PendingFlush* pending) {
  VariableBatch puts, gets;
  gets.reading = true;
  BatchSummary put_numbers, get_numbers;
  RequestList& requests = queue_.list();
  local.update(queue_.take_refused());
  if (settings_.boolean("check_replicas"))
    if (Status checked = check_replicas(*comm_, std::move(local), requests.requests(), catalog_.variables);
        !checked.ok())
      return checked;
  if (allocator_.is_unplaced())
    if (Status placed = place_variables(std::exchange(local, Status{})); !placed.ok())
      if (!reads_what_has_places())
        return placed;
  if (metadata_.may_grow() && mode_ != Mode::read) {
    if (Status grown = extend_for_queue(std::exchange(local, Status{})); !grown.ok())
      return grown;
    if (traits().grows_as_one)
      if (Status filled = fill_records(Status{}); !filled.ok())
        return filled;
  }
  {
    const StageTimer timer(trace_, Stage::describe);
    if (local.ok())
      local = guard([&] { return build_batch(requests, false, 0, puts); });
    if (local.ok())
      local = guard([&] { return build_batch(requests, true, 0, gets); });
    if (local.ok())
      local = guard([&] { return read_held(); });
  }
  int64_t put_batches = requests.put_batches();
  Status verdict;
  OrphanedPuts orphaned(comm_->rank(), requests.requests());
  {
    const StageTimer timer(trace_, Stage::agree);
    verdict = reduce_batches(std::move(local), {&puts, &gets}, {&put_numbers, &get_numbers}, &put_batches, &orphaned);
    if (verdict.ok() && orphaned.is_doubtful())
      verdict = OrphanedPuts::check(
          *comm_, requests.requests(), catalog_.variables,
          [this](const QueuedRequest& entry) { return entry.decomposition->loses(planner_.strategy().owner); });
  }
  if (!verdict.ok())
    return verdict;
  put_batches_ = put_batches;  // from here on the same on every rank
  if (put_batches_ > 0 && publication_.has_failed())
    return publication_.failure();  // the same on every rank; nobody writes for hours what nobody will see
  const bool any_gets = get_numbers.entries > 0;
  const size_t words = variable_words();
  const std::span<int64_t> chunked_puts = std::span(chunked_bits_).first(words),
                           chunked_gets = std::span(chunked_bits_).subspan(words, words);
  const auto keep = [this](std::span<const int64_t> variables, std::span<int64_t> bits) {
    std::copy(variables.begin(), variables.end(), bits.begin());
    for (size_t i = 0; i < catalog_.variables.size(); ++i)
      if (!is_chunked(static_cast<int>(i)))
        bits[i / 64] &= static_cast<int64_t>(~(uint64_t{1} << (i % 64)));
    return std::any_of(bits.begin(), bits.end(), [](int64_t word) { return word != 0; });
  };
  const bool any_chunked_gets = keep(get_numbers.objects, chunked_gets);
  nothing_queued_ = put_batches_ == 0 && !any_gets && !any_chunked_gets;
  for (int64_t batch = 0; batch < put_batches_ && verdict.ok(); ++batch) {
    put_batch_ = batch;
    if (batch > 0) {
      puts = VariableBatch{};
      local = guard([&] { return build_batch(requests, false, batch, puts); });
      verdict = reduce_batches(std::move(local), {&puts}, {&put_numbers}, nullptr);
    }
    if (!verdict.ok())
      break;
    // First: what is begun below goes on behind, and these are collective.
    const int64_t entries = put_numbers.entries;
    if (keep(put_numbers.objects, chunked_puts)) {
      verdict = move_chunked(requests, false, batch, chunked_puts);
      // Its numbers lie in memory that has been used again.
      if (verdict.ok() && entries > 0)
        verdict = reduce_batches(Status{}, {&puts}, {&put_numbers}, nullptr);
    }
    if (!verdict.ok() || entries == 0)
      continue;
    if (pending != nullptr && batch + 1 == put_batches_) {
      verdict = begin_batch(pending->puts, std::move(puts), put_numbers, true);
      pending->moving = verdict.ok();
    } else {
      verdict = run_batch(std::move(puts), put_numbers);
    }
  }
  if (verdict.ok() && any_chunked_gets && pending == nullptr)
    verdict = move_chunked(requests, true, 0, chunked_gets);
  if (!verdict.ok() || (!any_gets && !(any_chunked_gets && pending != nullptr)))
    return verdict;
  if (pending != nullptr) {
    pending->gets = std::move(gets);
    pending->any_gets = any_gets;
    pending->chunked_gets = any_chunked_gets;
    return verdict;
  }
  // The puts may have reduced since: the numbers of the gets' variables are in that memory.
  if (put_batches_ > 0 || any_chunked_gets)
    verdict = reduce_batches(Status{}, {&gets}, {&get_numbers}, nullptr);
  return verdict.ok() ? run_batch(std::move(gets), get_numbers) : verdict;
}

namespace {

// What a rank holds more than once was read into one of its places.
void repeat(const VariableBatch& batch, Trace& trace) {
  for (const auto& [duplicates, element, memory] : batch.repeats)
    for (const LocalDuplicate& duplicate : *duplicates) {
      std::memcpy(memory + duplicate.to * element, memory + duplicate.from * element,
                  static_cast<size_t>(duplicate.length * element));
      trace.bytes_copied += duplicate.length * element;
    }
}

}  // namespace

Status File::convert_and_repeat(const VariableBatch& batch) {
  Status status;
  for (const VariableBatch::Conversion& each : batch.conversions) {
    const int64_t out_of_range = convert_out(each.runs->runs, *each.staged);
    trace_.values_clamped += out_of_range;
    trace_.bytes_copied += each.runs->total;
    status.update(check_out_of_range(settings_, out_of_range, *each.staged, false,
                                     catalog_.variables[static_cast<size_t>(each.variable)].path));
  }
  repeat(batch, trace_);
  return status;
}

// Where ranks outnumber cores, one that waits for the storage gives its core to the others as it is: a thread was no
// faster there.
bool File::wants_io_thread() const {
  const std::string wish = settings_.text("io_thread");
  if (wish != "auto")
    return wish == "on";
  return usable_cores() > comm_->host_size();
}

// Collective.
Status File::run_batch(VariableBatch batch, const BatchSummary& numbers) {
  MovingVariables moving(*comm_, executor_.io_thread());
  if (Status verdict = begin_batch(moving, std::move(batch), numbers, false); !verdict.ok())
    return verdict;
  return end_batch(moving);
}

// Collective. `behind`: the I/O thread may go on after the call. An error is agreed, and nothing moves then.
Status File::begin_batch(MovingVariables& moving, VariableBatch taken, const BatchSummary& numbers, bool behind) {
  moving.batch = std::move(taken);
  const VariableBatch& batch = moving.batch;
  auto ready = ready_plan(batch, numbers);
  if (!ready.ok()) {
    // Without storage there is nothing to publish. Without memory nothing was written, and the flush can be made again.
    const Code code = ready.status().code();
    const bool storage = code == Code::no_permission || code == Code::no_space || code == Code::io;
    if (storage && !batch.reading && is_temporary_file())
      publication_.fail(ready.status());
    return ready.status();
  }
  PreparedPlan& prepared = *ready.value();
  InFlightBatch& in_flight = moving.in_flight;
  if (!batch.reading)
    start_writing(batch, numbers.objects);
  moving.whole = filling().is_whole(numbers);
  PlanForecast forecast = prepared.forecast;
  if (Status filled = filling().fill_before(numbers, prepared, batch.reading, in_flight.fill, forecast); !filled.ok())
    return filled;
  // From here to the agreement nothing returns: the other ranks count on this one, whatever fails on it.
  in_flight.local = guard([&] {
    if (!batch.reading && !prepared.direct && filling().knows_holes(prepared, numbers.objects, in_flight.never_written))
      forecast.read_requests = 0;
    report_.plans.push_back({prepared.plan, forecast, numbers.plan_id > 0, prepared.id});
    return Status{};
  });
  if (!in_flight.local.ok())
    in_flight.never_written.clear();
  if (!batch.reading)
    write_state_.mark_written(numbers.objects);
  executor_.begin(in_flight, prepared, batch, *data_, behind);
  return {};
}

// Collective.
Status File::end_batch(MovingVariables& moving) {
  const VariableBatch& batch = moving.batch;
  const InFlightBatch& in_flight = moving.in_flight;
  Status local = executor_.end(moving.in_flight);
  Status verdict = conclude(std::move(local), batch, *in_flight.prepared, in_flight.seconds, in_flight.behind);
  if (!batch.reading)
    write_state_.end_filling(verdict.ok());
  if (!batch.reading && verdict.ok() && moving.whole)
    write_state_.end_whole();
  return verdict;
}

// What all ranks met while a batch moved, and its numbers for the report, in one reduction.
// `seconds`: of the batch; of its exchange alone, where the program went on behind it.
Status File::conclude(Status local, const VariableBatch& batch, PreparedPlan& prepared, double seconds, bool behind) {
  if (batch.reading && local.ok())
    local = guard([&] { return convert_and_repeat(batch); });
  // The report's numbers: of this batch and those before it.
  trace_.total_seconds = seconds_now() - flush_begin_;
  trace_.is_writer = data_->used() ? 1 : 0;
  trace_.metadata_opens = metadata_opens_ + (subfiles_ ? subfiles_->opens() : 0);
  trace_.data_opens = data_->opens();
  trace_.targets = static_cast<int64_t>(data_->touched().targets().size());
  (void)guard([&] {
    report_.touched = data_->touched();
    return Status{};
  });
  store_trace(trace_, report_.sums, report_.maxima);
  store_batch(seconds, report_.maxima);
  const bool tunes = prepared.transfer && prepared.tuner_of(behind) != nullptr;
  if (tunes)
    store_tuning(prepared.transfer->coder().predicted(), report_.sums);
  if (prepared.transfer)
    local.update(guard([&] { return take_traffic(*prepared.transfer); }));
  Status verdict =
      agree(*comm_, std::move(local), Reduction{.maximum = report_.maxima, .sum = report_.sums, .bits = {}});
  if (tunes && read_batch(report_.maxima) > 0 && verdict.ok())
    learn(prepared, behind);
  if (verdict.ok() || batch.reading)
    return verdict;
  if (!check_in_step(identity_).ok())
    return verdict;  // ranks in other calls could not say what is undefined
  mark_unfinished();
  Status told = undefined().add_names(std::move(verdict), &VariableState::moving);
  if (is_temporary_file())
    publication_.fail(told);
  return told;
}

// For the report: what this rank has sent to whom.
Status File::take_traffic(const Transfer& transfer) {
  transfer.visit_traffic([&](const Traffic& traffic) {
    if (traffic.messages > 0 && traffic.rank != comm_->rank())
      report_.sent.push_back({traffic.rank, traffic.messages, traffic.raw_bytes, traffic.wire_bytes});
  });
  return {};
}

// Every rank has been told the same numbers.
void File::learn(PreparedPlan& kept, bool behind) {
  Predicted predicted;
  read_tuning(predicted, report_.sums);
  CodecTuner& tuner = *kept.tuner_of(behind);
  tuner.learn(kept.transfer->coder().arm(), read_batch(report_.maxima), predicted);
  (void)guard([&] {
    if (!report_.plans.empty())
      report_.plans.back().codec_reason = tuner.why();
    return Status{};
  });
}

Result<std::string> File::explain(bool json, Status local) {
  const CallScope call(*comm_, Call::explain, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;  // plans may be made, and others forgotten
  if (Status verdict = agree_same(*comm_, std::move(local), json ? 4 : 8, "the formats of the explanation");
      !verdict.ok())
    return verdict;
  VariableBatch puts, gets;
  gets.reading = true;
  BatchSummary put_numbers, get_numbers;
  RequestList& requests = queue_.list();
  local = queue_.refused();
  if (allocator_.is_unplaced())
    if (Status placed = place_variables(std::exchange(local, Status{})); !placed.ok())
      return placed;
  if (metadata_.may_grow() && mode_ != Mode::read)
    if (Status grown = extend_for_queue(std::exchange(local, Status{})); !grown.ok())
      return grown;
  if (local.ok())
    local = guard([&] { return build_batch(requests, false, 0, puts); });
  if (local.ok())
    local = guard([&] { return build_batch(requests, true, 0, gets); });
  if (Status verdict = reduce_batches(std::move(local), {&puts, &gets}, {&put_numbers, &get_numbers}, nullptr);
      !verdict.ok())
    return verdict;
  FlushReport planned;
  Status status = explain_chunked(requests, puts, put_numbers, gets, get_numbers, planned);
  for (auto [batch, numbers] : {std::pair{&puts, &put_numbers}, std::pair{&gets, &get_numbers}}) {
    if (numbers->entries == 0 || !status.ok())
      continue;
    // The puts' plan may have pushed out the gets'.
    if (batch == &gets)
      status = reduce_batches(Status{}, {&gets}, {&get_numbers}, nullptr);
    if (!status.ok())
      continue;
    auto ready = ready_plan(*batch, *numbers);
    status = ready.status();
    if (!ready.ok())
      continue;
    PlanForecast forecast = ready.value()->forecast;
    status = filling().forecast(*numbers, *ready.value(), batch == &gets, forecast);
    if (!status.ok())
      continue;
    status = agree(*comm_, guard([&] {
      FillMap never_written;
      if (batch == &puts && !ready.value()->direct &&
          filling().knows_holes(*ready.value(), numbers->objects, never_written))
        forecast.read_requests = 0;
      planned.plans.push_back({ready.value()->plan, forecast, numbers->plan_id > 0});
      return Status{};
    }));
  }
  if (!status.ok())
    return status;
  std::string text;
  status = agree(*comm_, guard([&] {
    const FlushReport& shown = planned.plans.empty() ? report_ : planned;
    text = json ? explain_json(shown) : explain_text(shown);
    return Status{};
  }));
  if (!status.ok())
    return status;
  return text;
}

std::string File::report(bool json) const {
  return json ? report_json(report_) : report_text(report_);
}

}  // namespace windrow
