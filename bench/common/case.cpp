// SPDX-License-Identifier: BSD-3-Clause
#include "case.hpp"

#include <algorithm>
#include <numeric>

namespace bench {
namespace {

// Appends, or lengthens the last piece when file and memory both go on where it ends.
void append(Pieces& pieces, Piece next) {
  if (!pieces.empty()) {
    Piece& last = pieces.back();
    if (last.file + last.length == next.file && last.memory + last.length == next.memory) {
      last.length += next.length;
      return;
    }
  }
  pieces.push_back(next);
}

// Row by row along the fastest dimension.
Pieces block_pieces(const Share& share, int64_t trailing) {
  Pieces pieces;
  const size_t dimensions = share.shape.size();
  if (product(share.count) == 0)
    return pieces;
  std::vector<int64_t> index(dimensions, 0);
  while (true) {
    int64_t file = 0, memory = 0;
    for (size_t d = 0; d < dimensions; ++d) {
      file = file * share.shape[d] + share.start[d] + index[d];
      memory = memory * share.memory_shape[d] + share.memory_start[d] + index[d];
    }
    append(pieces, {file * trailing, memory * trailing, share.count.back() * trailing});
    size_t d = dimensions - 1;  // the last index stays 0: it is the row
    while (d > 0 && ++index[d - 1] == share.count[d - 1])
      index[--d] = 0;
    if (d == 0)
      return pieces;
  }
}

Pieces point_pieces(const Share& share, int64_t trailing, bool owned) {
  std::vector<size_t> order(share.points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return share.points[a] < share.points[b]; });
  Pieces pieces;
  for (size_t i : order)
    if (!owned || share.owned[i])
      append(pieces, {share.points[i] * trailing, static_cast<int64_t>(i) * trailing, trailing});
  return pieces;
}

}  // namespace

int64_t product(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> Case::shape_of(const Variable& variable) const {
  std::vector<int64_t> shape = share_of(variable).shape;
  if (variable.trailing > 1)
    shape.push_back(variable.trailing);
  return shape;
}

int64_t Case::file_bytes(const Variable& variable) const {
  return product(shape_of(variable)) * element_size(variable.type);
}

int64_t Case::file_bytes() const {
  int64_t bytes = 0;
  for (const Variable& variable : variables)
    bytes += file_bytes(variable);
  return bytes;
}

int64_t Case::memory_elements(const Variable& variable) const {
  const Share& share = share_of(variable);
  const int64_t elements = share.is_block() ? product(share.memory_shape) : static_cast<int64_t>(share.points.size());
  return elements * variable.trailing;
}

Pieces Case::pieces(const Variable& variable, bool owned) const {
  const Share& share = share_of(variable);
  return share.is_block() ? block_pieces(share, variable.trailing) : point_pieces(share, variable.trailing, owned);
}

}  // namespace bench
