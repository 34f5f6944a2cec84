// SPDX-License-Identifier: BSD-3-Clause
#include "extent/encode.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "base/varint.hpp"

namespace windrow {

namespace {

// Length and stride of the previous run. Encoder and decoder begin with zeros, which no run has.
struct Previous {
  int64_t end = 0;
  int64_t length = 0;
  int64_t file_stride = 0;
};

uint64_t unsigned_of(int64_t value) noexcept {
  return static_cast<uint64_t>(value);
}

Status damaged(const char* what, size_t position) {
  return {Code::bad_file, fmt::format("malformed list of extents: {} at byte {}", what, position)};
}

// Reads a number that must be in [0, max].
std::optional<int64_t> read_number(std::span<const std::byte> bytes, size_t& position, int64_t max) noexcept {
  const std::optional<uint64_t> value = read_varint(bytes, position);
  if (!value || *value > unsigned_of(max))
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

constexpr int64_t k_largest = std::numeric_limits<int64_t>::max();

// The header of a nest, which no run has. The number of its loops and the header of its run follow, and after the run
// its loops.
constexpr uint64_t k_nest = 2;

// Reads the length and stride of a run, from its header on; its file offset is known.
Status decode_run(uint64_t header, std::span<const std::byte> bytes, size_t& position, const Previous& previous,
                  Run& run) {
  run.count = static_cast<int64_t>(header >> 2) + 1;
  run.length = previous.length;
  if ((header & 1) == 0) {
    const auto length = read_number(bytes, position, k_largest);
    if (!length)
      return damaged("length", position);
    run.length = *length;
  }
  if (run.length <= 0)
    return damaged("length", position);
  if (run.count > 1) {
    run.file_stride = previous.file_stride;
    if ((header & 2) == 0) {
      const auto hole = read_number(bytes, position, k_largest - run.length);
      if (!hole)
        return damaged("stride", position);
      run.file_stride = run.length + *hole;
    }
    if (run.file_stride < run.length)
      return damaged("stride", position);
  } else if ((header & 2) != 0) {
    return damaged("header", position);
  }
  return {};
}

// The span of a nest after one more loop is put around it: from its start to the end of its last piece.
std::optional<int64_t> repeated(int64_t span, int64_t count, int64_t stride) noexcept {
  const auto ahead = checked_multiply(count - 1, stride);
  return ahead ? checked_add(*ahead, span) : std::nullopt;
}

// Reads one nest whose bytes are packed at `memory`, and advances `memory` past them.
Status decode_nest(std::span<const std::byte> bytes, size_t& position, Previous& previous, int64_t& memory,
                   Nest& nest) {
  const auto gap = read_number(bytes, position, k_largest - previous.end);
  if (!gap)
    return damaged("begin", position);
  Run run{.file = previous.end + *gap, .memory = memory};
  auto header = read_varint(bytes, position);
  std::optional<int64_t> depth = 0;
  if (header == k_nest) {
    depth = read_number(bytes, position, k_max_loops);
    header = read_varint(bytes, position);
  }
  if (!header || !depth)
    return damaged("header", position);
  if (Status status = decode_run(*header, bytes, position, previous, run); !status.ok())
    return status;
  if (*depth > 0 && run.count == 1)
    return damaged("header", position);
  auto span = repeated(run.length, run.count, run.file_stride);
  if (!span || !checked_add(run.file, *span))
    return damaged("end", position);
  // Disjoint pieces have at most as many bytes as their span, so no product of counts overflows.
  nest = Nest(Run{run.file, memory, run.length, 0, 0, 1});
  nest.repeat(run.count, run.file_stride, run.length);
  int64_t all = run.bytes();
  for (int64_t i = 0; i < *depth; ++i) {
    const auto more = read_number(bytes, position, k_largest - 2);
    const auto hole = more ? read_number(bytes, position, k_largest - *span) : std::nullopt;
    if (!hole)
      return damaged("loop", position);
    const int64_t count = *more + 2, stride = *span + *hole;
    span = repeated(*span, count, stride);
    if (!span || !checked_add(run.file, *span))
      return damaged("end", position);
    nest.repeat(count, stride, all);
    all *= count;
  }
  memory += all;
  previous = {run.file + *span, run.length, run.count > 1 ? run.file_stride : previous.file_stride};
  return {};
}

void encode_nest(const Nest& nest, Previous& previous, std::vector<std::byte>& out) {
  const Run& run = nest.run;
  const bool same_length = run.length == previous.length;
  const bool same_stride = run.count > 1 && run.file_stride == previous.file_stride;
  append_varint(out, unsigned_of(run.file - previous.end));
  if (nest.depth > 0) {
    append_varint(out, k_nest);
    append_varint(out, static_cast<uint64_t>(nest.depth));
  }
  append_varint(out, unsigned_of(run.count - 1) * 4 + (same_stride ? 2 : 0) + (same_length ? 1 : 0));
  if (!same_length)
    append_varint(out, unsigned_of(run.length));
  if (run.count > 1 && !same_stride)
    append_varint(out, unsigned_of(run.file_stride - run.length));
  for (int i = 0; i < nest.depth; ++i) {
    const Loop& loop = nest.loops[Nest::at(i)];
    append_varint(out, unsigned_of(loop.count - 2));
    append_varint(out, unsigned_of(loop.file_stride - nest.span(i)));
  }
  previous = {nest.file_end(), run.length, run.count > 1 ? run.file_stride : previous.file_stride};
}

}  // namespace

// Merges pieces that are contiguous in the file. An encoded stride is then always longer than the length, so count <=
// 2^62 and (count - 1) * 4 fits.
Pieces file_side(PieceView view, Extent window) {
  PiecesBuilder builder;
  int64_t memory = 0;
  for_each_nest(view, window, [&](const Nest& nest) {
    builder.add(packed(nest, memory));
    memory += nest.bytes();
  });
  return builder.take();
}

void encode(PieceView view, Extent window, std::vector<std::byte>& out) {
  const Pieces wire = file_side(view, window);
  append_varint(out, wire.empty() ? 0 : static_cast<uint64_t>(wire.store()->records));
  Previous previous;
  for (NestCursor cursor(wire); !cursor.done(); cursor.next())
    encode_nest(cursor.nest(), previous, out);
}

Result<Pieces> decode(std::span<const std::byte> bytes, size_t& position) {
  const auto count = read_varint(bytes, position);
  // Each run takes at least two bytes: rejects a list that announces more than the input can hold.
  if (!count || *count > (bytes.size() - position) / 2)
    return damaged("number of runs", position);
  PiecesBuilder builder;
  Previous previous;
  int64_t memory = 0;  // at most the file offset of the end, because the pieces are disjoint
  Nest nest;
  for (uint64_t i = 0; i < *count; ++i) {
    if (Status status = decode_nest(bytes, position, previous, memory, nest); !status.ok())
      return status;
    builder.add(nest);
  }
  return builder.take();
}

}  // namespace windrow
