// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/set_checksums.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codec/checksum.hpp"
#include "comm/agree.hpp"
#include "extent/boxes.hpp"

namespace windrow {
namespace {

enum Finding : int64_t {
  k_equal = 0,
  k_different = 1,
  k_unreadable = 2
};

bool has_elements(const SplitVariable& split, int64_t part) noexcept {
  return (split.has_place(part) || split.is_chunked()) && split.row_bytes(part) > 0 && split.records > 0;
}

// Calls visit(Extent) for the bytes of a contiguous part in its file: once, or for each record if there are gaps.
template <class Visit>
Status for_each_record(const SplitVariable& split, int64_t part, Visit&& visit) {
  const int64_t begin = split.offsets[static_cast<size_t>(part)], row = split.row_bytes(part),
                stride = split.strides[static_cast<size_t>(part)];
  if (!split.grows || stride == row)
    return visit(Extent{begin, begin + split.records * row});
  Status status;
  for (int64_t record = 0; record < split.records && status.ok(); ++record)
    status = visit(Extent{begin + record * stride, begin + record * stride + row});
  return status;
}

// Calls visit(Extent) for each stored chunk of a part, in C order of the chunks. `format`: the format of its file, or
// why it cannot be opened.
template <class Visit>
Status for_each_stored_chunk(const SplitVariable& split, int64_t part, const Result<Format*>& format, Visit&& visit) {
  if (!format.ok())
    return format.status();
  const auto chunking = split.chunking(part);
  if (!chunking.ok())
    return chunking.status();
  const auto stored = format.value()->stored_chunks(split.path);
  if (!stored.ok())
    return stored.status();
  const std::vector<int64_t> shape = split.shape(part);
  BoxList chunks(shape.size());
  chunks.add_chunks({std::vector<int64_t>(shape.size()), shape}, chunking.value().shape, stored.value());
  chunks.sort();
  Status status;
  for (int64_t chunk = 0; chunk < chunks.size() && status.ok(); ++chunk) {
    const auto place = format.value()->find_chunk(split.path, chunks.start(chunk));
    if (!place.ok())
      return place.status();
    if (place.value().offset > INT64_MAX - place.value().bytes)
      return {Code::bad_file, fmt::format("\"{}\": a chunk of it lies at offset {}", split.path, place.value().offset)};
    if (place.value().offset >= 0)
      status = visit(Extent{place.value().offset, place.value().offset + place.value().bytes});
  }
  return status;
}

struct SummedPart {
  const std::string& path;  // of its subfile
  const SplitVariable& split;
  int64_t part;
};

// The checksum of all bytes of a part.
Result<uint64_t> sum_of(const SummedPart& summed, SumKind kind, const Result<Format*>& format, int64_t buffer_bytes) {
  const auto& [path, split, part] = summed;
  auto store = open_store(path, StoreMode::read, {});
  if (!store.ok())
    return store.status();
  constexpr int64_t k_unit = 16;  // a sum takes multiples of this, except at its end
  const int64_t wanted = std::min(buffer_bytes - k_unit, split.records * split.row_bytes(part));
  std::vector<std::byte> buffer(static_cast<size_t>(round_down(std::max<int64_t>(0, wanted), k_unit) + k_unit));
  ElementSum sum(kind);
  size_t held = 0;
  const auto add = [&](Extent piece) {
    Status read;
    while (piece.begin < piece.end && read.ok()) {
      const auto bytes = std::span(buffer).subspan(
          held, static_cast<size_t>(std::min(piece.size(), static_cast<int64_t>(buffer.size() - held))));
      read = store.value()->read_at(piece.begin, bytes);
      piece.begin += static_cast<int64_t>(bytes.size());
      held += bytes.size();
      if (held < buffer.size())
        continue;
      sum.add(buffer);
      held = 0;
    }
    return read;
  };
  Status status =
      split.is_chunked() ? for_each_stored_chunk(split, part, format, add) : for_each_record(split, part, add);
  if (held > 0)
    sum.add(std::span(buffer).first(held));
  status.update(store.value()->close());
  if (!status.ok())
    return status;
  return sum.sum();
}

}  // namespace

Status SetChecksums::renew(bool wanted) {
  for (int64_t number = 0; number < map_.used(); ++number) {
    if (!set_.is_own(number) || (!wanted && !map_.is_summed(number)))
      continue;
    for (const auto& [variable, split] : map_.variables()) {
      if (!split.has_part(number) || !set_.is_changed(variable))
        continue;
      if (Status status = renew_part(number, variable, split, wanted); !status.ok())
        return status;
    }
  }
  return {};
}

Status SetChecksums::renew_part(int64_t number, int variable, const SplitVariable& split, bool wanted) {
  auto format = set_.format(number);
  if (!format.ok())
    return format.status();
  const std::string& path = set_.catalog().variables[static_cast<size_t>(variable)].path;
  if (!wanted || !has_elements(split, number))
    return map_.drop_sum(*format.value(), path);
  const SumKind kind = best_sum();
  const auto sum = sum_of({map_.names().path(number), split, number}, kind, format, set_.options().buffer_bytes);
  if (!sum.ok())
    return sum.status();
  return map_.put_sum(*format.value(), path, {static_cast<int64_t>(kind), static_cast<int64_t>(sum.value())});
}

Status SetChecksums::withdraw(int64_t number, Format& format, FunctionRef<bool(const SplitVariable&)> picks) {
  if (set_.mode() != FormatMode::update || !map_.is_summed(number))
    return {};
  bool any = false;
  for (const auto& [variable, split] : map_.variables()) {
    if (!split.has_part(number) || (!picks(split) && !set_.is_changed(variable)))
      continue;
    any = any || picks(split);
    if (Status status = map_.drop_sum(format, split.path); !status.ok())
      return status;
  }
  if (!any)
    return {};
  Status status = map_.refuse_others();
  if (status.ok())
    status = map_.finish_format(number, format);
  return status.ok() ? format.flush() : status;
}

Status SetChecksums::compare(std::vector<int64_t>& found) {
  Status local = guard([&] {
    size_t length = 0;
    for (const auto& [variable, split] : map_.variables())
      length += split.offsets.size();
    found.assign(length, k_equal);
    return Status{};
  });
  if (Status verdict = agree(set_.comm(), std::move(local)); !verdict.ok())
    return verdict;
  local = guard([&] { return compare_own(found); });
  return agree(set_.comm(), std::move(local), Reduction{.maximum = found, .sum = {}, .bits = {}});
}

// Local.
Status SetChecksums::compare_own(std::span<int64_t> found) {
  for (int64_t number = 0; number < map_.used(); ++number) {
    if (!set_.is_own(number) || !map_.is_summed(number) || !map_.fault_of(number).ok())
      continue;
    const auto sums = map_.sums(number, set_.catalog());
    if (sums.status().code() == Code::out_of_memory)
      return sums.status();
    size_t begin = 0;  // index of the first part of the variable
    for (const auto& [variable, split] : map_.variables()) {
      const size_t own = begin + static_cast<size_t>(number);
      begin += split.offsets.size();
      if (!split.has_part(number) || !has_elements(split, number))
        continue;
      if (!sums.ok()) {
        found[own] = k_unreadable;
        continue;
      }
      const auto expected = sums.value().find(variable);
      if (expected == sums.value().end() || set_.is_changed(variable))
        continue;
      const auto compared = compare_part(number, split, expected->second);
      if (!compared.ok())
        return compared.status();
      found[own] = compared.value();
    }
  }
  return {};
}

// Local. Returns the finding of a part. out_of_memory if it could not be compared.
Result<int64_t> SetChecksums::compare_part(int64_t number, const SplitVariable& split,
                                           const Subfiles::PartSum& expected) {
  const auto kind = static_cast<SumKind>(expected.sum[0]);
  if (!has_sum(kind))
    return k_equal;
  const Result<Format*> format = split.is_chunked() ? set_.format(number) : Result<Format*>(nullptr);
  if (format.status().code() == Code::out_of_memory)
    return format.status();
  SplitVariable summed = split;
  summed.records = expected.records;
  const auto sum = sum_of({map_.names().path(number), summed, number}, kind, format, set_.options().buffer_bytes);
  if (sum.status().code() == Code::out_of_memory)
    return sum.status();
  if (!sum.ok())
    return k_unreadable;
  return static_cast<int64_t>(sum.value()) == expected.sum[1] ? k_equal : k_different;
}

std::string SetChecksums::describe(std::span<const int64_t> found) const {
  std::string lines;
  size_t at = 0;
  for (const auto& [variable, split] : map_.variables())
    for (int64_t part = 0; part < split.split.parts(); ++part) {
      const int64_t finding = at < found.size() ? found[at] : k_equal;
      ++at;
      if (finding != k_equal)
        lines += fmt::format("subfile \"{}\": the elements of \"{}\" {}\n", map_.relative_name(part),
                             set_.catalog().variables[static_cast<size_t>(variable)].path,
                             finding == k_different ? "do not match their checksum" : "cannot be read");
    }
  return lines;
}

}  // namespace windrow
