// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/copy.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "subfiling/strided_rows.hpp"

namespace windrow {
namespace {

constexpr int64_t k_join_bytes = 4096;  // variables at most this far apart are read and written together

// The rows of all variables with data, with their old and new positions.
std::vector<StridedRows> strided_rows_of(std::span<const Variable> variables, std::span<const Placement> after) {
  std::vector<StridedRows> strided_rows;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Placement& place = variables[i].placement;
    if (!place.has_bytes())
      continue;
    if (place.stride == 0)
      strided_rows.push_back({.from = place.offset, .to = after[i].offset, .bytes = place.bytes});
    else
      strided_rows.push_back({place.offset, place.stride, after[i].offset, after[i].stride, row_bytes(variables[i]),
                              variables[i].shape.front()});
  }
  std::sort(strided_rows.begin(), strided_rows.end(),
            [](const StridedRows& a, const StridedRows& b) { return a.from < b.from; });
  return strided_rows;
}

// All rows with a stride as one range, if they move by the same distance; otherwise nullopt.
std::optional<StridedRows> shifted_records(std::span<const StridedRows> strided_rows) {
  const StridedRows* first = nullptr;
  int64_t end = 0;
  for (const StridedRows& rows_band : strided_rows) {
    if (rows_band.from_stride == 0)
      continue;
    if (first == nullptr)
      first = &rows_band;
    if (rows_band.from_stride != rows_band.to_stride || rows_band.to - rows_band.from != first->to - first->from ||
        rows_band.count != first->count)
      return std::nullopt;
    end = std::max(end, rows_band.from + (rows_band.count - 1) * rows_band.from_stride + rows_band.bytes);
  }
  if (first == nullptr)
    return std::nullopt;
  return StridedRows{.from = first->from, .to = first->to, .bytes = end - first->from};
}

// Whether rows without a stride follow others closely and move by the same distance.
bool follow_closely(const StridedRows& rows_band, const StridedRows& last) noexcept {
  return rows_band.from_stride == 0 && last.from_stride == 0 && last.to - last.from == rows_band.to - rows_band.from &&
         rows_band.from >= last.from + last.bytes && rows_band.from - (last.from + last.bytes) < k_join_bytes;
}

// Joins variables whose records move by the same distance, and neighbours without records.
std::vector<StridedRows> joined(std::span<const StridedRows> strided_rows) {
  std::vector<StridedRows> out;
  std::optional<StridedRows> records = shifted_records(strided_rows);
  const bool all_shift = records.has_value();
  const StridedRows* before = nullptr;  // the last entry of `out` before it was joined
  for (const StridedRows& rows_band : strided_rows) {
    if (rows_band.from_stride != 0 && all_shift) {
      if (records)
        out.push_back(*std::exchange(records, std::nullopt));
      continue;
    }
    const bool is_next = before != nullptr && before + 1 == &rows_band && !out.empty();
    before = &rows_band;
    if (is_next && follow_closely(rows_band, out.back()))
      out.back().bytes = rows_band.from + rows_band.bytes - out.back().from;
    else
      out.push_back(rows_band);
  }
  return out;
}

// Interleaved rows: whole records are read, rearranged in memory, and written.
struct Records {
  std::vector<StridedRows> strided_rows;
  int64_t from = INT64_MAX, from_bytes = 0, to = INT64_MAX, to_bytes = 0, count = 0;
};

// Removes the records from `strided_rows` if an old and a new record fit into `most` bytes together.
Records take_records(std::vector<StridedRows>& strided_rows, int64_t most) {
  Records records;
  for (const StridedRows& rows_band : strided_rows) {
    if (rows_band.from_stride == 0)
      continue;
    records.from = std::min(records.from, rows_band.from);
    records.to = std::min(records.to, rows_band.to);
    records.from_bytes = rows_band.from_stride;
    records.to_bytes = rows_band.to_stride;
    records.count = rows_band.count;
  }
  const bool sound = std::all_of(strided_rows.begin(), strided_rows.end(), [&](const StridedRows& rows_band) {
    return rows_band.from_stride == 0 ||
           (rows_band.count == records.count && rows_band.from - records.from + rows_band.bytes <= records.from_bytes &&
            rows_band.to - records.to + rows_band.bytes <= records.to_bytes);
  });
  if (records.count == 0 || !sound || records.from_bytes + records.to_bytes > most)
    return {};
  for (const StridedRows& rows_band : strided_rows)
    if (rows_band.from_stride != 0)
      records.strided_rows.push_back(rows_band);
  std::erase_if(strided_rows, [](const StridedRows& rows_band) { return rows_band.from_stride != 0; });
  return records;
}

bool is_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each == std::byte{0}; });
}

// Holes stay holes: an unwritten range of a new file is zeros.
void write_unless_zero(DataFile& file, int64_t offset, std::span<const std::byte> bytes) {
  if (!is_zero(bytes))
    file.write(offset, bytes);
}

void copy_records(const Records& records, const Relocation& relocation, std::span<std::byte> buffer, DataFile& from,
                  DataFile& to) {
  if (records.strided_rows.empty())
    return;
  const Extent share = even_share(records.count, relocation.rank, relocation.ranks);
  const int64_t at_once = static_cast<int64_t>(buffer.size()) / (records.from_bytes + records.to_bytes);
  int64_t used = 0;  // of an old record: bytes after the last variable's row may be beyond the end of the file
  for (const StridedRows& rows_band : records.strided_rows)
    used = std::max(used, rows_band.from - records.from + rows_band.bytes);
  for (int64_t record = share.begin; record < share.end && !from.failed() && !to.failed();) {
    const int64_t count = std::min(at_once, share.end - record);
    const auto old = buffer.first(static_cast<size_t>((count - 1) * records.from_bytes + used));
    const auto fresh =
        buffer.subspan(static_cast<size_t>(count * records.from_bytes), static_cast<size_t>(count * records.to_bytes));
    from.read(records.from + record * records.from_bytes, old);
    std::fill(fresh.begin(), fresh.end(), std::byte{0});
    for (int64_t i = 0; i < count; ++i)
      for (const StridedRows& rows_band : records.strided_rows)
        std::memcpy(fresh.data() + i * records.to_bytes + (rows_band.to - records.to),
                    old.data() + i * records.from_bytes + (rows_band.from - records.from),
                    static_cast<size_t>(rows_band.bytes));
    write_unless_zero(to, records.to + record * records.to_bytes, fresh);
    record += count;
  }
}

}  // namespace

void copy_variables(const Relocation& relocation, DataFile& from, DataFile& to) {
  std::vector<std::byte> buffer(static_cast<size_t>(relocation.buffer_bytes));
  std::vector<StridedRows> strided_rows = joined(strided_rows_of(relocation.variables, relocation.places));
  const Records records = take_records(strided_rows, relocation.buffer_bytes);
  for_each_part(strided_rows, relocation.rank, relocation.ranks, relocation.buffer_bytes,
                [&](const StridedRows&, int64_t at, int64_t into, int64_t, int64_t length) {
                  if (from.failed() || to.failed())
                    return;
                  const auto part = std::span(buffer).first(static_cast<size_t>(length));
                  from.read(at, part);
                  if (!from.failed())
                    write_unless_zero(to, into, part);
                });
  copy_records(records, relocation, buffer, from, to);
}

}  // namespace windrow
