// SPDX-License-Identifier: BSD-3-Clause
// Flush: the queue becomes waves, a wave becomes a plan, a plan moves the data. Every rank walks the same way through here: between
// two agreements nothing returns.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "comm/agree.hpp"
#include "session/file.hpp"
#include "session/same.hpp"
#include "session/wave_numbers.hpp"
#include "session/windows.hpp"

namespace windrow {

Status File::queue(bool put, int variable, std::shared_ptr<SharedDecomposition> decomposition, std::byte* data) {
  Status status = guard([&]() -> Status {
    const char* verb = put ? "put" : "get";
    if (put)
      if (Status writable = check_writable(verb); !writable.ok()) return writable;
    if (variable < 0 || variable >= static_cast<int>(catalog_.variables.size()))
      return {Code::bad_argument, fmt::format("{}: \"{}\" has no variable number {}", verb, path_, variable)};
    const Variable& target = catalog_.variables[static_cast<size_t>(variable)];
    if (!target.unsupported.empty())
      return {Code::unsupported, fmt::format("{} of \"{}\": {} is not built yet", verb, target.path, target.unsupported)};
    if (decomposition == nullptr) return {Code::bad_argument, fmt::format("{} of \"{}\": the decomposition is NULL", verb, target.path)};
    if (decomposition->ranks() != comm_->size() || decomposition->rank() != comm_->rank())
      return {Code::bad_argument, fmt::format("{} of \"{}\": the decomposition was made for {} ranks and is used by rank {} of {}", verb,
                                              target.path, decomposition->ranks(), comm_->rank(), comm_->size())};
    auto trailing = load(decomposition->local(), target.shape);
    if (!trailing.ok()) return {trailing.status().code(), fmt::format("{} of \"{}\": {}", verb, target.path, trailing.status().message())};
    if (data == nullptr && trailing.value() > 0 && !decomposition->holds_nothing())
      return {Code::bad_argument, fmt::format("{} of \"{}\": the data is NULL", verb, target.path)};
    const int64_t ordinal = put ? put_counts_[variable] : 0;
    queue_.push_back({put, variable, std::move(decomposition), data, ordinal});
    if (put) ++put_counts_[variable];
    return {};
  });
  queue_status_.update(status);
  return status;
}

void File::drop_queue() {
  queue_.clear();
  put_counts_.clear();
  queue_status_ = Status{};
}

Status File::flush(Status local) {
  trace_ = Trace{};
  report_.plans.clear();
  report_.sums = {};
  report_.maxima = {};
  data_->begin_flush();
  flush_begin_ = seconds_now();
  Status verdict = move_queue(std::move(local));
  drop_queue();
  report_.ranks = comm_->size();
  report_.done = true;
  return verdict;
}

Status File::move_queue(Status local) {
  Wave puts, gets;
  gets.reading = true;
  WaveNumbers put_numbers, get_numbers;
  local.update(std::exchange(queue_status_, Status{}));
  {
    const StageTimer timer(trace_, Stage::describe);
    if (local.ok()) local = guard([&] { return build_wave(false, 0, puts); });
    if (local.ok()) local = guard([&] { return build_wave(true, 0, gets); });
  }
  int64_t put_waves = 0;
  for (const auto& [variable, count] : put_counts_) put_waves = std::max(put_waves, count);
  Status verdict;
  {
    const StageTimer timer(trace_, Stage::agree);
    verdict = pulse_waves(std::move(local), {&puts, &gets}, {&put_numbers, &get_numbers}, &put_waves);
  }
  const bool any_gets = verdict.ok() && get_numbers.entries > 0;
  idle_ = verdict.ok() && put_waves == 0 && !any_gets;
  for (int64_t wave = 0; wave < put_waves && verdict.ok(); ++wave) {
    if (wave > 0) {
      puts = Wave{};
      local = guard([&] { return build_wave(false, wave, puts); });
      verdict = pulse_waves(std::move(local), {&puts}, {&put_numbers}, nullptr);
    }
    if (verdict.ok()) verdict = run_wave(puts, put_numbers);
  }
  if (!verdict.ok() || !any_gets) return verdict;
  // The puts may have pulsed since: the numbers of the gets' variables are in that memory.
  if (put_waves > 0) verdict = pulse_waves(Status{}, {&gets}, {&get_numbers}, nullptr);
  return verdict.ok() ? run_wave(gets, get_numbers) : verdict;
}

namespace {

// What a rank holds more than once was read into one of its places.
void repeat(const Wave& wave, Trace& trace) {
  for (const auto& [echoes, element, memory] : wave.repeats)
    for (const Echo& echo : *echoes) {
      std::memcpy(memory + echo.to * element, memory + echo.from * element, static_cast<size_t>(echo.length * element));
      trace.bytes_copied += echo.length * element;
    }
}

}  // namespace

// Where ranks outnumber cores, one that waits for the storage gives its core to the others as it is: a thread was no faster there.
bool File::wants_io_thread() const {
  const std::string wish = settings_.text("io_thread");
  if (wish != "auto") return wish == "on";
  return usable_cores() > comm_->host_size();
}

Status File::run_wave(Wave& wave, const WaveNumbers& numbers) {
  auto ready = ready_plan(wave, numbers);
  if (!ready.ok()) {
    // Without storage there is nothing to publish. Without memory nothing was written, and the flush can be made again.
    const Code code = ready.status().code();
    const bool storage = code == Code::no_permission || code == Code::no_space || code == Code::io;
    if (storage && !wave.reading && mode_ == Mode::create && !published_) fatal_.update(ready.status());
    return ready.status();
  }
  KeptPlan& kept = *ready.value();
  // From here to the agreement nothing returns: the other ranks count on this one, whatever fails on it.
  Status local = guard([&] {
    report_.plans.push_back({kept.plan, kept.forecast, numbers.kept_id > 0});
    return Status{};
  });
  {
    const StageTimer timer(trace_, Stage::exchange);
    if (kept.direct) {
      if (kept.plan.strategy.access == Access::mapped)
        read_mapped(wave.items, *data_, bounce_, trace_);
      else if (wave.reading)
        read_direct(wave.items, *data_, bounce_, trace_);
      else
        write_direct(wave.items, *data_, bounce_, trace_);
    } else {
      // Without domains or teams' disjoint shares, other ranks may write into the holes at the same time.
      const bool locked = !kept.plan.has_domains();
      IoThread* thread = kept.storage_windows > 1 && use_io_thread_ && io_thread_.start() ? &io_thread_ : nullptr;
      if (thread != nullptr) trace_.io_threads = 1;
      if (kept.transfer->shared_refused()) trace_.shared_refused = 1;
      StorageSink sink(*data_, access_rule(kept.plan), thread, locked);
      StorageFetcher fetcher(*data_, access_rule(kept.plan), thread);
      const std::span<const Item> raked = part(kept, wave);
      if (wave.reading)
        read_direct(kept.direct_items, *data_, bounce_, trace_);
      else
        write_direct(kept.direct_items, *data_, bounce_, trace_);
      local.update(kept.transfer->run(raked, arena_, sink, fetcher));
    }
  }
  data_->settle(trace_);
  local.update(data_->take_status());
  if (wave.reading && local.ok()) repeat(wave, trace_);
  trace_.buffer_bytes = std::max(trace_.buffer_bytes, kept.transfer ? kept.transfer->buffer_bytes() + kept.transfer->shared_bytes() : static_cast<int64_t>(bounce_.size()));
  // The verdict and the report's numbers, of this wave and those before it, in one reduction.
  trace_.total_seconds = seconds_now() - flush_begin_;
  trace_.is_writer = data_->used() ? 1 : 0;
  store_trace(trace_, report_.sums, report_.maxima);
  Status verdict = agree(*comm_, std::move(local), Pulse{.maximum = report_.maxima, .sum = report_.sums, .bits = {}});
  if (verdict.ok() || wave.reading) return verdict;
  Status told = verdict;
  (void)guard([&] {
    told = Status{verdict.code(), fmt::format("{}; undefined now: {}", verdict.message(), names_of(numbers.variables)), verdict.rank()};
    return Status{};
  });
  if (mode_ == Mode::create && !published_) fatal_.update(told);
  return told;
}

Result<std::string> File::explain(bool json, Status local) {
  if (Status verdict = agree_same(*comm_, std::move(local), json ? 4 : 8, "the formats of the explanation"); !verdict.ok()) return verdict;
  Wave puts, gets;
  gets.reading = true;
  WaveNumbers put_numbers, get_numbers;
  local = queue_status_;
  if (local.ok()) local = guard([&] { return build_wave(false, 0, puts); });
  if (local.ok()) local = guard([&] { return build_wave(true, 0, gets); });
  if (Status verdict = pulse_waves(std::move(local), {&puts, &gets}, {&put_numbers, &get_numbers}, nullptr); !verdict.ok()) return verdict;
  FlushReport planned;
  Status status;
  for (auto [wave, numbers] : {std::pair{&puts, &put_numbers}, std::pair{&gets, &get_numbers}}) {
    if (numbers->entries == 0 || !status.ok()) continue;
    // The puts' plan may have pushed out the gets'.
    if (wave == &gets) status = pulse_waves(Status{}, {&gets}, {&get_numbers}, nullptr);
    if (!status.ok()) continue;
    auto ready = ready_plan(*wave, *numbers);
    status = ready.status();
    if (!ready.ok()) continue;
    status = agree(*comm_, guard([&] {
      planned.plans.push_back({ready.value()->plan, ready.value()->forecast, numbers->kept_id > 0});
      return Status{};
    }));
  }
  if (!status.ok()) return status;
  std::string text;
  status = agree(*comm_, guard([&] {
    const FlushReport& shown = planned.plans.empty() ? report_ : planned;
    text = json ? explain_json(shown) : explain_text(shown);
    return Status{};
  }));
  if (!status.ok()) return status;
  return text;
}

std::string File::report(bool json) const { return json ? report_json(report_) : report_text(report_); }

}  // namespace windrow
