// SPDX-License-Identifier: BSD-3-Clause
// Direct access: each rank moves data between its own memory and the file.
#include <array>

#include "dataio/data_file.hpp"

namespace windrow {
namespace {

// The largest number of pieces that one vectored call supports everywhere, and the largest call on Linux in bytes.
constexpr size_t k_slices = 1024;
constexpr int64_t k_request_bytes = int64_t{1} << 30;

// Collects pieces that are contiguous in the file into vectored requests: issue(offset, slices).
template <class SliceType, class Issue>
class Batch {
 public:
  explicit Batch(Issue issue) : issue_(std::move(issue)) {}
  void add(int64_t file, decltype(SliceType::data) memory, int64_t length) {
    if (count_ > 0 && (file != offset_ + bytes_ || count_ == k_slices || bytes_ + length > k_request_bytes))
      flush();
    if (count_ == 0)
      offset_ = file;
    slices_[count_++] = {memory, length};
    bytes_ += length;
  }
  void flush() {
    if (count_ > 0)
      issue_(offset_, std::span<const SliceType>(slices_.data(), count_));
    count_ = 0;
    bytes_ = 0;
  }

 private:
  Issue issue_;
  std::array<SliceType, k_slices> slices_;
  size_t count_ = 0;
  int64_t offset_ = 0, bytes_ = 0;
};

constexpr Extent k_everywhere{0, INT64_MAX / 4};

// The contiguous ranges of one item, in parts of at most `bytes`.
template <class Visit>
void for_each_contiguous(const Item& item, int64_t bytes, Visit&& visit) {
  Extent contiguous;
  const auto emit = [&] {
    for (int64_t at = contiguous.begin; at < contiguous.end; at += bytes)
      visit(Extent{at, std::min(at + bytes, contiguous.end)});
  };
  for_each_in(std::span(&item, 1), k_everywhere, [&](const Item&, int64_t, int64_t file, int64_t length) {
    if (file != contiguous.end || contiguous.empty()) {
      emit();
      contiguous = {file, file};
    }
    contiguous.end = file + length;
  });
  emit();
}

Extent hull_of(std::span<const Item> items) {
  Extent all = items.front().hull;
  for (const Item& item : items)
    all = {std::min(all.begin, item.hull.begin), std::max(all.end, item.hull.end)};
  return all;
}

void write_each(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace) {
  for (const Item& item : items) {
    if (item.swap_bytes > 1) {
      for_each_contiguous(item, static_cast<int64_t>(bounce.size()), [&](Extent part) {
        trace.bytes_copied += place_in_slot(std::span(&item, 1), part, bounce.data());
        file.write(part.begin, bounce.first(static_cast<size_t>(part.size())));
      });
      continue;
    }
    const auto issue = [&](int64_t offset, std::span<const ConstSlice> slices) { file.write(offset, slices); };
    Batch<ConstSlice, decltype(issue)> batch(issue);
    for_each_in(std::span(&item, 1), k_everywhere, [&](const Item& i, int64_t memory, int64_t at, int64_t length) {
      batch.add(at, i.memory + memory, length);
    });
    batch.flush();
    trace.direct_bytes += item.total;
  }
}

}  // namespace

void write_direct(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace, bool shares) {
  const StageTimer timer(trace, Stage::storage);
  if (!shares || items.empty())
    return write_each(items, file, bounce, trace);
  // One lock for all: two calls of fcntl() a piece would cost more than the other pieces' writers lose by waiting.
  file.write_while_shared(hull_of(items), [&] { write_each(items, file, bounce, trace); });
}

void read_direct(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace) {
  const StageTimer timer(trace, Stage::storage);
  for (const Item& item : items) {
    if (item.swap_bytes > 1) {
      for_each_contiguous(item, static_cast<int64_t>(bounce.size()), [&](Extent part) {
        file.read(part.begin, bounce.first(static_cast<size_t>(part.size())));
        trace.bytes_copied += take_from_slot(std::span(&item, 1), part, bounce.data());
      });
      continue;
    }
    const auto issue = [&](int64_t offset, std::span<const Slice> slices) { file.read(offset, slices); };
    Batch<Slice, decltype(issue)> batch(issue);
    for_each_in(std::span(&item, 1), k_everywhere, [&](const Item& i, int64_t memory, int64_t at, int64_t length) {
      batch.add(at, i.memory + memory, length);
    });
    batch.flush();
    trace.direct_bytes += item.total;
  }
}

void read_mapped(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace) {
  if (items.empty())
    return;
  const Extent all = hull_of(items);
  const std::byte* bytes = file.map(all);
  if (bytes == nullptr)
    return read_direct(items, file, bounce, trace);
  const StageTimer timer(trace, Stage::storage);
  const int64_t copied = take_from_slot(items, all, bytes);
  trace.bytes_copied += copied;
  trace.bytes_mapped += copied;
  file.unmap();
}

int64_t direct_requests(std::span<const Item> items, int64_t bounce_bytes) {
  int64_t requests = 0;
  for (const Item& item : items) {
    if (item.swap_bytes > 1) {
      for_each_contiguous(item, bounce_bytes, [&](Extent) { ++requests; });
      continue;
    }
    const auto count = [&](int64_t, std::span<const ConstSlice>) { ++requests; };
    Batch<ConstSlice, decltype(count)> batch(count);
    for_each_in(std::span(&item, 1), k_everywhere, [&](const Item& i, int64_t memory, int64_t at, int64_t length) {
      batch.add(at, i.memory + memory, length);
    });
    batch.flush();
  }
  return requests;
}

}  // namespace windrow
