// SPDX-License-Identifier: BSD-3-Clause
// The wire form of a list of runs (see runs.hpp for its grammar).
#include <fmt/format.h>

#include <limits>

#include "base/varint.hpp"
#include "extent/runs.hpp"

namespace windrow {

namespace {

// Length and stride of the run before; both sides begin with zeros, which no run has.
struct Previous {
  int64_t end = 0;
  int64_t length = 0;
  int64_t file_stride = 0;
};

// The file side only. Runs that are contiguous in the file are one piece, so that a stride that is sent is always
// longer than the length, hence count <= 2^62 and (count - 1) * 4 fits.
RunList file_side(const RunList& list) {
  RunList out;
  out.reserve(list.size());
  for (Run run : list) {
    if (run.count > 1 && run.file_stride == run.length) run = Run{run.file, 0, run.bytes(), 0, 0, 1};
    if (!out.empty() && run.count == 1 && out.back().count == 1 && out.back().file_end() == run.file)
      out.back().length += run.length;
    else
      out.push_back(run);
  }
  return out;
}

uint64_t unsigned_of(int64_t value) noexcept { return static_cast<uint64_t>(value); }

Status damaged(const char* what, size_t position) {
  return {Code::bad_file, fmt::format("damaged list of extents: {} at byte {}", what, position)};
}

// Reads a number that must be in [0, max].
std::optional<int64_t> read_number(std::span<const std::byte> bytes, size_t& position, int64_t max) noexcept {
  const std::optional<uint64_t> value = read_varint(bytes, position);
  if (!value || *value > unsigned_of(max)) return std::nullopt;
  return static_cast<int64_t>(*value);
}

constexpr int64_t k_largest = std::numeric_limits<int64_t>::max();

Result<Run> decode_run(std::span<const std::byte> bytes, size_t& position, const Previous& previous) {
  Run run;
  const auto gap = read_number(bytes, position, k_largest - previous.end);
  if (!gap) return damaged("begin", position);
  run.file = previous.end + *gap;
  const auto header = read_varint(bytes, position);
  if (!header) return damaged("header", position);
  run.count = static_cast<int64_t>(*header >> 2) + 1;
  run.length = previous.length;
  if ((*header & 1) == 0) {
    const auto length = read_number(bytes, position, k_largest);
    if (!length) return damaged("length", position);
    run.length = *length;
  }
  if (run.length <= 0) return damaged("length", position);
  if (run.count > 1) {
    run.file_stride = previous.file_stride;
    if ((*header & 2) == 0) {
      const auto hole = read_number(bytes, position, k_largest - run.length);
      if (!hole) return damaged("stride", position);
      run.file_stride = run.length + *hole;
    }
    if (run.file_stride < run.length) return damaged("stride", position);
  } else if ((*header & 2) != 0) {
    return damaged("header", position);
  }
  const auto span = checked_multiply(run.count - 1, run.file_stride);
  const auto last = span ? checked_add(run.file, *span) : std::nullopt;
  if (!last || !checked_add(*last, run.length)) return damaged("end", position);
  return run;
}

}  // namespace

void encode(const RunList& list, std::vector<std::byte>& out) {
  const RunList runs = file_side(list);
  append_varint(out, runs.size());
  Previous previous;
  for (const Run& run : runs) {
    const bool same_length = run.length == previous.length;
    const bool same_stride = run.count > 1 && run.file_stride == previous.file_stride;
    append_varint(out, unsigned_of(run.file - previous.end));
    append_varint(out, unsigned_of(run.count - 1) * 4 + (same_stride ? 2 : 0) + (same_length ? 1 : 0));
    if (!same_length) append_varint(out, unsigned_of(run.length));
    if (run.count > 1 && !same_stride) append_varint(out, unsigned_of(run.file_stride - run.length));
    previous = {run.file_end(), run.length, run.count > 1 ? run.file_stride : previous.file_stride};
  }
}

Result<RunList> decode(std::span<const std::byte> bytes, size_t& position) {
  const auto count = read_varint(bytes, position);
  // Each run takes two bytes at least: a list that promises more than the input holds is refused before memory is
  // taken.
  if (!count || *count > (bytes.size() - position) / 2) return damaged("number of runs", position);
  RunBuilder builder;
  Previous previous;
  int64_t memory = 0;  // at most the file's end, because the pieces are disjoint
  for (uint64_t i = 0; i < *count; ++i) {
    Result<Run> decoded = decode_run(bytes, position, previous);
    if (!decoded.ok()) return decoded.status();
    Run& run = decoded.value();
    previous = {run.file_end(), run.length, run.count > 1 ? run.file_stride : previous.file_stride};
    run.memory = memory;
    run.memory_stride = run.count > 1 ? run.length : 0;
    memory += run.bytes();
    builder.add(run);
  }
  return builder.take();
}

}  // namespace windrow
