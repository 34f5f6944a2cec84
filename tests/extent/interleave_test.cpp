// SPDX-License-Identifier: BSD-3-Clause
// Places of interleaved rows, against a model that walks over single bytes.
#include "extent/interleave.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace windrow {
namespace {

std::map<int64_t, int64_t> bytes_of(PieceView pieces) {
  std::map<int64_t, int64_t> bytes;
  int64_t before = -1;
  for_each_piece(pieces, [&](const Piece& piece) {
    EXPECT_GT(piece.file, before) << "sorted and disjoint";
    before = piece.file + piece.length - 1;
    for (int64_t i = 0; i < piece.length; ++i)
      bytes[piece.file + i] = piece.memory + i;
  });
  return bytes;
}

void expect_as_the_model(PieceView pieces, int64_t row, int64_t stride) {
  std::map<int64_t, int64_t> expected;
  for (const auto& [file, memory] : bytes_of(pieces))
    expected[file / row * stride + file % row] = memory;
  EXPECT_EQ(bytes_of(interleave(pieces, row, stride)), expected) << "rows of " << row << " every " << stride;
}

TEST(Interleave, cuts_any_pieces_at_rows) {
  std::mt19937 random(11);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  for (int round = 0; round < 200; ++round) {
    const int64_t row = 1 + below(20), stride = row + below(10), all = 1 + below(300);
    PiecesBuilder builder;
    for (int64_t at = 0; at < all;) {
      const int64_t length = std::min(all - at, 1 + below(50));
      if (below(3) > 0)
        builder.add(Piece{at, 10 * all - 2 * at, length});
      at += length;
    }
    expect_as_the_model(builder.take(), row, stride);
  }
}

TEST(Interleave, follows_the_loops_of_blocks) {
  std::mt19937 random(12);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  for (int round = 0; round < 300; ++round) {
    const int64_t x = 1 + below(7), y = 1 + below(6), z = 1 + below(5), records = 1 + below(5);
    const int64_t nx = 1 + below(x), ny = 1 + below(y), nz = 1 + below(z), nt = 1 + below(records);
    Nest nest(windrow::Run{
        below(x - nx + 1) + x * (below(y - ny + 1) + y * (below(z - nz + 1) + z * below(records - nt + 1))), 0, nx,
        ny > 1 ? x : 0, ny > 1 ? nx : 0, ny});
    if (nz > 1)
      nest.repeat(nz, x * y, nx * ny);
    if (nt > 1)
      nest.repeat(nt, x * y * z, nx * ny * nz);
    PiecesBuilder builder;
    builder.add(nest);
    const Pieces pieces = builder.take();
    for (const int64_t row : {x * y * z, x * y, x, int64_t{5}})
      expect_as_the_model(pieces, row, row + below(9));
  }
}

TEST(Interleave, tells_a_block_of_many_records_in_one_nest) {
  Nest nest(windrow::Run{3, 0, 4, 100, 4, 10});
  nest.repeat(1'000'000'000, 10'000, 40);
  PiecesBuilder builder;
  builder.add(nest);
  const Pieces placed = interleave(builder.take(), 10'000, 1'000'000);
  EXPECT_EQ(placed.store()->records, 1);
  EXPECT_EQ(hull(placed).end, 999'999'999 * int64_t{1'000'000} + 3 + 900 + 4);
}

}  // namespace
}  // namespace windrow
