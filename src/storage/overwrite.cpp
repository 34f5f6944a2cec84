// SPDX-License-Identifier: BSD-3-Clause
#include "storage/overwrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace windrow {
namespace {

// Format of the log: the old bytes of all ranges; their new bytes; the offset and length of each range; the trailer.
// Numbers have 64 bits, little-endian.
constexpr std::string_view k_magic = "windrow undo log";
constexpr int64_t k_range_bytes = 16,
                  k_trailer_bytes = 48;  // number of ranges, bytes of the log, end of the file, checksum; the magic
// A change of a few bytes within one sector is atomic on storage and needs no log.
constexpr int64_t k_sector = 512, k_few_bytes = 16;
constexpr std::byte k_mark_bit{0x80};

void put_number(std::vector<std::byte>& out, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
}

uint64_t number_at(std::span<const std::byte> bytes, size_t at) noexcept {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;)
    value = value << 8 | std::to_integer<uint64_t>(bytes[at + i]);
  return value;
}

// 64-bit FNV-1a.
uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  uint64_t sum = 0xcbf29ce484222325;
  for (const std::byte each : bytes)
    sum = (sum ^ std::to_integer<uint64_t>(each)) * 0x100000001b3;
  return sum;
}

// Bytes after the end of the file read as zeros.
Status read_zero_padded(Store& store, int64_t offset, std::span<std::byte> bytes, int64_t file_bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t there = std::clamp<int64_t>(file_bytes - offset, 0, size);
  std::memset(bytes.data() + there, 0, static_cast<size_t>(size - there));
  return store.read_at(offset, bytes.first(static_cast<size_t>(there)));
}

// The effective changes, without equal bytes at both ends, and the old content.
struct Trimmed {
  std::vector<Overwrite> changes;
  std::vector<OldBytes> old;
};

Result<Trimmed> trim(Store& store, std::span<const Overwrite> changes, int64_t file_bytes, int64_t mark_at) {
  Trimmed trimmed;
  for (const Overwrite& change : changes) {
    std::vector<std::byte> now(change.bytes.size());
    if (Status status = read_zero_padded(store, change.offset, now, file_bytes); !status.ok())
      return status;
    hide_mark(mark_at, change.offset, now);
    const auto differ = std::mismatch(now.begin(), now.end(), change.bytes.begin());
    if (differ.first == now.end())
      continue;
    const auto differ_last = std::mismatch(now.rbegin(), now.rend(), change.bytes.rbegin());
    const size_t first = static_cast<size_t>(differ.first - now.begin()),
                 last = static_cast<size_t>(differ_last.first.base() - now.begin());
    const int64_t offset = change.offset + static_cast<int64_t>(first);
    trimmed.changes.push_back({offset, change.bytes.subspan(first, last - first)});
    trimmed.old.push_back(
        {offset, {now.begin() + static_cast<std::ptrdiff_t>(first), now.begin() + static_cast<std::ptrdiff_t>(last)}});
  }
  return trimmed;
}

bool needs_no_log(std::span<const Overwrite> changes) noexcept {
  if (changes.size() != 1)
    return changes.empty();
  const int64_t begin = changes[0].offset, last = begin + static_cast<int64_t>(changes[0].bytes.size()) - 1;
  return last - begin < k_few_bytes && begin / k_sector == last / k_sector;
}

std::vector<std::byte> log_of(const Trimmed& what, int64_t end) {
  const std::vector<OldBytes>& old = what.old;
  std::vector<std::byte> log;
  for (const OldBytes& each : old)
    log.insert(log.end(), each.bytes.begin(), each.bytes.end());
  for (const Overwrite& each : what.changes)
    log.insert(log.end(), each.bytes.begin(), each.bytes.end());
  for (const OldBytes& each : old) {
    put_number(log, static_cast<uint64_t>(each.offset));
    put_number(log, each.bytes.size());
  }
  put_number(log, old.size());
  put_number(log, log.size() + static_cast<size_t>(k_trailer_bytes) - 8);
  put_number(log, static_cast<uint64_t>(end));
  put_number(log, checksum_of(log));
  const auto magic = std::as_bytes(std::span(k_magic));
  log.insert(log.end(), magic.begin(), magic.end());
  return log;
}

// The byte that has the mark, if it is in the file.
Result<std::optional<std::byte>> marked_byte(Store& store, int64_t mark_at) {
  if (mark_at < 0)
    return std::optional<std::byte>();
  const Result<int64_t> size = store.size();
  if (!size.ok())
    return size.status();
  if (mark_at >= size.value())
    return std::optional<std::byte>();
  std::array<std::byte, 1> byte{};
  if (Status status = store.read_at(mark_at, byte); !status.ok())
    return status;
  return std::optional(byte[0]);
}

// Writes bytes of a file that has the mark, and keeps it.
Status write_marked(Store& store, int64_t offset, std::span<const std::byte> bytes, int64_t mark_at) {
  if (mark_at < offset || mark_at - offset >= static_cast<int64_t>(bytes.size()))
    return store.write_at(offset, bytes);
  const auto before = static_cast<size_t>(mark_at - offset);
  const std::array marked{bytes[before] | k_mark_bit};
  Status status = before > 0 ? store.write_at(offset, bytes.first(before)) : Status();
  if (status.ok())
    status = store.write_at(mark_at, marked);
  if (status.ok() && before + 1 < bytes.size())
    status = store.write_at(mark_at + 1, bytes.subspan(before + 1));
  return status;
}

Status put_back(Store& store, std::span<const OldBytes> old, int64_t mark_at) {
  Status status;
  for (const OldBytes& each : old)
    status.update(write_marked(store, each.offset, each.bytes, mark_at));
  return status;
}

Status sync_if(Store& store, bool durable) {
  return durable ? store.sync() : Status();
}

// If a file cannot be truncated, makes the log empty instead.
Status cut_off(Store& store, int64_t end, int64_t log_end) {
  Status status = store.resize(end);
  if (status.ok())
    return status;
  constexpr std::array<std::byte, k_magic.size()> none{};
  return store.write_at(log_end - static_cast<int64_t>(none.size()), none).ok() ? Status() : status;
}

struct OverwriteOptions {
  int64_t log_begin = 0;  // after all content of the file, even if the file will become shorter
  int64_t end = 0;
  bool durable = false;
  int64_t mark_at = k_no_mark;
};

// `half`: the file is left half changed.
Status overwrite_logged(Store& store, const Trimmed& what, const OverwriteOptions& options, bool& half) {
  const std::vector<std::byte> log = log_of(what, options.log_begin);
  const int64_t log_end = options.log_begin + static_cast<int64_t>(log.size());
  Status status = store.write_at(options.log_begin, log);
  if (status.ok())
    status = set_mark(store, options.mark_at, true);
  if (status.ok())
    status = sync_if(store, options.durable);
  if (!status.ok()) {
    (void)set_mark(store, options.mark_at, false);
    (void)cut_off(store, options.log_begin, log_end);
    return status;
  }
  for (const Overwrite& each : what.changes)
    if (status.ok())
      status = write_marked(store, each.offset, each.bytes, options.mark_at);
  if (status.ok())
    status = sync_if(store, options.durable);
  if (status.ok())
    status = set_mark(store, options.mark_at, false);
  if (status.ok())
    status = cut_off(store, options.end, log_end);
  if (status.ok())
    return status;
  // The log stays if the old bytes cannot be restored.
  half = !(set_mark(store, options.mark_at, true).ok() && put_back(store, what.old, options.mark_at).ok() &&
           sync_if(store, options.durable).ok());
  if (half)
    return status;
  (void)set_mark(store, options.mark_at, false);
  (void)cut_off(store, options.log_begin, log_end);
  return status;
}

// `half`: as above.
Status overwrite_all(Store& store, std::span<const Overwrite> changes, OverwriteOptions options, bool& half) {
  const Result<int64_t> file_bytes = store.size();
  if (!file_bytes.ok())
    return file_bytes.status();
  const Result<Trimmed> trimmed = trim(store, changes, file_bytes.value(), options.mark_at);
  if (!trimmed.ok())
    return trimmed.status();
  const Trimmed& what = trimmed.value();
  options.log_begin = std::max(options.end, file_bytes.value());
  if (!needs_no_log(what.changes))
    return overwrite_logged(store, what, options, half);
  Status status;
  for (const Overwrite& each : what.changes)
    status = store.write_at(each.offset, each.bytes);
  if (!status.ok())
    (void)put_back(store, what.old, k_no_mark);
  if (status.ok())
    status = set_mark(store, options.mark_at, false);
  if (status.ok() && file_bytes.value() > options.end)
    status = store.resize(options.end);
  return status.ok() ? sync_if(store, options.durable) : status;
}

// A log as it is stored.
struct Log {
  std::vector<std::byte> bytes;  // empty: there is none
  int64_t ranges = 0, end = 0;   // `end`: the end of the file without the log
  size_t table = 0;              // offset of the table of offsets and lengths
};

Result<Log> read_log_of(Store& store, int64_t size) {
  if (size < k_trailer_bytes)
    return Log();
  std::array<std::byte, k_trailer_bytes> trailer;
  if (Status status = store.read_at(size - k_trailer_bytes, trailer); !status.ok())
    return status;
  if (std::memcmp(trailer.data() + k_trailer_bytes - k_magic.size(), k_magic.data(), k_magic.size()) != 0)
    return Log();
  const uint64_t ranges = number_at(trailer, 0), log_bytes = number_at(trailer, 8), end = number_at(trailer, 16),
                 sum = number_at(trailer, 24);
  const bool can_be = log_bytes <= static_cast<uint64_t>(size) && end == static_cast<uint64_t>(size) - log_bytes &&
                      log_bytes >= k_trailer_bytes && ranges <= (log_bytes - k_trailer_bytes) / k_range_bytes;
  if (!can_be)
    return Log();  // some other content ends the file
  Log log{std::vector<std::byte>(log_bytes), static_cast<int64_t>(ranges), static_cast<int64_t>(end),
          static_cast<size_t>(log_bytes - k_trailer_bytes - ranges * k_range_bytes)};
  if (Status status = store.read_at(log.end, log.bytes); !status.ok())
    return status;
  if (checksum_of(std::span(log.bytes).first(log_bytes - k_magic.size() - 8)) != sum)
    return Log();
  return log;
}

// A process that is writing may cut off its log meanwhile.
Result<Log> read_log(Store& store) {
  Result<int64_t> size = store.size();
  while (size.ok()) {
    Result<Log> log = read_log_of(store, size.value());
    const int64_t before = size.value();
    if (!log.ok())
      size = store.size();
    if (!size.ok() || size.value() == before)
      return log;
  }
  return size.status();
}

// What the ranges have of the two versions, where these differ.
struct Versions {
  bool old = false, changed = false, other = false;
};

// Each byte by itself, because a write may end anywhere.
void compare(std::span<const std::byte> now, std::span<const std::byte> old, std::span<const std::byte> changed,
             Versions& versions) noexcept {
  for (size_t i = 0; i < now.size(); ++i) {
    const bool is_old = now[i] == old[i], is_changed = now[i] == changed[i];
    versions.old = versions.old || (is_old && !is_changed);
    versions.changed = versions.changed || (is_changed && !is_old);
    versions.other = versions.other || (!is_old && !is_changed);
  }
}

Status damaged(std::string_view path, const Log& log) {
  return {Code::bad_file,
          fmt::format("\"{}\": a killed program left it half changed, and another program has changed it since, so the "
                      "undo log of {} at its end, from byte {} on, cannot be used: replace the file by a copy from "
                      "before; if other programs find no fault in it, cut off the log (truncate -s {})",
                      path, counted(static_cast<int64_t>(log.bytes.size()), "byte"), log.end, log.end)};
}

// The old bytes of a log, and what the ranges have. Not found: it is no log.
Result<UndoLog> compare_with(Store& store, const Log& log, int64_t mark_at, Versions& versions) {
  if (log.bytes.empty())
    return UndoLog();
  UndoLog undo;
  undo.end = log.end;
  undo.found = true;
  size_t at = 0;
  for (int64_t i = 0; i < log.ranges; ++i) {
    const size_t entry = log.table + static_cast<size_t>(i * k_range_bytes);
    const uint64_t offset = number_at(log.bytes, entry), length = number_at(log.bytes, entry + 8);
    const auto end = static_cast<uint64_t>(log.end);
    if (length > log.table / 2 - at || offset > end || length > end - offset)
      return UndoLog();
    const auto old = std::span(log.bytes).subspan(at, length);
    std::vector<std::byte> now(length);
    if (Status status = store.read_at(static_cast<int64_t>(offset), now); !status.ok())
      return status;
    hide_mark(mark_at, static_cast<int64_t>(offset), now);
    compare(now, old, std::span(log.bytes).subspan(log.table / 2 + at, length), versions);
    undo.old.push_back({static_cast<int64_t>(offset), {old.begin(), old.end()}});
    at += length;
  }
  return 2 * at == log.table ? undo : UndoLog();
}

Result<UndoLog> find_log(Store& store, std::string_view path, int64_t mark_at) {
  Result<Log> log = read_log(store);
  while (log.ok()) {
    Versions versions;
    Result<UndoLog> undo = compare_with(store, log.value(), mark_at, versions);
    const bool half = versions.old && versions.changed;
    if (!undo.ok() || !undo.value().found || (half && !versions.other))
      return undo;
    if (!half) {
      undo.value().old.clear();
      return undo;
    }
    // A process that is writing may have changed the ranges again since the log was read.
    const std::vector<std::byte> before = std::move(log.value().bytes);
    log = read_log(store);
    if (log.ok() && log.value().bytes == before)
      return damaged(path, log.value());
  }
  return log.status();
}

}  // namespace

Status overwrite(Store& store, std::span<const Overwrite> changes, int64_t end, bool durable, int64_t mark_at) {
  bool half = false;
  Status status = guard([&] {
    return overwrite_all(store, changes, {.log_begin = 0, .end = end, .durable = durable, .mark_at = mark_at}, half);
  });
  if (!status.ok() && !half)
    (void)set_mark(store, mark_at, false);
  return status;
}

Result<bool> is_marked(Store& store, int64_t mark_at) {
  const Result<std::optional<std::byte>> byte = marked_byte(store, mark_at);
  if (!byte.ok())
    return byte.status();
  return byte.value() && (*byte.value() & k_mark_bit) != std::byte{0};
}

Status set_mark(Store& store, int64_t mark_at, bool on) {
  const Result<std::optional<std::byte>> byte = marked_byte(store, mark_at);
  if (!byte.ok() || !byte.value())
    return byte.status();
  const std::array wanted{on ? *byte.value() | k_mark_bit : *byte.value() & ~k_mark_bit};
  return wanted[0] == *byte.value() ? Status() : store.write_at(mark_at, wanted);
}

void hide_mark(int64_t mark_at, int64_t offset, std::span<std::byte> bytes) noexcept {
  if (mark_at >= offset && mark_at - offset < static_cast<int64_t>(bytes.size()))
    bytes[static_cast<size_t>(mark_at - offset)] &= ~k_mark_bit;
}

Result<UndoLog> find_undo_log(Store& store, std::string_view path, int64_t mark_at) {
  return guard([&]() -> Result<UndoLog> {
    Result<UndoLog> undo = find_log(store, path, mark_at);
    if (!undo.ok())
      return undo;
    const Result<bool> marked = is_marked(store, mark_at);
    if (!marked.ok())
      return marked.status();
    undo.value().marked = marked.value();
    return undo;
  });
}

void apply(const UndoLog& log, int64_t offset, std::span<std::byte> bytes) noexcept {
  const int64_t end = offset + static_cast<int64_t>(bytes.size());
  for (const OldBytes& each : log.old) {
    const int64_t begin = std::max(offset, each.offset),
                  until = std::min(end, each.offset + static_cast<int64_t>(each.bytes.size()));
    if (begin < until)
      std::memcpy(bytes.data() + (begin - offset), each.bytes.data() + (begin - each.offset),
                  static_cast<size_t>(until - begin));
  }
}

Status roll_back(Store& store, std::string_view path, bool durable, int64_t mark_at) {
  const Result<UndoLog> log = find_undo_log(store, path, mark_at);
  if (!log.ok() || (!log.value().found && !log.value().marked))
    return log.status();
  Status status = log.value().old.empty() ? Status() : set_mark(store, mark_at, true);
  if (status.ok())
    status = put_back(store, log.value().old, mark_at);
  if (status.ok())
    status = sync_if(store, durable);
  if (status.ok())
    status = set_mark(store, mark_at, false);
  return status.ok() && log.value().found ? store.resize(log.value().end) : status;
}

}  // namespace windrow
