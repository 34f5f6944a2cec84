// SPDX-License-Identifier: BSD-3-Clause
#include "copy/slices.hpp"

#include <algorithm>
#include <utility>

namespace copying {

namespace {

constexpr int64_t k_alignment = 8;      // alignment of the largest element type
constexpr size_t k_most_pieces = 4096;  // limits the overhead of a batch
constexpr size_t k_most_boxes = 32768;  // limits the memory for the decompositions of a batch

// strides[d]: elements under one index of dimension d.
std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// The counts of a box of a partial item.
std::vector<int64_t> counts_of(const Item& item, size_t box) {
  const auto first = item.boxes.counts.begin() + static_cast<std::ptrdiff_t>(box * item.shape.size());
  return {first, first + static_cast<std::ptrdiff_t>(item.shape.size())};
}

// The box of a partial item with an element, and the number of the box's first element.
std::pair<size_t, int64_t> box_at(const Item& item, int64_t element) {
  const auto found = std::upper_bound(item.ends.begin(), item.ends.end(), element);
  return {static_cast<size_t>(found - item.ends.begin()), found == item.ends.begin() ? 0 : *std::prev(found)};
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
  return item.ends.empty() ? 0 : item.ends.back();
}

void move_only(Item& item, Boxes boxes) {
  item.boxes = std::move(boxes);
  item.is_partial = true;
  item.ends.clear();
  int64_t end = 0;
  for (size_t box = 0; box < static_cast<size_t>(item.boxes.number); ++box)
    item.ends.push_back(end += element_count(counts_of(item, box)));
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

namespace {

// Where a piece of a large item ends that begins at `begin` and may reach to `end`: after a whole box, or at a whole
// row of the box in which `end` is, or further inside.
int64_t good_end(const Item& item, int64_t begin, int64_t end) {
  int64_t origin = 0;
  std::vector<int64_t> shape = item.shape;
  if (item.is_partial) {
    const auto [box, first] = box_at(item, end);
    if (first > begin)
      return first;
    origin = first;
    shape = counts_of(item, box);
  }
  for (const int64_t stride : strides_of(shape))
    if (const int64_t whole = origin + (end - origin) / stride * stride; whole > begin)
      return whole;
  return end;
}

// The number of boxes of the item that a piece has elements of.
size_t boxes_of(const Item& item, const Piece& piece) {
  if (!item.is_partial)
    return 1;
  return box_at(item, piece.first + piece.count - 1).first - box_at(item, piece.first).first + 1;
}

}  // namespace

// The next piece that fits into `room` bytes of rank 0's buffer, if any, and has at most this many boxes.
std::optional<Piece> Slicer::cut(int64_t room, size_t boxes, bool first_of_batch) const {
  const Item& item = items_[item_];
  int64_t left = elements_to_move(item) - element_;
  // An element of any size can be a batch of its own.
  const int64_t each = std::max<int64_t>(room / item.element_bytes, first_of_batch ? 1 : 0);
  if (item.is_partial)
    if (const size_t box = box_at(item, element_).first; item.ends.size() - box > boxes)
      left = item.ends[box + boxes - 1] - element_;
  // left <= each x ranks without the product, which may overflow
  if ((left - 1) / ranks_ < each)
    return Piece{item_, element_, left};
  // Less than half a buffer is left: the next batch takes a larger piece with better boundaries.
  if (each == 0 || (!first_of_batch && room < buffer_bytes_ / 2))
    return std::nullopt;
  return Piece{item_, element_, good_end(item, element_, element_ + each * ranks_) - element_};
}

Batch Slicer::next() {
  Batch batch;
  int64_t room = buffer_bytes_;
  size_t boxes = k_most_boxes;
  while (item_ < items_.size() && batch.size() < k_most_pieces && boxes > 0) {
    const Item& item = items_[item_];
    if (element_ == elements_to_move(item)) {
      leave(item_);
      continue;
    }
    const auto piece = cut(room, boxes, batch.empty());
    if (!piece)
      break;
    batch.push_back(*piece);
    room -= share_bytes(item, *piece, 0, ranks_);
    boxes -= boxes_of(item, *piece);
    element_ += piece->count;
  }
  return batch;
}

void Slicer::leave(size_t item) noexcept {
  if (item != item_)
    return;
  ++item_;
  element_ = 0;
}

namespace {

// Appends the elements [first, first + count) of a box that begins at `origin`. At each position takes the largest box
// that starts there and ends within the range: first growing boxes (up to a row, a plane, ...), then shrinking ones.
// Each dimension has at most one growing and one shrinking box, the slowest only one.
void add_boxes(const int64_t* origin, const std::vector<int64_t>& shape, int64_t first, int64_t count, Boxes& boxes) {
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
      boxes.starts.push_back(origin[e] + position / strides[e] % shape[e]);
      boxes.counts.push_back(e < d ? 1 : e == d ? length : shape[e]);
    }
    ++boxes.number;
    position += length * strides[d];
  }
}

}  // namespace

Boxes boxes_of_range(const Item& item, int64_t first, int64_t count) {
  Boxes boxes;
  const size_t ndims = item.shape.size();
  if (!item.is_partial) {
    add_boxes(std::vector<int64_t>(ndims).data(), item.shape, first, count, boxes);
    return boxes;
  }
  const int64_t end = first + count;
  while (first < end) {
    const auto [box, begin] = box_at(item, first);
    const int64_t last = std::min(end, item.ends[box]);
    add_boxes(item.boxes.starts.data() + box * ndims, counts_of(item, box), first - begin, last - first, boxes);
    first = last;
  }
  return boxes;
}

}  // namespace copying
