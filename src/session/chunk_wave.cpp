// SPDX-License-Identifier: BSD-3-Clause
// Chunked variables in a flush: a wave each, since each has windows of its own. The same steps as for other waves, but that the exchange
// moves the chunks' line, and rank 0 finds the chunks in the file.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "session/file.hpp"
#include "session/wave_numbers.hpp"

namespace windrow {

// The bits may change meanwhile only behind this function's back: they are of variables that waves of their own have not got.
Status File::move_chunked(bool reading, int64_t ordinal, std::span<const int64_t> variables) {
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if ((static_cast<uint64_t>(variables[i / 64]) >> (i % 64) & 1) == 0) continue;
    if (Status verdict = run_chunked(static_cast<int>(i), reading, ordinal); !verdict.ok()) return verdict;
  }
  return {};
}

Status File::chunked_wave(int variable, int64_t part, bool reading, int64_t ordinal, Wave& wave) {
  auto& layout = layouts_[{variable, part}];
  if (layout == nullptr) {
    auto made = part < 0 ? layout_of(catalog_.variables[static_cast<size_t>(variable)]) : layout_of_part(variable, part);
    if (!made.ok()) return made.status();
    layout = std::move(made).value();
  }
  wave.layout = layout;
  wave.variable = variable;
  wave.part = part;
  return build_wave(reading, ordinal, wave);
}

// Parts of a variable that is split have a wave each, too: their chunks are in indexes of their own.
Status File::run_chunked(int variable, bool reading, int64_t ordinal) {
  const SplitVariable* split = subfiles_ ? subfiles_->find(variable) : nullptr;
  int64_t bytes = 0;
  for (int64_t part = split != nullptr ? 0 : -1; part < (split != nullptr ? split->split.parts() : 0); ++part) {
    const auto moved = run_chunked_part(variable, part, reading, ordinal);
    if (!moved.ok()) return moved.status();
    bytes += moved.value();
  }
  if (!reading && bytes > 0 && bytes >= catalog_.variables[static_cast<size_t>(variable)].placement.bytes) end_whole();
  return {};
}

// The bytes of all ranks that have moved.
Result<int64_t> File::run_chunked_part(int variable, int64_t part, bool reading, int64_t ordinal) {
  Wave wave;
  wave.reading = reading;
  WaveNumbers numbers;
  Status local = guard([&] { return chunked_wave(variable, part, reading, ordinal, wave); });
  if (Status verdict = pulse_waves(std::move(local), {&wave}, {&numbers}, nullptr); !verdict.ok()) return verdict;
  if (numbers.bytes == 0) return int64_t{0};
  const int64_t bytes = numbers.bytes;
  auto ready = ready_plan(wave, numbers);
  if (!ready.ok()) return ready.status();
  if (!reading) start_writing(wave, numbers.variables);
  if (Status verdict = move_chunks(*ready.value(), wave); !verdict.ok()) return verdict;
  return bytes;
}

// Writers are all ranks that there is a chunk for: they encode, each its own part of the line. What the user asked of axes that make no
// sense here is left aside.
void File::fit_to_chunks(const Wave& wave, const WaveNumbers& numbers, Strategy& strategy, Pattern& pattern, PlanLimits& limits) const {
  constexpr int64_t k_most_chunks = 16384;  // of a window: a word between ranks tells of each
  const int64_t chunk = wave.layout->chunk_bytes();
  limits.buffer_bytes = std::min(limits.buffer_bytes, k_most_chunks * chunk);
  pattern.regions = {{round_down(numbers.hull.begin, chunk), round_up(numbers.hull.end, chunk)}};
  pattern.overlapping = false;
  strategy.gather = Gather::none;
  strategy.domains = Domains::aligned;
  strategy.access = Access::contiguous;
  limits.unit = limits.window_unit = chunk;
  limits.layout = nullptr;  // a place in the line is none in the file
  if (limits.writers == 0) limits.writers = comm_->size();
  limits.writers = std::min(limits.writers, pattern.regions.front().size() / chunk);
}

Status File::prepare_chunks(KeptPlan& kept, const Wave& wave) {
  const ChunkLayout& layout = *kept.layout;
  const int64_t bytes = layout.chunk_bytes();
  PlanForecast& forecast = kept.forecast;
  forecast.bytes = wave.bytes;
  forecast.messages = kept.transfer->expected_messages();
  kept.transfer->for_each_storage_window([&](const Window& whole, PieceView covered) {
    const Extent window = whole.bytes;  // chunks are not dealt
    ++kept.storage_windows;
    for (int64_t chunk = window.begin / bytes; chunk * bytes < window.end; ++chunk) {
      const int64_t held = bytes_within(covered, layout.bytes_of(chunk));
      if (held == 0) continue;
      if (!wave.reading) ++forecast.write_requests;
      if (wave.reading || held < layout.bytes_inside(chunk)) {
        ++forecast.read_requests;
        kept.looked_up.push_back(chunk);
      }
    }
  });
  if (comm_->rank() != layout.root || wave.reading) return {};
  const auto& writers = kept.plan.writers;
  const auto others = static_cast<int64_t>(writers.size()) - std::count(writers.begin(), writers.end(), layout.root);
  kept.placer = std::make_unique<ChunkPlacer>(*comm_, trace_, layout, others, kept.plan.window_bytes / bytes);
  return {};
}

namespace {

std::vector<std::byte> numbers_as_letter(std::span<const int64_t> numbers) {
  std::vector<std::byte> bytes;
  int64_t before = 0;
  for (const int64_t number : numbers) {
    append_varint(bytes, static_cast<uint64_t>(number - before));
    before = number;
  }
  return bytes;
}

Status malformed() { return {Code::internal, "a letter about chunks is malformed"}; }

// The root's answer to one rank: offset + 1, bytes and skipped filters of each chunk asked for.
Status answer_letter(Format& format, const ChunkLayout& layout, const Letter& asked, Letter& answer) {
  answer.peer = asked.peer;
  int64_t chunk = 0;
  for (size_t position = 0; position < asked.bytes.size();) {
    const auto step = read_varint(asked.bytes, position);
    if (!step || *step >= static_cast<uint64_t>(layout.grid.count() - chunk)) return malformed();
    chunk += static_cast<int64_t>(*step);
    const auto place = format.find_chunk(layout.path, layout.grid.first_element(chunk));
    if (!place.ok()) return place.status();
    if (place.value().offset > layout.file_room - place.value().bytes)
      return {Code::bad_file, fmt::format("\"{}\": a chunk of it lies at offset {}", layout.path, place.value().offset)};
    append_varint(answer.bytes, static_cast<uint64_t>(place.value().offset < 0 ? 0 : layout.file_base + place.value().offset + 1));
    append_varint(answer.bytes, static_cast<uint64_t>(place.value().bytes));
    append_varint(answer.bytes, place.value().skipped);
  }
  return {};
}

Status read_answer(std::span<const std::byte> bytes, std::span<const int64_t> asked, KnownChunks& known) {
  size_t position = 0;
  for (const int64_t chunk : asked) {
    const auto offset = read_varint(bytes, position), size = read_varint(bytes, position), skipped = read_varint(bytes, position);
    if (!offset || !size || !skipped) return malformed();
    known.push_back({chunk, {static_cast<int64_t>(*offset) - 1, static_cast<int64_t>(*size), static_cast<uint32_t>(*skipped)}});
  }
  return {};
}

}  // namespace

// Collective; the status is this rank's own unless all have it.
Status File::find_chunks(const KeptPlan& kept, KnownChunks& known) {
  std::vector<Letter> out, in, answers;
  LetterCounters counters;
  Status local = guard([&] {
    if (!kept.looked_up.empty()) out.push_back({kept.layout->root, numbers_as_letter(kept.looked_up)});
    return Status{};
  });
  local = exchange_letters(*comm_, std::move(local), out, in, counters);
  if (local.ok()) local = guard([&]() -> Status {
    if (in.empty()) return {};
    auto format = format_of(*kept.layout);
    if (!format.ok()) return format.status();
    for (const Letter& letter : in) {
      Status status = answer_letter(*format.value(), *kept.layout, letter, answers.emplace_back());
      if (!status.ok() && kept.layout->part >= 0)
        return {status.code(), fmt::format("subfile \"{}\": {}", subfiles_->relative_name(kept.layout->part), status.message())};
      if (!status.ok()) return status;
    }
    in.clear();
    return {};
  });
  local = exchange_letters(*comm_, std::move(local), answers, in, counters);
  trace_.description_messages += counters.messages;
  trace_.description_bytes += counters.bytes;
  if (!local.ok() || kept.looked_up.empty()) return local;
  return guard([&] { return in.size() == 1 ? read_answer(in.front().bytes, kept.looked_up, known) : malformed(); });
}

Status File::move_chunks(KeptPlan& kept, const Wave& wave) {
  KnownChunks known;
  if (kept.forecast.read_requests > 0)  // of all ranks
    if (Status verdict = agree(*comm_, find_chunks(kept, known)); !verdict.ok()) return verdict;
  // From here to the agreement nothing returns.
  Status local = guard([&] {
    report_.plans.push_back({kept.plan, kept.forecast, false});
    return Status{};
  });
  ChunkSink sink(*comm_, *data_, *kept.layout, known, kept.placer.get());
  ChunkFetcher fetcher(*data_, *kept.layout, known);
  double began = 0;
  {
    const StageTimer timer(trace_, Stage::exchange);
    began = seconds_now();
    if (kept.transfer->shared_refused()) trace_.shared_refused = 1;
    if (kept.placer) {
      kept.placer->begin({}, nullptr);
      kept.placer->use(format_of(*kept.layout));
    }
    kept.transfer->begin(wave.items, arena_, sink, fetcher, kept.arm(), kept.placer.get());
    local.update(kept.transfer->end());
  }
  local.update(sink.status());
  local.update(fetcher.status());
  if (kept.placer) local.update(kept.placer->status());
  return conclude(std::move(local), wave, kept, seconds_now() - began);
}

// Collective. Plans of the chunked variables among the bits; afterwards the numbers are those of the waves again.
Status File::explain_chunked(Wave& puts, WaveNumbers& put_numbers, Wave& gets, WaveNumbers& get_numbers, FlushReport& planned) {
  const size_t words = variable_words();
  std::copy(put_numbers.variables.begin(), put_numbers.variables.end(), chunked_bits_.begin());
  std::copy(get_numbers.variables.begin(), get_numbers.variables.end(), chunked_bits_.begin() + static_cast<std::ptrdiff_t>(words));
  bool any = false;
  for (const bool reading : {false, true})
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      const int64_t word = chunked_bits_[(reading ? words : 0) + i / 64];
      const int variable = static_cast<int>(i);
      if (!is_chunked(variable) || (static_cast<uint64_t>(word) >> (i % 64) & 1) == 0) continue;
      any = true;
      const SplitVariable* split = subfiles_ ? subfiles_->find(variable) : nullptr;
      for (int64_t part = split != nullptr ? 0 : -1; part < (split != nullptr ? split->split.parts() : 0); ++part) {
        Wave wave;
        wave.reading = reading;
        WaveNumbers numbers;
        Status local = guard([&] { return chunked_wave(variable, part, reading, 0, wave); });
        if (Status verdict = pulse_waves(std::move(local), {&wave}, {&numbers}, nullptr); !verdict.ok()) return verdict;
        if (numbers.bytes == 0) continue;
        auto ready = ready_plan(wave, numbers);
        if (!ready.ok()) return ready.status();
        Status told = agree(*comm_, guard([&] {
          planned.plans.push_back({ready.value()->plan, ready.value()->forecast, numbers.kept_id > 0});
          return Status{};
        }));
        if (!told.ok()) return told;
      }
    }
  if (!any) return {};
  return pulse_waves(Status{}, {&puts, &gets}, {&put_numbers, &get_numbers}, nullptr);
}

}  // namespace windrow
