// SPDX-License-Identifier: BSD-3-Clause
// On which targets the chunks of a variable lie, where domains are to be dealt by target.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "planning/batch_summary.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_chunks = 65536;  // some 60 bytes of a plan for each, on every rank

Status malformed_targets() {
  return {Code::internal, "internal error: malformed message about the targets of a file"};
}

// Where most of a chunk lies, as a number: 0 where it has no place, an odd one for a target, an even one for a column
// of stripes whose target nobody knows.
uint64_t word_of(const StorageLayout& layout, const ChunkPlace& place) noexcept {
  if (place.offset < 0 || place.bytes < 0 || place.offset > k_no_end - place.bytes)
    return 0;
  const Stripe stripe = stripe_at(layout, place.offset + place.bytes / 2);
  return stripe.target != k_no_target ? 2 * static_cast<uint64_t>(stripe.target) + 1
                                      : 2 * static_cast<uint64_t>(stripe.column + 2);
}

// The chunks that this rank's pieces lie in, ascending.
std::vector<int64_t> chunks_of(const VariableBatch& batch) {
  const int64_t bytes = batch.layout->chunk_bytes();
  std::vector<int64_t> chunks;
  for (const Item& item : batch.items)
    for (int64_t offset = item.hull.begin; offset < item.hull.end;) {
      chunks.push_back(offset / bytes);
      offset = (chunks.back() + 1) * bytes;
      if (offset < item.hull.end)
        offset = next_offset(item.runs, offset - item.file_base) + item.file_base;
    }
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

}  // namespace

// Of the chunks whose index this rank has those that any rank's pieces lie in, ascending.
Status File::know_touched_chunks(const VariableBatch& batch, std::vector<int64_t>& touched, Status local) {
  const ChunkLayout& layout = *batch.layout;
  std::vector<SparseMessage> out, in;
  MessageCounters counters;
  if (local.ok())
    local = guard([&] {
      const std::vector<int64_t> own = chunks_of(batch);
      layout.for_each_root(
          own.size(), [&](size_t i) { return own[i]; },
          [&](int root, size_t first, size_t count) {
            out.push_back({root, numbers_as_message(std::span(own).subspan(first, count))});
          });
      return Status{};
    });
  local = sparse_exchange(*comm_, std::move(local), out, in, counters);
  if (!local.ok())
    return local;
  return guard([&]() -> Status {
    for (const SparseMessage& message : in) {
      int64_t chunk = 0;
      for (size_t position = 0; position < message.bytes.size();) {
        const auto step = read_varint(message.bytes, position);
        if (!step || *step >= static_cast<uint64_t>(layout.count() - chunk))
          return malformed_targets();
        touched.push_back(chunk += static_cast<int64_t>(*step));
      }
    }
    std::sort(touched.begin(), touched.end());
    return Status{};
  });
}

// Of the chunks of these regions whose index this rank has, in their order. Those that are to be written for the first
// time get room now, so that the plan knows their places. A plan that is only explained gives no room: it takes them to
// lie one behind the other. A chunk that cannot be found is as if it had no place: nobody may want it, and who does
// gets the error.
Status File::tell_own_chunks(const VariableBatch& batch, std::span<const Extent> regions,
                             std::span<const int64_t> touched, std::vector<std::byte>& message) {
  const ChunkLayout& layout = *batch.layout;
  const int64_t bytes = layout.chunk_bytes();
  const ChunkPart* before = nullptr;
  int64_t guessed_offset = 0;
  for (const Extent& region : regions)
    for (int64_t chunk = region.begin / bytes; chunk * bytes < region.end; ++chunk) {
      const ChunkPart& part = layout.part_of(chunk);
      if (part.root != comm_->rank())
        continue;
      if (std::exchange(before, &part) != &part)
        guessed_offset = 0;
      const auto first = part.grid.first_element(chunk - part.first);
      const auto format = format_of(part);
      const auto found =
          format.ok() ? format.value()->find_chunk(layout.path, first) : Result<ChunkPlace>(format.status());
      ChunkPlace place = found.ok() ? found.value() : ChunkPlace{};
      const bool is_new = found.ok() && place.offset < 0 && std::binary_search(touched.begin(), touched.end(), chunk);
      if (is_new && batch.is_explained) {
        place = {.offset = guessed_offset, .bytes = bytes};
        guessed_offset += bytes;
      } else if (is_new) {
        reserved_chunks_.push_back(chunk);
        const auto reserved = format.value()->reserve_chunk(layout.path, first, bytes);
        if (!reserved.ok())
          reserved_chunks_.pop_back();
        if (!reserved.ok())
          return reserved.status();
        place = {.offset = reserved.value(), .bytes = bytes};
      }
      append_varint(message, 2 * word_of(stripes_of(part), place) + (is_new && batch.is_explained ? 1 : 0));
    }
  return {};
}

void File::fill_reserved(const ChunkLayout& layout) noexcept {
  if (reserved_chunks_.empty())
    return;
  (void)guard([&] {
    std::vector<std::byte> unwritten(static_cast<size_t>(layout.chunk_bytes()));
    layout.fill(unwritten);
    for (const int64_t chunk : reserved_chunks_) {
      const ChunkPart& part = layout.part_of(chunk);
      const auto format = format_of(part);
      if (!format.ok())
        continue;
      const auto first = part.grid.first_element(chunk - part.first);
      const auto placed = format.value()->place_chunk(layout.path, first, layout.chunk_bytes(), false);
      if (placed.ok() && placed.value().is_new)
        (void)format.value()->fill_chunk(layout.path, first, unwritten);
    }
    return Status{};
  });
}

namespace {

// Targets of files, as numbers in the order in which stripes go round them: locks of two files are apart.
class TargetNumbers {
 public:
  void add_all(int64_t file, const StorageLayout& stripes) {
    if (stripes.components.size() != 1 || stripes.components.front().object_bytes > 0)
      complete_ = false;
    if (!complete_)
      return;
    const LayoutComponent& only = stripes.components.front();
    for (int64_t column = 0; column < only.stripe_count; ++column)
      (void)of(file, word_of(stripes, {.offset = column * only.stripe_bytes, .bytes = 0}));
  }
  int64_t of(int64_t file, uint64_t word) {
    return numbers_.try_emplace({file, word}, static_cast<int64_t>(numbers_.size())).first->second;
  }
  int64_t all() const noexcept {
    return complete_ ? static_cast<int64_t>(numbers_.size()) : 0;
  }  // 0: of some files they are not known beforehand

 private:
  std::map<std::pair<int64_t, uint64_t>, int64_t> numbers_;
  bool complete_ = true;
};

// The chunks' line as stripes, of which each lies on one target. Each region has a period of its own, so that only what
// moves is listed. A chunk that was never written, and is only read, costs no request: it goes with the chunk before.
Status lay_out_chunks(const ChunkLayout& layout, std::span<const Extent> regions, std::span<const std::byte> message,
                      TargetNumbers& numbers, ChunkTargets& found) {
  const int64_t bytes = layout.chunk_bytes();
  StorageLayout line{.kind = LayoutKind::mock, .components = {}};
  if (regions.front().begin > 0)
    line.components.push_back({.stripe_bytes = 1, .stripe_count = 0, .targets = {}});
  size_t position = 0;
  int64_t before = 0;
  for (const Extent& region : regions) {
    const int64_t first = region.begin / bytes, count = ceil_divide(region.end, bytes) - first;
    if (!line.components.empty())
      line.components.back().bytes.end = region.begin;
    line.components.push_back({.bytes = region,
                               .stripe_bytes = bytes,
                               .stripe_count = count,
                               .targets = std::vector<int64_t>(static_cast<size_t>(count))});
    for (int64_t chunk = first; chunk < first + count; ++chunk) {
      const auto word = read_varint(message, position);
      if (!word)
        return malformed_targets();
      found.guessed = found.guessed || *word % 2 == 1;
      if (*word / 2 != 0)
        before = numbers.of(layout.part_of(chunk).number, *word / 2);
      line.components.back().targets[static_cast<size_t>(chunk % count)] = before;
    }
  }
  if (position != message.size())
    return malformed_targets();
  line.numbered_targets = numbers.all();
  found.layout = std::make_shared<const StorageLayout>(std::move(line));
  return {};
}

}  // namespace

Status File::know_chunk_targets(const VariableBatch& batch, const BatchSummary& numbers, ChunkTargets& found,
                                Status local) {
  const ChunkLayout& layout = *batch.layout;
  const auto is_filtered = [](const ChunkPart& part) { return !part.chunking.filters.empty(); };
  if (!batch.reading && std::any_of(layout.parts.begin(), layout.parts.end(), is_filtered)) {
    found.why = "places of filtered chunks are known only after encoding";
    return local;
  }
  if (layout.is_split() && !set_.line_layout()) {
    found.why = "the targets of the bytes are unknown";
    return local;
  }
  if (chunks_in_regions(layout, numbers.hull, numbers.records) > k_most_chunks) {
    found.why = "too many chunks for a plan to list";
    return local;
  }
  std::vector<Extent> regions;
  std::vector<int64_t> touched;
  std::vector<std::byte> mine, all;
  if (!batch.reading)
    local = know_touched_chunks(batch, touched, std::move(local));
  if (local.ok())
    local = guard([&] {
      regions = regions_of(layout, numbers.hull, numbers.records);
      return tell_own_chunks(batch, regions, touched, mine);
    });
  local = gather_to_all(*comm_, std::move(local), std::move(mine), all);
  if (!local.ok() || regions.empty())
    return local;
  return guard([&] {
    TargetNumbers targets;
    for (const ChunkPart& part : layout.parts)
      targets.add_all(part.number, stripes_of(part));
    return lay_out_chunks(layout, regions, all, targets, found);
  });
}

}  // namespace windrow
