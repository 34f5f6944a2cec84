// SPDX-License-Identifier: BSD-3-Clause
#include "extent/interleave.hpp"

namespace windrow {
namespace {

struct Rows {
  int64_t row, stride;
  int64_t place(int64_t at) const noexcept { return at / row * stride + at % row; }
};

// Cuts a piece at the ends of rows; the whole rows in it become one run.
void add_piece(Piece piece, const Rows& rows, PiecesBuilder& out) {
  while (piece.length > 0) {
    const int64_t within = piece.file % rows.row, whole = within == 0 ? piece.length / rows.row : 0;
    int64_t part = std::min(piece.length, rows.row - within);
    if (whole > 1) {
      out.add(Run{rows.place(piece.file), piece.memory, rows.row, rows.stride, rows.row, whole});
      part = whole * rows.row;
    } else {
      out.add(Piece{rows.place(piece.file), piece.memory, part});
    }
    piece.file += part;
    piece.memory += part;
    piece.length -= part;
  }
}

void add_nest(const Nest& nest, const Rows& rows, PiecesBuilder& out) {
  Nest moved = nest;
  int level = nest.depth;
  const auto goes_by_rows = [&](int64_t stride) { return stride % rows.row == 0; };
  for (; level > 0 && goes_by_rows(nest.loops[Nest::at(level - 1)].file_stride); --level) {
    int64_t& stride = moved.loops[Nest::at(level - 1)].file_stride;
    stride = rows.place(stride);
  }
  const bool run_goes = level == 0 && goes_by_rows(nest.run.file_stride);
  if (run_goes)
    moved.run.file_stride = rows.place(nest.run.file_stride);
  const int64_t inside = run_goes ? nest.run.length : nest.span(level);
  if (nest.run.file % rows.row + inside <= rows.row) {
    moved.run.file = rows.place(nest.run.file);
    out.add(moved);
  } else if (nest.depth > 0) {
    const int64_t steps = nest.outermost().count;
    for (int64_t i = 0; i < steps; ++i)
      add_nest(nest.steps(i, 1), rows, out);
  } else {
    for_each_piece_of(nest.run, [&](const Piece& piece) { add_piece(piece, rows, out); });
  }
}

}  // namespace

Pieces interleave(PieceView pieces, int64_t row, int64_t stride) {
  PiecesBuilder out;
  if (pieces.empty())
    return out.take();
  for (NestCursor cursor(pieces); !cursor.done(); cursor.next())
    add_nest(cursor.nest(), {row, stride}, out);
  return out.take();
}

}  // namespace windrow
