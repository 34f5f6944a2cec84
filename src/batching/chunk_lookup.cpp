// SPDX-License-Identifier: BSD-3-Clause
#include "batching/chunk_lookup.hpp"

#include <fmt/format.h>

#include "base/varint.hpp"
#include "comm/sparse.hpp"

namespace windrow {
namespace {

Status malformed_chunks() {
  return {Code::internal, "internal error: malformed chunk message"};
}

// Returns the error with the name of the subfile.
Status with_subfile(const ChunkPart& part, const Subfiles* subfiles, const Status& status) {
  if (part.number < 0)
    return status;
  return {status.code(), fmt::format("subfile \"{}\": {}", subfiles->relative_name(part.number), status.message())};
}

// The answer of a root to one rank: offset + 1, bytes and skipped filters of each requested chunk.
Status answer_message(const ChunkSource& source, const SparseMessage& asked, SparseMessage& answer) {
  const ChunkLayout& layout = source.layout;
  answer.peer = asked.peer;
  int64_t chunk = 0;
  for (size_t position = 0; position < asked.bytes.size();) {
    const auto step = read_varint(asked.bytes, position);
    if (!step || *step >= static_cast<uint64_t>(layout.count() - chunk))
      return malformed_chunks();
    chunk += static_cast<int64_t>(*step);
    const ChunkPart& part = layout.part_of(chunk);
    const auto format = source.format_of(part);
    if (!format.ok())
      return format.status();
    const auto place = format.value()->find_chunk(layout.path, part.grid.first_element(chunk - part.first));
    if (!place.ok())
      return with_subfile(part, source.subfiles, place.status());
    if (place.value().offset > part.file_room - place.value().bytes)
      return with_subfile(
          part, source.subfiles,
          {Code::bad_file, fmt::format("\"{}\": a chunk of it lies at offset {}", layout.path, place.value().offset)});
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
      return malformed_chunks();
    known.push_back(
        {chunk, {static_cast<int64_t>(*offset) - 1, static_cast<int64_t>(*size), static_cast<uint32_t>(*skipped)}});
  }
  return {};
}

}  // namespace

Status find_chunks(const ChunkSource& source, std::span<const int64_t> wanted, KnownChunks& known, Trace& trace) {
  std::vector<SparseMessage> out, in, answers;
  MessageCounters counters;
  // Calls visit(root, numbers) for each root that this rank sends a request to.
  const auto for_each_question = [&](auto&& visit) {
    source.layout.for_each_root(
        wanted.size(), [&](size_t i) { return wanted[i]; },
        [&](int root, size_t first, size_t count) { visit(root, wanted.subspan(first, count)); });
  };
  Status local = guard([&] {
    for_each_question([&](int root, std::span<const int64_t> numbers) {
      out.push_back({root, numbers_as_message(numbers)});
    });
    return Status{};
  });
  local = sparse_exchange(source.comm, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      for (const SparseMessage& message : in) {
        Status status = answer_message(source, message, answers.emplace_back());
        if (!status.ok())
          return status;
      }
      in.clear();
      return {};
    });
  local = sparse_exchange(source.comm, std::move(local), answers, in, counters);
  trace.description_messages += counters.messages;
  trace.description_bytes += counters.bytes;
  if (!local.ok() || wanted.empty())
    return local;
  return guard([&] {
    Status status;
    size_t next = 0;  // messages are sorted by peer, and the roots are in ascending order
    for_each_question([&](int root, std::span<const int64_t> numbers) {
      if (!status.ok())
        return;
      status =
          next < in.size() && in[next].peer == root ? read_answer(in[next].bytes, numbers, known) : malformed_chunks();
      ++next;
    });
    return status;
  });
}

}  // namespace windrow
