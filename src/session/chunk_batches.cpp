// SPDX-License-Identifier: BSD-3-Clause
// Chunked variables in a flush: a batch each, since each has windows of its own. The same steps as for other batches,
// but that the exchange moves the chunks' line, and rank 0 finds the chunks in the file, or the ranks that look after
// the subfiles do.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "planning/batch_summary.hpp"
#include "session/file.hpp"

namespace windrow {

// The bits may change meanwhile only behind this function's back: they are of variables that batches of their own have
// not got.
Status File::move_chunked(bool reading, int64_t ordinal, std::span<const int64_t> variables) {
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if ((static_cast<uint64_t>(variables[i / 64]) >> (i % 64) & 1) == 0)
      continue;
    if (Status verdict = run_chunked(static_cast<int>(i), reading, ordinal); !verdict.ok())
      return verdict;
  }
  return {};
}

// Local. Nothing to do where they are known.
Status File::know_layouts(int variable) {
  auto& layouts = layouts_[variable];
  if (!layouts.empty())
    return {};
  if (subfiles_ && subfiles_->find(variable) != nullptr) {
    auto made = layouts_of_parts(variable);
    if (!made.ok())
      return made.status();
    layouts = std::move(made).value();
    return {};
  }
  auto made = layout_of(catalog_.variables[static_cast<size_t>(variable)]);
  if (!made.ok())
    return made.status();
  layouts.push_back(std::move(made).value());
  return {};
}

Status File::chunked_batch(int variable, size_t group, bool reading, int64_t ordinal, VariableBatch& batch) {
  batch.layout = layouts_.at(variable)[group];
  batch.variable = variable;
  return build_batch(reading, ordinal, batch);
}

// Of a variable that is split the parts whose chunks are of one size have a batch: nearly always all.
template <class Visit>
Status File::for_each_chunked_batch(int variable, bool reading, int64_t ordinal, Visit&& visit) {
  size_t groups = 1;  // the same on all ranks, once they have agreed on the first
  for (size_t group = 0; group < groups; ++group) {
    VariableBatch batch;
    batch.reading = reading;
    BatchSummary numbers;
    Status local = guard([&] { return group == 0 ? know_layouts(variable) : Status(); });
    if (local.ok())
      local = guard([&] { return chunked_batch(variable, group, reading, ordinal, batch); });
    if (Status verdict = reduce_batches(std::move(local), {&batch}, {&numbers}, nullptr); !verdict.ok())
      return verdict;
    groups = layouts_.find(variable)->second.size();
    if (numbers.bytes == 0)
      continue;
    if (Status verdict = visit(batch, numbers); !verdict.ok())
      return verdict;
  }
  return {};
}

Status File::run_chunked(int variable, bool reading, int64_t ordinal) {
  int64_t bytes = 0;
  Status verdict = for_each_chunked_batch(
      variable, reading, ordinal, [&](VariableBatch& batch, const BatchSummary& numbers) -> Status {
        bytes += numbers.bytes;
        auto ready = ready_plan(batch, numbers);
        if (ready.ok() && !reading)
          start_writing(batch, numbers.objects);
        Status moved = ready.ok() ? move_chunks(*ready.value(), batch) : ready.status();
        if (!moved.ok())
          fill_reserved(*batch.layout);
        reserved_chunks_.clear();
        return moved;
      });
  if (!verdict.ok())
    return verdict;
  if (!reading && bytes > 0 && bytes >= catalog_.variables[static_cast<size_t>(variable)].placement.bytes)
    write_state_.end_whole();
  return {};
}

namespace {

// visit(Extent) for what of each part is in the regions. Allocates nothing.
template <class Visit>
void for_each_region(const ChunkLayout& layout, Extent hull, Extent records, Visit&& visit) {
  const int64_t chunk = layout.chunk_bytes();
  const Extent chunks{round_down(hull.begin, chunk), round_up(hull.end, chunk)};
  if (!layout.is_split())
    return visit(chunks);
  for (const ChunkPart& part : layout.parts) {
    Extent bytes = layout.bytes_of(part);
    if (records.begin < records.end) {  // layers of chunks along the first dimension, which is not cut
      const int64_t layer = part.grid.layer() * layout.element_bytes, rows = part.grid.chunk()[0];
      bytes = {bytes.begin + records.begin / rows * layer, bytes.begin + (records.end + rows - 1) / rows * layer};
    }
    bytes = intersect(bytes, chunks);
    if (!bytes.empty())
      visit(bytes);
  }
}

}  // namespace

std::vector<Extent> regions_of(const ChunkLayout& layout, Extent hull, Extent records) {
  std::vector<Extent> regions;
  for_each_region(layout, hull, records, [&](Extent bytes) {
    if (!regions.empty() && regions.back().end == bytes.begin)
      regions.back().end = bytes.end;
    else
      regions.push_back(bytes);
  });
  return regions;
}

int64_t chunks_in_regions(const ChunkLayout& layout, Extent hull, Extent records) noexcept {
  int64_t chunks = 0;
  for_each_region(layout, hull, records, [&](Extent bytes) { chunks += bytes.size() / layout.chunk_bytes(); });
  return chunks;
}

std::vector<std::byte> numbers_as_message(std::span<const int64_t> numbers) {
  std::vector<std::byte> bytes;
  int64_t before = 0;
  for (const int64_t number : numbers) {
    append_varint(bytes, static_cast<uint64_t>(number - before));
    before = number;
  }
  return bytes;
}

namespace {

Status malformed() {
  return {Code::internal, "internal error: malformed chunk message"};
}

// The root's answer to one rank: offset + 1, bytes and skipped filters of each chunk asked for.
Status answer_message(const FormatOfPart& format_of, const auto& named, const ChunkLayout& layout,
                      const SparseMessage& asked, SparseMessage& answer) {
  answer.peer = asked.peer;
  int64_t chunk = 0;
  for (size_t position = 0; position < asked.bytes.size();) {
    const auto step = read_varint(asked.bytes, position);
    if (!step || *step >= static_cast<uint64_t>(layout.count() - chunk))
      return malformed();
    chunk += static_cast<int64_t>(*step);
    const ChunkPart& part = layout.part_of(chunk);
    const auto format = format_of(part);
    if (!format.ok())
      return format.status();
    const auto place = format.value()->find_chunk(layout.path, part.grid.first_element(chunk - part.first));
    if (!place.ok())
      return named(part, place.status());
    if (place.value().offset > part.file_room - place.value().bytes)
      return named(part, {Code::bad_file,
                          fmt::format("\"{}\": a chunk of it lies at offset {}", layout.path, place.value().offset)});
    append_varint(answer.bytes,
                  static_cast<uint64_t>(place.value().offset < 0 ? 0 : part.file_base + place.value().offset + 1));
    append_varint(answer.bytes, static_cast<uint64_t>(place.value().bytes));
    append_varint(answer.bytes, place.value().skipped);
  }
  return {};
}

Status read_answer(std::span<const std::byte> bytes, std::span<const int64_t> asked, KnownChunks& known) {
  size_t position = 0;
  for (const int64_t chunk : asked) {
    const auto offset = read_varint(bytes, position), size = read_varint(bytes, position),
               skipped = read_varint(bytes, position);
    if (!offset || !size || !skipped)
      return malformed();
    known.push_back(
        {chunk, {static_cast<int64_t>(*offset) - 1, static_cast<int64_t>(*size), static_cast<uint32_t>(*skipped)}});
  }
  return {};
}

}  // namespace

// Collective; the status is this rank's own unless all have it.
Status File::find_chunks(const ChunkPlan& chunks, KnownChunks& known) {
  std::vector<SparseMessage> out, in, answers;
  MessageCounters counters;
  const ChunkLayout& layout = *chunks.layout;
  const std::span<const int64_t> wanted = chunks.looked_up;
  // visit(root, numbers) for each root that this rank asks.
  const auto for_each_question = [&](auto&& visit) {
    layout.for_each_root(
        wanted.size(), [&](size_t i) { return wanted[i]; },
        [&](int root, size_t first, size_t count) { visit(root, wanted.subspan(first, count)); });
  };
  const auto named = [&](const ChunkPart& part, const Status& status) -> Status {
    if (part.number < 0)
      return status;
    return {status.code(), fmt::format("subfile \"{}\": {}", subfiles_->relative_name(part.number), status.message())};
  };
  Status local = guard([&] {
    for_each_question([&](int root, std::span<const int64_t> numbers) {
      out.push_back({root, numbers_as_message(numbers)});
    });
    return Status{};
  });
  local = sparse_exchange(*comm_, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      for (const SparseMessage& message : in) {
        Status status = answer_message([this](const ChunkPart& part) { return format_of(part); }, named, layout,
                                       message, answers.emplace_back());
        if (!status.ok())
          return status;
      }
      in.clear();
      return {};
    });
  local = sparse_exchange(*comm_, std::move(local), answers, in, counters);
  trace_.description_messages += counters.messages;
  trace_.description_bytes += counters.bytes;
  if (!local.ok() || wanted.empty())
    return local;
  return guard([&] {
    Status status;
    size_t next = 0;  // messages come sorted by peer, and roots ascend
    for_each_question([&](int root, std::span<const int64_t> numbers) {
      if (!status.ok())
        return;
      status = next < in.size() && in[next].peer == root ? read_answer(in[next].bytes, numbers, known) : malformed();
      ++next;
    });
    return status;
  });
}

Status File::move_chunks(PreparedPlan& prepared, const VariableBatch& batch) {
  ChunkPlan& chunks = *chunk_plan_of(prepared);
  KnownChunks known;
  if (prepared.forecast.read_requests > 0)  // of all ranks
    if (Status verdict = agree(*comm_, find_chunks(chunks, known)); !verdict.ok())
      return verdict;
  // From here to the agreement nothing returns.
  Status local = guard([&] {
    report_.plans.push_back({prepared.plan, prepared.forecast, false, prepared.id});
    return Status{};
  });
  ChunkSink sink(*comm_, *data_, *chunks.layout, known, chunks.placer.get(), chunks.roots);
  ChunkFetcher fetcher(*data_, *chunks.layout, known);
  if (chunks.placer)
    chunks.placer->begin({}, nullptr);
  double seconds = 0;
  local.update(executor_.move(prepared, batch, *data_, {sink, fetcher, chunks.placer.get()}, seconds));
  Status verdict = conclude(std::move(local), batch, prepared, seconds, false);
  if (chunks.placer)
    chunks.placer->finish(verdict.ok() || is_temporary_file(), *data_);  // a temporary is lost
  return verdict;
}

// Collective. Plans of the chunked variables among the bits; afterwards the numbers are those of the batches again.
Status File::explain_chunked(VariableBatch& puts, BatchSummary& put_numbers, VariableBatch& gets,
                             BatchSummary& get_numbers, FlushReport& planned) {
  const size_t words = variable_words();
  std::copy(put_numbers.objects.begin(), put_numbers.objects.end(), chunked_bits_.begin());
  std::copy(get_numbers.objects.begin(), get_numbers.objects.end(),
            chunked_bits_.begin() + static_cast<std::ptrdiff_t>(words));
  bool any = false;
  for (const bool reading : {false, true})
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      const int64_t word = chunked_bits_[(reading ? words : 0) + i / 64];
      const int variable = static_cast<int>(i);
      if (!is_chunked(variable) || (static_cast<uint64_t>(word) >> (i % 64) & 1) == 0)
        continue;
      any = true;
      Status verdict = for_each_chunked_batch(
          variable, reading, 0, [&](VariableBatch& batch, const BatchSummary& numbers) -> Status {
            batch.is_explained = true;
            auto ready = ready_plan(batch, numbers);
            if (!ready.ok())
              return ready.status();
            return agree(*comm_, guard([&] {
              planned.plans.push_back({ready.value()->plan, ready.value()->forecast, numbers.plan_id > 0});
              return Status{};
            }));
          });
      if (!verdict.ok())
        return verdict;
    }
  if (!any)
    return {};
  return reduce_batches(Status{}, {&puts, &gets}, {&put_numbers, &get_numbers}, nullptr);
}

}  // namespace windrow
