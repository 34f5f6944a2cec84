// SPDX-License-Identifier: BSD-3-Clause
#include "extent/byte_runs.hpp"

#include "extent/interleave.hpp"

namespace windrow {

void ByteRuns::see(PieceView view) noexcept {
  runs = view;
  hull = windrow::hull(view);
  total = total_bytes(view);
  pieces = extent_count(view);
}

// The lengths of all pieces have known bounds, which usually decide the question.
void ByteRuns::part_long(int64_t element_bytes, int64_t long_limit) {
  limit = long_limit;
  if (runs.empty() || runs.store().longest * element_bytes < limit)
    return;
  if (runs.store().shortest * element_bytes >= limit) {
    long_bytes = total;
    long_pieces = pieces;
    return;
  }
  PiecesBuilder longs, shorts;
  for (NestCursor cursor(elements); !cursor.done(); cursor.next())
    (cursor.nest().run.length * element_bytes >= limit ? longs : shorts).add(cursor.nest());
  long_elements = with_runs(longs.take());
  short_elements = with_runs(shorts.take());
  long_runs = PieceView(long_elements, element_bytes);
  short_runs = PieceView(short_elements, element_bytes);
  long_bytes = total_bytes(long_runs);
  long_pieces = extent_count(long_runs);
}

std::shared_ptr<const ByteRuns> interleaved(const ByteRuns& bytes, int64_t row, int64_t stride) {
  auto moved = std::make_shared<ByteRuns>();
  moved->elements = with_runs(interleave(bytes.runs, row, stride));
  moved->see(PieceView(moved->elements));
  moved->part_long(1, bytes.limit);
  return moved;
}

}  // namespace windrow
