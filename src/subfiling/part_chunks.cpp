// SPDX-License-Identifier: BSD-3-Clause
// SubfileSet: the chunks of parts, whose index the owners of the subfiles have. Rank 0 needs their places for
// references, and a copy needs to know which are stored.
#include <algorithm>

#include "comm/sparse.hpp"
#include "extent/chunks.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {
namespace {

// Calls visit(variable, part, grid) for the parts of these variables in the subfiles of one rank, in an order that is
// the same on all ranks.
template <class Visit>
Status for_each_part_of(int rank, int ranks, const Subfiles& map, std::span<const int> variables, Visit&& visit) {
  for (const int number : variables) {
    const SplitVariable& split = *map.find(number);
    for (int64_t part = 0; part < split.split.parts(); ++part) {
      if (map.owner_of(part, ranks) != rank)
        continue;
      const auto grid = ChunkGrid::make(split.shape(part), split.common_chunk());
      Status status = grid.ok() ? visit(number, part, grid.value()) : grid.status();
      if (!status.ok())
        return status;
    }
  }
  return {};
}

// The chunks of a part, or the reason why they are unknown. out_of_memory and io are errors of this rank instead.
Result<std::vector<ChunkPlace>> chunks_of(Format& format, const std::string& path, const ChunkGrid& grid) {
  std::vector<ChunkPlace> places;
  for (int64_t chunk = 0; chunk < grid.count(); ++chunk) {
    const auto place = format.find_chunk(path, grid.first_element(chunk));
    if (!place.ok())
      return place.status();
    places.push_back(place.value());
  }
  return places;
}

}  // namespace

// Local.
Status SubfileSet::find_own_chunks(std::span<const int> variables, PartChunkLists& own) {
  const auto find = [&](int number, int64_t part, const ChunkGrid& grid) -> Status {
    auto opened = format(part);
    if (!opened.ok())
      return opened.status();
    own.parts.push_back(chunks_of(*opened.value(), map_->find(number)->path, grid));
    const Status& found = own.parts.back().status();
    return found.code() == Code::out_of_memory || found.code() == Code::io ? found : Status{};
  };
  return for_each_part_of(comm_.rank(), comm_.size(), *map_, variables, find);
}

// Local.
Status SubfileSet::add_own_written(int variable, BoxList& boxes) {
  const SplitVariable& split = *map_->find(variable);
  for (int64_t part = 0; part < split.split.parts(); ++part) {
    if (!is_own(part))
      continue;
    const Box box{split.split.box(part).start, split.shape(part)};
    const bool is_sound = map_->fault_of(part).ok();
    if (!is_sound || !split.is_chunked()) {
      if (!is_sound || split.has_place(part))
        boxes.add(box);
      continue;
    }
    auto opened = format(part);
    if (!opened.ok())
      return opened.status();
    const auto chunking = split.chunking(part);
    if (!chunking.ok())
      return chunking.status();
    Status status = add_stored_chunks(*opened.value(), split.path, box, chunking.value().shape, boxes);
    if (!status.ok())
      return status;
  }
  return {};
}

Status SubfileSet::collect_chunks(Status local, std::span<const int> variables, PartChunks& chunks) {
  std::vector<SparseMessage> out, in;
  MessageCounters counters;
  if (local.ok())
    local = guard([&] {
      PartChunkLists own;
      Status status = find_own_chunks(variables, own);
      if (!own.parts.empty())
        out.push_back({0, own.encode()});
      return status;
    });
  local = sparse_exchange(comm_, std::move(local), out, in, counters);
  if (!local.ok())
    return local;
  return guard([&]() -> Status {
    for (const SparseMessage& message : in) {
      std::vector<std::pair<int, int64_t>> parts;
      std::vector<int64_t> counts;
      const auto list = [&](int number, int64_t part, const ChunkGrid& grid) {
        parts.emplace_back(number, part);
        counts.push_back(grid.count());
        return Status{};
      };
      if (Status status = for_each_part_of(message.peer, comm_.size(), *map_, variables, list); !status.ok())
        return status;
      auto decoded = PartChunkLists::decode(message.bytes, counts);
      if (!decoded.ok())
        return decoded.status();
      for (size_t i = 0; i < parts.size(); ++i)
        chunks.insert_or_assign(parts[i], std::move(decoded.value().parts[i]));
    }
    return {};
  });
}

}  // namespace windrow
