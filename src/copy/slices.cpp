// SPDX-License-Identifier: BSD-3-Clause
#include "copy/slices.hpp"

#include <algorithm>
#include <limits>

namespace copying {

namespace {

constexpr int64_t k_alignment = 8;      // alignment of the largest element type
constexpr size_t k_most_pieces = 4096;  // limits the overhead of a batch

// strides[d]: elements under one index of dimension d.
std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace

int64_t element_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t elements_to_move(const Item& item) {
  if (!item.is_partial)
    return element_count(item.shape);
  int64_t count = 0;
  for (const auto& [first, elements] : item.ranges)
    count += elements;
  return count;
}

namespace {

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

Ranges joined(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges all;
  for (const auto& [first, count] : ranges) {
    if (!all.empty() && all.back().first + all.back().second >= first)
      all.back().second = std::max(all.back().second, first + count - all.back().first);
    else
      all.emplace_back(first, count);
  }
  return all;
}

// What each chunk has along dimension `level`, for each of its indexes of earlier dimensions; later ones are whole.
Ranges ranges_at(size_t level, const std::vector<int64_t>& shape, const std::vector<int64_t>& chunk,
                 std::span<const int64_t> starts) {
  const std::vector<int64_t> strides = strides_of(shape);
  Ranges ranges;
  for (; starts.size() >= shape.size(); starts = starts.subspan(shape.size())) {
    const auto extent = [&](size_t d) { return std::min(chunk[d], shape[d] - starts[d]); };
    int64_t rows = 1;
    for (size_t d = 0; d < level; ++d)
      rows *= extent(d);
    if (extent(level) <= 0)
      continue;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t first = starts[level] * strides[level], left = row;
      for (size_t d = level; d-- > 0; left /= extent(d))
        first += (starts[d] + left % extent(d)) * strides[d];
      ranges.emplace_back(first, extent(level) * strides[level]);
    }
  }
  return joined(std::move(ranges));
}

}  // namespace

std::vector<std::pair<int64_t, int64_t>> ranges_of_chunks(const std::vector<int64_t>& shape,
                                                          const std::vector<int64_t>& chunk,
                                                          std::span<const int64_t> starts) {
  constexpr int64_t k_range_cost = int64_t{1} << 16;   // in elements: what a range takes besides them
  constexpr int64_t k_most_ranges = int64_t{1} << 20;  // to be listed
  const int64_t chunks = std::max<int64_t>(std::ssize(starts) / std::max<int64_t>(std::ssize(shape), 1), 1);
  const int64_t most_rows = std::max<int64_t>(k_most_ranges / chunks, 1);
  Ranges best;
  int64_t least = std::numeric_limits<int64_t>::max(), rows = 1;
  for (size_t level = 0; level < shape.size() && rows <= most_rows; ++level) {
    Ranges ranges = ranges_at(level, shape, chunk, starts);
    int64_t cost = std::ssize(ranges) * k_range_cost;
    for (const auto& [first, count] : ranges)
      cost += count;
    if (cost < least)
      least = cost, best = std::move(ranges);
    rows *= std::min(chunk[level], shape[level]);
  }
  return best;
}

Share share_of(const Item& item, const Piece& piece, int rank, int ranks) {
  if (item.shape.empty())
    return {0, 1};
  const int64_t each = piece.count / ranks;
  const int64_t more = piece.count % ranks;
  return {piece.first + rank * each + std::min<int64_t>(rank, more), each + (rank < more ? 1 : 0)};
}

int64_t aligned(int64_t bytes) noexcept {
  return (bytes + k_alignment - 1) / k_alignment * k_alignment;
}

int64_t share_bytes(const Item& item, const Piece& piece, int rank, int ranks) {
  return aligned(share_of(item, piece, rank, ranks).count * item.element_bytes);
}

Slicer::Slicer(const std::vector<Item>& items, int ranks, int64_t buffer_bytes)
    : items_(items), ranks_(ranks), buffer_bytes_(std::max(buffer_bytes / k_alignment, int64_t{1}) * k_alignment) {}

// The next piece that fits into `room` bytes of rank 0's buffer, if any.
std::optional<Piece> Slicer::cut(int64_t room, bool first_of_batch) const {
  const Item& item = items_[item_];
  const int64_t end_of_range =
      item.is_partial ? item.ranges[range_].first + item.ranges[range_].second : element_count(item.shape);
  const int64_t left = end_of_range - element_;
  // An element of any size can be a batch of its own.
  const int64_t each = std::max<int64_t>(room / item.element_bytes, first_of_batch ? 1 : 0);
  // left <= each x ranks without the product, which may overflow
  if ((left - 1) / ranks_ < each)
    return Piece{item_, element_, left};
  // Less than half a buffer is left: the next batch takes a larger piece with better boundaries.
  if (each == 0 || (!first_of_batch && room < buffer_bytes_ / 2))
    return std::nullopt;
  int64_t end = element_ + each * ranks_;
  for (int64_t stride : strides_of(item.shape)) {
    if (end / stride * stride > element_) {
      end = end / stride * stride;
      break;
    }
  }
  return Piece{item_, element_, end - element_};
}

Batch Slicer::next() {
  Batch batch;
  int64_t room = buffer_bytes_;
  while (item_ < items_.size() && batch.size() < k_most_pieces) {
    const Item& item = items_[item_];
    if (elements_to_move(item) == 0) {
      ++item_;
      continue;
    }
    if (item.is_partial)
      element_ = std::max(element_, item.ranges[range_].first);
    const auto piece = cut(room, batch.empty());
    if (!piece)
      break;
    batch.push_back(*piece);
    room -= share_bytes(item, *piece, 0, ranks_);
    element_ += piece->count;
    advance();
  }
  return batch;
}

void Slicer::leave(size_t item) noexcept {
  if (item == item_)
    end_item();
}

void Slicer::end_item() noexcept {
  ++item_;
  range_ = 0;
  element_ = 0;
}

// Advances to the next range or item.
void Slicer::advance() {
  const Item& item = items_[item_];
  const bool in_range =
      element_ < (item.is_partial ? item.ranges[range_].first + item.ranges[range_].second : element_count(item.shape));
  if (in_range || (item.is_partial && ++range_ < item.ranges.size()))
    return;
  end_item();
}

// At each position takes the largest box that starts there and ends within the range: first growing boxes (up to a row,
// a plane, ...), then shrinking ones. Each dimension has at most one growing and one shrinking box, the slowest only
// one.
Boxes boxes_of_range(const std::vector<int64_t>& shape, int64_t first, int64_t count) {
  Boxes boxes;
  const std::vector<int64_t> strides = strides_of(shape);
  const size_t ndims = shape.size();
  for (int64_t position = first; position < first + count;) {
    const int64_t left = first + count - position;
    size_t d = 0;
    while (position % strides[d] != 0 || left < strides[d])
      ++d;  // terminates, because the last stride is 1
    const int64_t index = position / strides[d] % shape[d];
    const int64_t length = std::min(left / strides[d], shape[d] - index);
    for (size_t e = 0; e < ndims; ++e) {
      boxes.starts.push_back(position / strides[e] % shape[e]);
      boxes.counts.push_back(e < d ? 1 : e == d ? length : shape[e]);
    }
    ++boxes.number;
    position += length * strides[d];
  }
  return boxes;
}

}  // namespace copying
