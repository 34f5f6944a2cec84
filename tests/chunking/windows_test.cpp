// SPDX-License-Identifier: BSD-3-Clause
// The chunks of a window that move.
#include <gtest/gtest.h>

#include "chunking/chunks.hpp"

namespace windrow {
namespace {

constexpr int64_t k_chunk = 64;  // bytes

// One dimension of bytes, in chunks.
ChunkLayout layout_of(int64_t chunks) {
  ChunkLayout layout;
  layout.parts.emplace_back().grid = ChunkGrid::make(std::vector{chunks * k_chunk}, std::vector{k_chunk}).value();
  return layout;
}

std::vector<std::pair<int64_t, int64_t>> visited(const ChunkLayout& layout, Window window, const Pieces& covered) {
  std::vector<std::pair<int64_t, int64_t>> chunks;
  layout.for_each_chunk(window, PieceView(covered, 1),
                        [&](int64_t chunk, int64_t place) { chunks.emplace_back(chunk, place); });
  return chunks;
}

Pieces pieces_of(std::span<const Extent> extents) {
  PiecesBuilder pieces;
  int64_t memory = 0;
  for (const Extent& extent : extents) {
    pieces.add(Nest{{.file = extent.begin, .memory = memory, .length = extent.size()}});
    memory += extent.size();
  }
  return pieces.take();
}

TEST(ChunksOfAWindow, AreThoseWithBytesThatMove) {
  using Found = std::vector<std::pair<int64_t, int64_t>>;
  const ChunkLayout layout = layout_of(100);
  const Pieces pieces = pieces_of(std::array<Extent, 3>{Extent{130, 140}, {150, 200}, {64 * 90 + 63, 64 * 90 + 64}});
  EXPECT_EQ(visited(layout, Extent{0, 6400}, pieces), (Found{{2, 128}, {3, 192}, {90, 5760}}));
  EXPECT_EQ(visited(layout, Extent{192, 6400}, pieces), (Found{{3, 0}, {90, 5568}}));
  EXPECT_EQ(visited(layout, Extent{0, 192}, pieces), (Found{{2, 128}}));
  EXPECT_EQ(visited(layout, Extent{256, 640}, pieces), Found{});
  EXPECT_EQ(visited(layout, Extent{6016, 6400}, pieces), Found{});
  EXPECT_EQ(visited(layout, Extent{0, 6400}, Pieces()), Found{});
}

// It would take years to visit all chunks.
TEST(ChunksOfAWindow, AreFoundAmongVeryMany) {
  const ChunkLayout layout = layout_of(int64_t{1} << 50);
  const int64_t last = (int64_t{1} << 50) - 1;
  const Pieces pieces = pieces_of(std::array<Extent, 2>{Extent{0, 1}, {last * k_chunk, last * k_chunk + 9}});
  EXPECT_EQ(visited(layout, Extent{0, layout.count() * k_chunk}, pieces).size(), 2U);
}

}  // namespace
}  // namespace windrow
