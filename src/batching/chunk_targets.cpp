// SPDX-License-Identifier: BSD-3-Clause
#include "batching/chunk_targets.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked.hpp"
#include "base/varint.hpp"
#include "comm/sparse.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_chunks = 65536;  // each takes about 60 bytes of the plan on every rank

Status malformed_targets() {
  return {Code::internal, "internal error: malformed message about the targets of a file"};
}

// The target of the middle of a chunk, as a number for a message: 0 if the chunk has no place, an odd number for a
// target, an even number for a column of stripes whose target is unknown.
uint64_t word_of(const StorageLayout& layout, const ChunkPlace& place) noexcept {
  if (place.offset < 0 || place.bytes < 0 || place.offset > k_no_end - place.bytes)
    return 0;
  const Stripe stripe = stripe_at(layout, place.offset + place.bytes / 2);
  return stripe.target != k_no_target ? 2 * static_cast<uint64_t>(stripe.target) + 1
                                      : 2 * static_cast<uint64_t>(stripe.column + 2);
}

// The chunks of which this rank moves elements, in ascending order. `bytes`: the size of a chunk.
std::vector<int64_t> chunks_of(const VariableBatch& batch, int64_t bytes) {
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

// Numbers the targets of files in the order of their stripes. Two files have no number in common, because their locks
// are different.
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
  }  // 0 if the targets of some files are not known

 private:
  std::map<std::pair<int64_t, uint64_t>, int64_t> numbers_;
  bool complete_ = true;
};

// The linear chunk space as a layout of stripes, each on one target. Each region has its own period, so that only
// chunks that move are listed. A chunk that was never written and is only read needs no request; it gets the target of
// the chunk before it.
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

// The chunks whose index this rank has and of which any rank moves elements, in ascending order.
Status ChunkTargetFinder::find_moved(const VariableBatch& batch, std::vector<int64_t>& moved, Status local) {
  std::vector<SparseMessage> out, in;
  MessageCounters counters;
  if (local.ok())
    local = guard([&] {
      const std::vector<int64_t> own = chunks_of(batch, layout_.chunk_bytes());
      layout_.for_each_root(
          own.size(), [&](size_t i) { return own[i]; },
          [&](int root, size_t first, size_t count) {
            out.push_back({root, numbers_as_message(std::span(own).subspan(first, count))});
          });
      return Status{};
    });
  local = sparse_exchange(file_.comm, std::move(local), out, in, counters);
  if (!local.ok())
    return local;
  return guard([&]() -> Status {
    for (const SparseMessage& message : in) {
      int64_t chunk = 0;
      for (size_t position = 0; position < message.bytes.size();) {
        const auto step = read_varint(message.bytes, position);
        if (!step || *step >= static_cast<uint64_t>(layout_.count() - chunk))
          return malformed_targets();
        moved.push_back(chunk += static_cast<int64_t>(*step));
      }
    }
    std::sort(moved.begin(), moved.end());
    return Status{};
  });
}

// Local. Appends the targets of the chunks of these regions whose index this rank has, in their order. Chunks that will
// be written for the first time are allocated, so that the plan knows their addresses. For a plan that is only
// explained nothing is allocated: new chunks are assumed to be contiguous. A chunk that cannot be found is treated as
// one without a place: perhaps no rank moves it, and a rank that does gets the error.
Status ChunkTargetFinder::append_own(std::span<const Extent> regions, std::span<const int64_t> moved,
                                     std::vector<std::byte>& message) {
  const int64_t bytes = layout_.chunk_bytes();
  const ChunkPart* before = nullptr;
  int64_t guessed_offset = 0;
  for (const Extent& region : regions)
    for (int64_t chunk = region.begin / bytes; chunk * bytes < region.end; ++chunk) {
      const ChunkPart& part = layout_.part_of(chunk);
      if (part.root != file_.comm.rank())
        continue;
      if (std::exchange(before, &part) != &part)
        guessed_offset = 0;
      const auto first = part.grid.first_element(chunk - part.first);
      const auto format = format_of_(part);
      const auto found =
          format.ok() ? format.value()->find_chunk(layout_.path, first) : Result<ChunkPlace>(format.status());
      ChunkPlace place = found.ok() ? found.value() : ChunkPlace{};
      // Records that are only explained are not in the file, so their chunks cannot be found.
      const bool is_new = (found.ok() || file_.is_explained) && place.offset < 0 &&
                          std::binary_search(moved.begin(), moved.end(), chunk);
      if (is_new && file_.is_explained) {
        place = {.offset = guessed_offset, .bytes = bytes};
        guessed_offset += bytes;
      } else if (is_new) {
        reserved_.push_back(chunk);
        const auto reserved = format.value()->reserve_chunk(layout_.path, first, bytes);
        if (!reserved.ok()) {
          reserved_.pop_back();
          return reserved.status();
        }
        place = {.offset = reserved.value(), .bytes = bytes};
      }
      append_varint(message, 2 * word_of(stripes_of(part), place) + (is_new && file_.is_explained ? 1 : 0));
    }
  return {};
}

void ChunkTargetFinder::fill_reserved() noexcept {
  if (reserved_.empty())
    return;
  (void)guard([&] {
    std::vector<std::byte> unwritten(static_cast<size_t>(layout_.chunk_bytes()));
    layout_.fill(unwritten);
    for (const int64_t chunk : reserved_) {
      const ChunkPart& part = layout_.part_of(chunk);
      const auto format = format_of_(part);
      if (!format.ok())
        continue;
      const auto first = part.grid.first_element(chunk - part.first);
      const auto placed = format.value()->place_chunk(layout_.path, first, layout_.chunk_bytes(), false);
      if (placed.ok() && placed.value().is_new)
        (void)format.value()->fill_chunk(layout_.path, first, unwritten);
    }
    return Status{};
  });
}

// Whether the targets can be found. The same on all ranks. If not, `found` has the reason.
bool ChunkTargetFinder::is_possible(const VariableBatch& batch, const BatchSummary& summary,
                                    ChunkTargets& found) const {
  const auto is_filtered = [](const ChunkPart& part) { return !part.chunking.filters.empty(); };
  if (!batch.reading && std::any_of(layout_.parts.begin(), layout_.parts.end(), is_filtered))
    found.why = "places of filtered chunks are known only after encoding";
  else if (layout_.is_split() && !file_.set.layouts().line())
    found.why = "the targets of the bytes are unknown";
  else if (chunks_in_regions(layout_, summary.hull, summary.records) > k_most_chunks)
    found.why = "too many chunks for a plan to list";
  else
    return true;
  return false;
}

Status ChunkTargetFinder::find(const VariableBatch& batch, const BatchSummary& summary, ChunkTargets& found,
                               Status local) {
  if (!is_possible(batch, summary, found))
    return local;
  std::vector<Extent> regions;
  std::vector<int64_t> moved;
  std::vector<std::byte> own, all;
  if (!batch.reading)
    local = find_moved(batch, moved, std::move(local));
  if (local.ok())
    local = guard([&] {
      regions = regions_of(layout_, summary.hull, summary.records);
      return append_own(regions, moved, own);
    });
  local = gather_to_all(file_.comm, std::move(local), std::move(own), all);
  if (!local.ok() || regions.empty())
    return local;
  return guard([&] {
    TargetNumbers targets;
    for (const ChunkPart& part : layout_.parts)
      targets.add_all(part.number, stripes_of(part));
    return lay_out_chunks(layout_, regions, all, targets, found);
  });
}

}  // namespace windrow
