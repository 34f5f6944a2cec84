// SPDX-License-Identifier: BSD-3-Clause
#include "extent/bins.hpp"

#include "extent/nest.hpp"

namespace windrow {
namespace {

int64_t gap_of(const Run& run) noexcept {
  return run.count > 1 ? run.file_stride - run.length : 0;
}

}  // namespace

void HullBins::mark(PieceView list) noexcept {
  for (NestCursor cursor(list); !cursor.done();) {
    mark(cursor.nest());
    const int64_t last = number_of(cursor.file_end() - 1);
    cursor.next();
    cursor.skip(bin_at(last).end);
  }
}

// A gap that is shorter than a bin leaves no bin without a byte. From the run outward, levels with such gaps are
// marked as one extent.
void HullBins::mark(const Nest& nest) noexcept {
  Run run = nest.run;
  int level = 0;
  for (; level < nest.depth && gap_of(run) < bin_; ++level) {
    const Loop& loop = nest.loops[Nest::at(level)];
    run.length = nest.span(level);
    run.file_stride = loop.file_stride;
    run.count = loop.count;
  }
  if (gap_of(run) < bin_)
    return mark(Extent{run.file, run.file_end()});
  Nest rest(run);
  for (; level < nest.depth; ++level)
    rest.loops[Nest::at(rest.depth++)] = nest.loops[Nest::at(level)];
  for_each_run(rest, [&](const Run& each) {
    for_each_piece_of(each, [&](const Piece& piece) { mark(Extent{piece.file, piece.file + piece.length}); });
  });
}

void HullBins::mark(Extent extent) noexcept {
  for (int64_t i = number_of(extent.begin); i <= number_of(extent.end - 1); ++i)
    word(i) |= bit(i);
}

}  // namespace windrow
