// SPDX-License-Identifier: BSD-3-Clause
// Checksums of the elements of parts: made when a set is closed and compared when it is checked, by the ranks that look
// after the subfiles.
#include <fmt/format.h>

#include <algorithm>

#include "codec/checksum.hpp"
#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

enum Finding : int64_t {
  k_sound = 0,
  k_differs = 1,
  k_unreadable = 2
};

bool has_elements(const SplitVariable& split, int64_t part) noexcept {
  const bool placed = split.offsets[static_cast<size_t>(part)] >= 0 || !split.chunk.empty();
  return placed && split.row_bytes(part) > 0 && split.records > 0;
}

// The stored bytes of a part, in pieces as its file has them: of what grows record by record, of what has chunks those
// that there are. `format`: of the file, for what has chunks; or why it cannot be opened.
template <class Visit>
Status for_each_piece(const SplitVariable& split, int64_t part, const Result<Format*>& format, Visit&& visit) {
  const int64_t begin = split.offsets[static_cast<size_t>(part)], row = split.row_bytes(part),
                stride = split.strides[static_cast<size_t>(part)];
  Status status;
  if (split.chunk.empty()) {
    if (!split.grows || stride == row)
      return visit(Extent{begin, begin + split.records * row});
    for (int64_t record = 0; record < split.records && status.ok(); ++record)
      status = visit(Extent{begin + record * stride, begin + record * stride + row});
    return status;
  }
  if (!format.ok())
    return format.status();
  const auto chunking = split.chunking(part);
  if (!chunking.ok())
    return chunking.status();
  const std::vector<int64_t> shape = split.shape(part);
  std::vector<int64_t> first(shape.size());
  for (bool more = true; more && status.ok();) {
    const auto place = format.value()->find_chunk(split.path, first);
    if (!place.ok())
      return place.status();
    if (place.value().offset > INT64_MAX - place.value().bytes)
      return {Code::bad_file, fmt::format("\"{}\": a chunk of it lies at offset {}", split.path, place.value().offset)};
    if (place.value().offset >= 0)
      status = visit(Extent{place.value().offset, place.value().offset + place.value().bytes});
    more = false;
    for (size_t i = first.size(); i-- > 0 && !more;) {
      first[i] += chunking.value().shape[i];
      more = first[i] < shape[i];
      if (!more)
        first[i] = 0;
    }
  }
  return status;
}

// Of a part's bytes, one behind the other.
Result<uint64_t> sum_of(const std::string& path, SumKind kind, const SplitVariable& split, int64_t part,
                        const Result<Format*>& format, int64_t buffer_bytes) {
  auto store = open_store(path, StoreMode::read, {});
  if (!store.ok())
    return store.status();
  constexpr int64_t k_unit = 16;  // that a sum takes its bytes in
  const int64_t wanted = std::min(buffer_bytes - k_unit, split.records * split.row_bytes(part));
  std::vector<std::byte> buffer(static_cast<size_t>(round_down(std::max<int64_t>(0, wanted), k_unit) + k_unit));
  ElementSum sum(kind);
  size_t held = 0;
  Status status = for_each_piece(split, part, format, [&](Extent piece) {
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
  });
  if (held > 0)
    sum.add(std::span(buffer).first(held));
  status.update(store.value()->close());
  if (!status.ok())
    return status;
  return sum.sum();
}

}  // namespace

// Local: of the changed parts in the subfiles that this rank looks after. `ends`: no rank writes any more, so that
// there is something to sum up; else, and where it is not asked for, what there was goes.
Status File::renew_sums(bool ends) {
  const bool wanted = ends && settings_.boolean("checksum");
  for (int64_t number = 0; number < subfiles_->used(); ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank())
      continue;
    if (!wanted && !subfiles_->is_summed(number))
      continue;
    for (const auto& [variable, split] : subfiles_->variables()) {
      if (number >= split.split.parts() || !write_state_[static_cast<size_t>(variable)].changed)
        continue;
      auto format = subfiles_->format(number, mode_ == Mode::create ? FormatMode::create : FormatMode::update);
      if (!format.ok())
        return format.status();
      const std::string& path = catalog_.variables[static_cast<size_t>(variable)].path;
      Status status;
      if (wanted && has_elements(split, number)) {
        const auto sum =
            sum_of(subfiles_->names().path(number), best_sum(), split, number, format, planner_.limits().buffer_bytes);
        status = sum.ok() ? subfiles_->put_sum(*format.value(), path,
                                               {static_cast<int64_t>(best_sum()), static_cast<int64_t>(sum.value())})
                          : sum.status();
      } else {
        status = subfiles_->drop_sum(*format.value(), path);
      }
      if (!status.ok())
        return status;
    }
  }
  return {};
}

// Local: of a subfile that this rank looks after, before its bytes change in places that a reader of the sum takes for
// what was summed up. What else has changed in it comes into the file as well.
Status File::withdraw_sums(int64_t number, Format& format, const std::function<bool(const SplitVariable&)>& picks) {
  if (mode_ != Mode::update || !subfiles_->is_summed(number))
    return {};
  bool any = false;
  for (const auto& [variable, split] : subfiles_->variables()) {
    if (number >= split.split.parts() || (!picks(split) && !write_state_[static_cast<size_t>(variable)].changed))
      continue;
    any = any || picks(split);
    if (Status status = subfiles_->drop_sum(format, split.path); !status.ok())
      return status;
  }
  if (!any)
    return {};
  Status status = subfiles_->finish_format(number, format);
  return status.ok() ? format.flush() : status;
}

// Collective. `found`: for each part of each split variable what is wrong with its elements, the same on every rank.
Status File::compare_sums(std::vector<int64_t>& found) {
  Status local = guard([&] {
    size_t length = 0;
    for (const auto& [variable, split] : subfiles_->variables())
      length += split.offsets.size();
    found.assign(length, k_sound);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  local = guard([&]() -> Status {
    for (int64_t number = 0; number < subfiles_->used(); ++number) {
      if (subfiles_->owner_of(number, comm_->size()) != comm_->rank() || !subfiles_->is_summed(number) ||
          !subfiles_->fault_of(number).ok())
        continue;
      auto read = subfiles_->sums(number, catalog_);
      if (read.status().code() == Code::out_of_memory)
        return read.status();
      const auto sums = read.ok() ? read.value() : std::map<int, Subfiles::PartSum>();
      size_t at = static_cast<size_t>(number);
      for (const auto& [variable, split] : subfiles_->variables()) {
        const bool has_some = number < split.split.parts() && has_elements(split, number);
        const auto told = sums.find(variable);
        if (has_some && !read.ok())
          found[at] = k_unreadable;
        if (has_some && told != sums.end() && !write_state_[static_cast<size_t>(variable)].changed &&
            has_sum(static_cast<SumKind>(told->second.sum[0]))) {
          const Result<Format*> format =
              split.chunk.empty()
                  ? Result<Format*>(nullptr)
                  : subfiles_->format(number, mode_ == Mode::read ? FormatMode::read : FormatMode::update);
          if (format.status().code() == Code::out_of_memory)
            return format.status();
          SplitVariable summed = split;
          summed.records = told->second.records;
          const auto sum = sum_of(subfiles_->names().path(number), static_cast<SumKind>(told->second.sum[0]), summed,
                                  number, format, planner_.limits().buffer_bytes);
          if (sum.status().code() == Code::out_of_memory)
            return sum.status();
          found[at] = !sum.ok()                                                  ? k_unreadable
                      : static_cast<int64_t>(sum.value()) == told->second.sum[1] ? k_sound
                                                                                 : k_differs;
        }
        at += split.offsets.size();
      }
    }
    return {};
  });
  return agree(*comm_, std::move(local), Reduction{.maximum = found, .sum = {}, .bits = {}});
}

// What compare_sums() has found, one a line.
std::string File::lines_of_sums(std::span<const int64_t> found) const {
  std::string lines;
  size_t at = 0;
  for (const auto& [variable, split] : subfiles_->variables())
    for (int64_t part = 0; part < split.split.parts(); ++part) {
      const int64_t finding = at < found.size() ? found[at] : k_sound;
      ++at;
      if (finding != k_sound)
        lines += fmt::format("subfile \"{}\": the elements of \"{}\" {}\n", subfiles_->relative_name(part),
                             catalog_.variables[static_cast<size_t>(variable)].path,
                             finding == k_differs ? "do not match their checksum" : "cannot be read");
    }
  return lines;
}

}  // namespace windrow
