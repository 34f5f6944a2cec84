// SPDX-License-Identifier: BSD-3-Clause
// Where the chunks of split variables lie: the ranks that look after the subfiles know, and rank 0 is told for the
// reference file.
#include <algorithm>

#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "extent/chunks.hpp"
#include "kerchunk/kerchunk.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

Status malformed() {
  return {Code::internal, "internal error: malformed message about chunks of parts"};
}

// A part's chunks: 0, and of each in C order of their grid offset + 1, bytes and skipped filters; or why they are not
// known: its length, and the text.
Status tell_chunks(Format& format, const SplitVariable& split, const ChunkGrid& grid, std::vector<std::byte>& message) {
  const size_t before = message.size();
  append_varint(message, 0);
  for (int64_t chunk = 0; chunk < grid.count(); ++chunk) {
    const auto place = format.find_chunk(split.path, grid.first_element(chunk));
    if (place.status().code() == Code::out_of_memory)
      return place.status();
    if (!place.ok()) {
      const std::string& why = place.status().message();
      message.resize(before);
      append_varint(message, why.size());
      for (const char each : why)
        message.push_back(static_cast<std::byte>(each));
      return {};
    }
    append_varint(message, static_cast<uint64_t>(place.value().offset + 1));
    append_varint(message, static_cast<uint64_t>(place.value().bytes));
    append_varint(message, place.value().skipped);
  }
  return {};
}

Status read_chunks(std::span<const std::byte> message, size_t& position, const ChunkGrid& grid,
                   Result<std::vector<ChunkPlace>>& chunks) {
  const auto why = read_varint(message, position);
  if (!why || *why > message.size() - position)
    return malformed();
  if (*why > 0) {
    chunks = Status(Code::bad_file, std::string(reinterpret_cast<const char*>(message.data()) + position, *why));
    position += *why;
    return {};
  }
  std::vector<ChunkPlace> places;
  for (int64_t chunk = 0; chunk < grid.count(); ++chunk) {
    const auto offset = read_varint(message, position), bytes = read_varint(message, position),
               skipped = read_varint(message, position);
    if (!offset || !bytes || !skipped)
      return malformed();
    places.push_back(
        {static_cast<int64_t>(*offset) - 1, static_cast<int64_t>(*bytes), static_cast<uint32_t>(*skipped)});
  }
  chunks = std::move(places);
  return {};
}

}  // namespace

// The same on every rank: split variables whose chunks can be told of, in one regular grid.
std::vector<int> File::referable_parts() const {
  std::vector<int> found;
  int64_t references = 0;
  for (const auto& [number, split] : subfiles_->variables()) {
    const Variable& variable = catalog_.variables[static_cast<size_t>(number)];
    const std::vector<int64_t> chunk = split.common_chunk();
    if (chunk.empty() || !why_no_array(variable).empty())
      continue;
    bool sound = true;
    for (int64_t part = 0; sound && part < split.split.parts(); ++part)
      sound = subfiles_->fault_of(part).ok();
    const auto count = count_of_chunks(variable.shape, chunk);
    if (!sound || !count || *count > k_most_references - references)
      continue;
    references += *count;
    found.push_back(number);
  }
  return found;
}

// Collective, agreed. `chunks`: on rank 0, of all parts that can be told of.
Status File::collect_part_chunks(PartChunks& chunks) {
  if (!subfiles_)
    return {};
  std::vector<int> variables;
  std::vector<SparseMessage> out, in;
  MessageCounters counters;
  // visit(variable, part, grid) for what a rank looks after; the same order on all ranks.
  const auto for_parts_of = [&](int rank, auto&& visit) -> Status {
    for (const int number : variables) {
      const SplitVariable& split = *subfiles_->find(number);
      for (int64_t part = 0; part < split.split.parts(); ++part) {
        if (subfiles_->owner_of(part, comm_->size()) != rank)
          continue;
        const auto grid = ChunkGrid::make(split.shape(part), split.common_chunk());
        Status status = grid.ok() ? visit(number, part, grid.value()) : grid.status();
        if (!status.ok())
          return status;
      }
    }
    return {};
  };
  Status local = guard([&]() -> Status {
    variables = referable_parts();
    std::vector<std::byte> message;
    Status status = for_parts_of(comm_->rank(), [&](int number, int64_t part, const ChunkGrid& grid) {
      const FormatMode mode = mode_ == Mode::read     ? FormatMode::read
                              : mode_ == Mode::create ? FormatMode::create
                                                      : FormatMode::update;
      auto format = subfiles_->format(part, mode);
      return format.ok() ? tell_chunks(*format.value(), *subfiles_->find(number), grid, message) : format.status();
    });
    if (!message.empty())
      out.push_back({0, std::move(message)});
    return status;
  });
  local = sparse_exchange(*comm_, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      for (const SparseMessage& message : in) {
        size_t position = 0;
        Status status = for_parts_of(message.peer, [&](int number, int64_t part, const ChunkGrid& grid) {
          auto& own = chunks.emplace(std::pair(number, part), Status{}).first->second;
          return read_chunks(message.bytes, position, grid, own);
        });
        if (!status.ok())
          return status;
      }
      return {};
    });
  return agree(*comm_, std::move(local));
}

}  // namespace windrow
