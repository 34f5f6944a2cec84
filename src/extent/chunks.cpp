// SPDX-License-Identifier: BSD-3-Clause
#include "extent/chunks.hpp"

#include <algorithm>
#include <map>

#include "base/checked.hpp"

namespace windrow {

Result<ChunkGrid> ChunkGrid::make(std::span<const int64_t> shape, std::span<const int64_t> chunk) {
  const auto bad = [](const char* why) { return Status(Code::bad_argument, why); };
  if (shape.empty() || shape.size() != chunk.size())
    return bad("chunks need as many dimensions as the array, and at least one");
  ChunkGrid made;
  made.shape_.assign(shape.begin(), shape.end());
  made.chunk_.assign(chunk.begin(), chunk.end());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || chunk[i] < 1)
      return bad("a chunk needs at least one element along each dimension");
    made.grid_.push_back(ceil_divide(shape[i], chunk[i]));
  }
  const auto strides = [](std::span<const int64_t> extents) {
    std::vector<int64_t> result(extents.size(), 1);
    for (size_t i = extents.size() - 1; i > 0; --i)
      result[i - 1] = result[i] * extents[i];
    return result;
  };
  const auto count = checked_product(made.grid_), elements = checked_product(chunk);
  const auto all = count && elements ? checked_multiply(*count, *elements) : std::nullopt;
  if (!all || *all > int64_t{1} << 62)
    return bad("the chunks together have more than 2^62 elements");
  made.count_ = *count;
  made.elements_ = *elements;
  made.chunk_strides_ = strides(made.chunk_);
  made.grid_strides_ = strides(made.grid_);
  return made;
}

std::vector<int64_t> ChunkGrid::first_element(int64_t number) const {
  std::vector<int64_t> first(shape_.size());
  for (size_t i = 0; i < shape_.size(); ++i) {
    first[i] = number / grid_strides_[i] * chunk_[i];
    number %= grid_strides_[i];
  }
  return first;
}

int64_t ChunkGrid::elements_inside(int64_t number) const noexcept {
  int64_t inside = 1;
  for (size_t i = 0; i < shape_.size(); ++i) {
    const int64_t first = number / grid_strides_[i] * chunk_[i];
    number %= grid_strides_[i];
    inside *= std::min(chunk_[i], shape_[i] - first);
  }
  return inside;
}

// Cuts a piece into rows (along the fastest dimension), and each row at chunk boundaries: add(chunk, offset in the
// linear chunk space, memory, length).
void ChunkGrid::add_row(int64_t element, int64_t length, int64_t memory, auto&& add) const {
  const size_t last = shape_.size() - 1;
  while (length > 0) {
    int64_t rest = element / shape_[last], chunk = 0, within = 0;
    int64_t at = element % shape_[last];
    const int64_t row = std::min(length, shape_[last] - at);
    for (size_t i = last; i-- > 0; rest /= shape_[i]) {
      const int64_t index = rest % shape_[i];
      chunk += index / chunk_[i] * grid_strides_[i];
      within += index % chunk_[i] * chunk_strides_[i];
    }
    for (int64_t done = 0; done < row;) {
      const int64_t column = at / chunk_[last], offset = at % chunk_[last];
      const int64_t part = std::min(row - done, chunk_[last] - offset);
      add(chunk + column, (chunk + column) * elements_ + within + offset, memory + done, part);
      done += part;
      at += part;
    }
    element += row;
    memory += row;
    length -= row;
  }
}

int64_t ChunkGrid::row() const noexcept {
  int64_t elements = 1;
  for (size_t i = 1; i < shape_.size(); ++i)
    elements *= shape_[i];
  return elements;
}

// Within a chunk, pieces come in the order of its elements, because both orders are C order. So there is one list for
// each chunk, and they are concatenated at the end.
Pieces ChunkGrid::place(PieceView pieces, int64_t first) const {
  std::map<int64_t, PiecesBuilder> lists;
  auto found = lists.end();
  for_each_piece(pieces, [&](const Piece& piece) {
    add_row(first + piece.file, piece.length, piece.memory,
            [&](int64_t chunk, int64_t offset, int64_t memory, int64_t length) {
              if (found == lists.end() || found->first != chunk)
                found = lists.try_emplace(chunk).first;
              found->second.add(Piece{offset, memory, length});
            });
  });
  PiecesBuilder all;
  for (auto& [chunk, list] : lists) {
    const Pieces part = list.take();
    for (NestCursor cursor(part); !cursor.done(); cursor.next())
      all.add(cursor.nest());
  }
  return all.take();
}

}  // namespace windrow
