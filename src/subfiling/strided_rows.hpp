// SPDX-License-Identifier: BSD-3-Clause
// StridedRows: rows of equal length at equal distances, in one file or two. Divided among ranks by bytes.
#pragma once

#include <algorithm>
#include <span>

#include "extent/extent.hpp"

namespace windrow {

struct StridedRows {
  int64_t from = 0, from_stride = 0;  // source, if read
  int64_t to = 0, to_stride = 0;      // destination, if written
  int64_t bytes = 0;                  // of a row
  int64_t count = 1;                  // number of rows
  int64_t total() const noexcept { return bytes * count; }
};

inline Extent even_share(int64_t total, int rank, int ranks) noexcept {
  const int64_t each = total / ranks, rest = total % ranks;
  const int64_t begin = rank * each + std::min<int64_t>(rank, rest);
  return {begin, begin + each + (rank < rest ? 1 : 0)};
}

// Calls visit(const StridedRows&, from, to, offset in the rows, length) for the parts of this rank's share, each at
// most `most` bytes and within one row.
template <class Visit>
void for_each_part(std::span<const StridedRows> strided_rows, int rank, int ranks, int64_t most, Visit&& visit) {
  int64_t total = 0;
  for (const StridedRows& rows_band : strided_rows)
    total += rows_band.total();
  const Extent share = even_share(total, rank, ranks);
  int64_t before = 0;
  for (const StridedRows& rows_band : strided_rows) {
    const int64_t end = std::min(rows_band.total(), share.end - before);
    for (int64_t at = std::max<int64_t>(0, share.begin - before); at < end;) {
      const int64_t row = at / rows_band.bytes, within = at % rows_band.bytes;
      const int64_t length = std::min({most, end - at, rows_band.bytes - within});
      visit(rows_band, rows_band.from + row * rows_band.from_stride + within,
            rows_band.to + row * rows_band.to_stride + within, at, length);
      at += length;
    }
    before += rows_band.total();
  }
}

}  // namespace windrow
