// SPDX-License-Identifier: BSD-3-Clause
#include "bytefile/byte_list.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "extent/algebra.hpp"

namespace windrow {
namespace {

Status bad(size_t entry, std::string_view what) {
  return {Code::bad_argument, fmt::format("entry {} of the list: {}", shown_index(static_cast<int64_t>(entry)), what)};
}

Status check_file(size_t entry, const Extent& hull) {
  if (hull.begin < 0)
    return bad(entry, fmt::format("it begins at offset {} of the file", hull.begin));
  if (hull.end > ByteList::k_longest_file)
    return bad(entry, fmt::format("it ends at offset {} of the file, beyond 2^60", hull.end));
  return {};
}

Status check(size_t entry, const FreeNest& nest) {
  if (nest.first.length < 0)
    return bad(entry, fmt::format("its length is {}", nest.first.length));
  for (const Loop& loop : nest.loops)
    if (loop.count < 0)
      return bad(entry, fmt::format("a count is {}", loop.count));
  const auto file = file_hull(nest), memory = memory_hull(nest);
  if (!file || !memory)
    return bad(entry, "an offset or an end does not fit into 64 bits");
  return check_file(entry, *file);
}

Status check(size_t entry, const Piece& piece) {
  if (piece.length < 0)
    return bad(entry, fmt::format("its length is {}", piece.length));
  if (!checked_add(piece.file, piece.length) || !checked_add(piece.memory, piece.length))
    return bad(entry, "an end does not fit into 64 bits");
  return check_file(entry, {piece.file, piece.file + piece.length});
}

bool add_bytes(int64_t& total, int64_t bytes) noexcept {
  const auto sum = checked_add(total, bytes);
  total = sum.value_or(total);
  return sum.has_value();
}

Status too_long() {
  return {Code::bad_argument, "the list has more than 2^63 - 1 bytes"};
}

int64_t lowest_memory(const Nest& nest) noexcept {
  int64_t lowest = nest.run.memory + std::min<int64_t>(0, (nest.run.count - 1) * nest.run.memory_stride);
  for (int i = 0; i < nest.depth; ++i) {
    const Loop& loop = nest.loops[Nest::at(i)];
    lowest += std::min<int64_t>(0, (loop.count - 1) * loop.memory_stride);
  }
  return lowest;
}

}  // namespace

// `total`: bytes of all nests. Empty nests have length 0.
Result<ByteList> ByteList::build(size_t count, int64_t total, const std::function<Nest(size_t)>& nest_of) {
  ByteList list;
  int64_t lowest = INT64_MAX, highest = INT64_MIN, end = 0;
  bool ascends = true;
  for (size_t i = 0; i < count; ++i) {
    const Nest nest = nest_of(i);
    if (nest.run.length == 0)
      continue;
    lowest = std::min(lowest, lowest_memory(nest));
    highest = std::max(highest, highest_memory_end(nest));
    ascends = ascends && nest.run.file >= end;
    end = nest.file_end();
  }
  if (total == 0)
    return list;
  if (int64_t size = 0; __builtin_sub_overflow(highest, lowest, &size))
    return Status{Code::bad_argument, "the memory of the list spans more than 2^63 - 1 bytes"};
  list.memory_begin_ = lowest;
  list.memory_end_ = highest;
  const auto shifted = [&](size_t i) {
    Nest nest = nest_of(i);
    nest.run.memory -= lowest;
    return nest;
  };
  if (ascends) {
    PiecesBuilder builder;
    for (size_t i = 0; i < count; ++i)
      if (const Nest nest = shifted(i); nest.run.length > 0)
        builder.add(nest);
    list.pieces_ = with_runs(builder.take());
    return list;
  }
  list.pieces_ = with_runs(pieces_from_nests(count, shifted));
  if (total_bytes(list.pieces_) == total)
    return list;
  const auto compare = [&](const Piece& place) {
    for_each_piece(list.pieces_, {place.file, place.file + place.length}, [&](const Piece& source) {
      const int64_t to = place.memory + (source.file - place.file);
      if (to != source.memory)
        list.repeated_.push_back({source.file, source.memory, to, source.length});
    });
  };
  for (size_t i = 0; i < count; ++i)
    if (const Nest nest = shifted(i); nest.run.length > 0)
      for_each_run(nest, [&](const Run& run) { for_each_piece_of(run, compare); });
  return list;
}

// Loops that stay at the same place move nothing more, and would be expanded.
Result<ByteList> ByteList::of_nests(std::span<const FreeNest> nests) {
  std::vector<Nest> sorted;
  int64_t total = 0;
  for (size_t i = 0; i < nests.size(); ++i) {
    if (Status status = check(i, nests[i]); !status.ok())
      return status;
    FreeNest moving = nests[i];
    std::erase_if(moving.loops,
                  [](const Loop& loop) { return loop.count > 0 && loop.file_stride == 0 && loop.memory_stride == 0; });
    for_each_sorted_nest(moving, [&](const Nest& nest) { sorted.push_back(nest); });
  }
  for (const Nest& nest : sorted)
    if (!add_bytes(total, nest.bytes()))
      return too_long();
  return build(sorted.size(), total, [&](size_t i) { return sorted[i]; });
}

Result<ByteList> ByteList::of_pieces(size_t count, const std::function<Piece(size_t)>& piece_of) {
  int64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const Piece piece = piece_of(i);
    if (Status status = check(i, piece); !status.ok())
      return status;
    if (!add_bytes(total, piece.length))
      return too_long();
  }
  return build(count, total, [&](size_t i) {
    const Piece piece = piece_of(i);
    return Nest(Run{.file = piece.file, .memory = piece.memory, .length = piece.length});
  });
}

Result<ByteList> ByteList::of_sorted(Pieces pieces, int64_t memory_begin) {
  if (const int64_t end = hull(pieces).end; end > k_longest_file)
    return Status{Code::bad_argument, fmt::format("the list ends at offset {} of the file, beyond 2^60", end)};
  ByteList list;
  list.pieces_ = with_runs(pieces);
  list.memory_begin_ = memory_begin;
  list.memory_end_ = memory_begin + windrow::memory_end(list.pieces_);
  return list;
}

int64_t ByteList::bytes_before(int64_t offset) const noexcept {
  int64_t bytes = bytes_within(pieces_, {0, offset});
  for (const Repeated& each : repeated_)
    bytes += std::clamp<int64_t>(offset - each.file, 0, each.length);
  return bytes;
}

Pieces part_before(const Pieces& pieces, int64_t end) {
  if (hull(pieces).end <= end)
    return pieces;
  PiecesBuilder builder;
  for_each_nest(pieces, {0, end}, [&](const Nest& nest) { builder.add(nest); });
  return with_runs(builder.take());
}

bool are_equal(const Pieces& one, const Pieces& other) noexcept {
  if (one.store() == other.store())
    return true;
  if (one.empty() || other.empty())
    return false;
  const PieceStore &a = *one.store(), &b = *other.store();
  return a.bytes == b.bytes && a.pieces == b.pieces && a.hull == b.hull && a.memory_end == b.memory_end &&
         a.pages == b.pages;
}

}  // namespace windrow
