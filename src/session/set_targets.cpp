// SPDX-License-Identifier: BSD-3-Clause
// On which targets the files of a set and the chunks of a variable lie, where domains are to be dealt by target.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "layout/line.hpp"
#include "planning/wave_numbers.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_files = 1024;    // a deal looks at each
constexpr int64_t k_most_chunks = 65536;  // a plan would be mostly their list

Status malformed_targets() { return {Code::internal, "the message about the targets of a file is malformed"}; }

// Collective: what the ranks have to say, one after the other, to all of them. The status is this rank's own.
Status gather_to_all(Comm& comm, Status local, std::vector<std::byte> mine, std::vector<std::byte>& all) {
  std::vector<Letter> out, in;
  LetterCounters counters;
  if (local.ok()) local = guard([&] {
    if (!mine.empty()) out.push_back({0, std::move(mine)});
    return Status{};
  });
  local = exchange_letters(comm, std::move(local), out, in, counters);
  if (local.ok() && comm.rank() == 0) local = guard([&] {
    for (const Letter& letter : in) all.insert(all.end(), letter.bytes.begin(), letter.bytes.end());
    return Status{};
  });
  return share_from_root(comm, std::move(local), all);
}

// Where most of a chunk lies, as a number: 0 where it has no place, an odd one for a target, an even one for a column of stripes whose target nobody knows.
uint64_t word_of(const StorageLayout& layout, const ChunkPlace& place) noexcept {
  if (place.offset < 0 || place.bytes < 0 || place.offset > k_no_end - place.bytes) return 0;
  const Stripe stripe = stripe_at(layout, place.offset + place.bytes / 2);
  return stripe.target != k_no_target ? 2 * static_cast<uint64_t>(stripe.target) + 1 : 2 * static_cast<uint64_t>(stripe.column + 2);
}

}  // namespace

// Each subfile is asked for its stripes once, by the rank that looks after it.
Status File::know_line_layout(Status local) {
  const int64_t used = subfiles_->used(), known = std::min<int64_t>(used, static_cast<int64_t>(subfile_layouts_.size()));
  if (used > k_most_files) {
    line_layout_ = nullptr;
    return local;
  }
  if (known < used) {
    std::vector<std::byte> mine, all;
    if (local.ok()) local = guard([&] {
      for (int64_t number = known; number < used; ++number)
        if (subfiles_->owner_of(number, comm_->size()) == comm_->rank()) append_layout(mine, find_striping(striping_options_, subfiles_->names().path(number)).layout);
      return Status{};
    });
    local = gather_to_all(*comm_, std::move(local), std::move(mine), all);
    std::vector<StorageLayout> found;
    if (local.ok()) local = guard([&]() -> Status {
      found = subfile_layouts_;
      found.resize(static_cast<size_t>(known));
      size_t position = 0;
      for (int64_t number = known; number < used; ++number) {
        auto layout = read_layout(all, position);
        if (!layout.ok()) return layout.status();
        found.push_back(std::move(layout).value());
      }
      return position == all.size() ? Status{} : malformed_targets();
    });
    if (local.ok()) subfile_layouts_ = std::move(found);
  }
  if (local.ok()) local = guard([&] {
    std::vector<StorageLayout> files{striping_.layout};
    files.insert(files.end(), subfile_layouts_.begin(), subfile_layouts_.begin() + static_cast<std::ptrdiff_t>(used));
    auto line = layout_of_line(files, FileLine::k_begin, subfiles_->line().room);
    line_layout_ = line ? std::make_shared<const StorageLayout>(std::move(*line)) : nullptr;
    data_->tally_line_by(line_layout_);
    return Status{};
  });
  // All ranks know them, or none, and the next plan asks again: what follows is done by all or by none.
  Status verdict = agree(*comm_, std::move(local));
  if (!verdict.ok()) subfile_layouts_.clear();
  return verdict;
}

// Of the chunks of these regions whose index this rank has, in their order. What cannot be found is as if it had no place: nobody may want it, and who does
// hears why.
Status File::tell_own_chunks(const ChunkLayout& layout, std::span<const Extent> regions, std::vector<std::byte>& letter) {
  const int64_t bytes = layout.chunk_bytes();
  for (const Extent& region : regions)
    for (int64_t chunk = region.begin / bytes; chunk * bytes < region.end; ++chunk) {
      const ChunkPart& part = layout.part_of(chunk);
      if (part.root != comm_->rank()) continue;
      const auto format = format_of(part);
      const auto place = format.ok() ? format.value()->find_chunk(layout.path, part.grid.first_element(chunk - part.first)) : Result<ChunkPlace>(format.status());
      const StorageLayout& stripes = part.number < 0 ? striping_.layout : subfile_layouts_[static_cast<size_t>(part.number)];
      append_varint(letter, place.ok() ? word_of(stripes, place.value()) : 0);
    }
  return {};
}

namespace {

// The chunks' line as objects, of which each lies on one target. A number stands for a target of a file: locks of two files are apart. What was never written,
// and is only read, costs no request: it goes with the chunk before.
Status lay_out_chunks(const ChunkLayout& layout, std::span<const Extent> regions, std::span<const std::byte> letter, bool reading, ChunkTargets& found) {
  const int64_t bytes = layout.chunk_bytes();
  std::map<std::pair<int64_t, uint64_t>, int64_t> numbers;
  LayoutComponent component{.stripe_bytes = bytes, .stripe_count = 1, .object_bytes = bytes, .targets = {}};
  component.targets.resize(static_cast<size_t>(regions.back().end / bytes), 0);
  size_t position = 0;
  int64_t before = 0, unplaced = 0;
  for (const Extent& region : regions)
    for (int64_t chunk = region.begin / bytes; chunk * bytes < region.end; ++chunk) {
      const auto word = read_varint(letter, position);
      if (!word) return malformed_targets();
      if (*word == 0) ++unplaced;
      else before = numbers.try_emplace({layout.part_of(chunk).number, *word}, static_cast<int64_t>(numbers.size())).first->second;
      component.targets[static_cast<size_t>(chunk)] = before;
    }
  if (position != letter.size()) return malformed_targets();
  found.places_chunks = unplaced > 0 && !reading;
  if (found.places_chunks)
    found.why = "some of these chunks are new, and where they lie is known once they are written";
  else
    found.layout = std::make_shared<const StorageLayout>(StorageLayout{.kind = LayoutKind::mock, .components = {std::move(component)}});
  return {};
}

}  // namespace

Status File::know_chunk_targets(const Wave& wave, const WaveNumbers& numbers, ChunkTargets& found, Status local) {
  const ChunkLayout& layout = *wave.layout;
  const auto is_filtered = [](const ChunkPart& part) { return !part.chunking.filters.empty(); };
  if (!wave.reading && std::any_of(layout.parts.begin(), layout.parts.end(), is_filtered)) {
    found.why = "where chunks with filters lie is known once they are encoded";
    return local;
  }
  if (layout.is_split() && !line_layout_) {
    found.why = "nobody says which bytes lie on which target";
    return local;
  }
  if (layout.count() > k_most_chunks) {
    found.why = "there are more chunks than a plan can list";
    return local;
  }
  std::vector<Extent> regions;
  std::vector<std::byte> mine, all;
  if (local.ok()) local = guard([&] {
    regions = regions_of(layout, numbers.hull, numbers.records);
    return tell_own_chunks(layout, regions, mine);
  });
  local = gather_to_all(*comm_, std::move(local), std::move(mine), all);
  if (!local.ok() || regions.empty()) return local;
  return guard([&] { return lay_out_chunks(layout, regions, all, wave.reading, found); });
}

}  // namespace windrow
