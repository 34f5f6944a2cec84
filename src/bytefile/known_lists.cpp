// SPDX-License-Identifier: BSD-3-Clause
#include "bytefile/known_lists.hpp"

#include <algorithm>

#include "bytefile/byte_list.hpp"

namespace windrow {

std::shared_ptr<const ByteRuns> byte_runs_of(const Pieces& pieces, int64_t long_limit) {
  auto runs = std::make_shared<ByteRuns>();
  runs->elements = pieces;
  runs->see(PieceView(runs->elements));
  runs->part_long(1, long_limit);
  return runs;
}

const KnownList& KnownLists::find(const Pieces& pieces, int64_t long_limit) {
  const auto found = std::find_if(lists_.begin(), lists_.end(), [&](const KnownList& each) {
    return each.runs->limit == long_limit && are_equal(each.runs->elements, pieces);
  });
  if (found != lists_.end()) {
    lists_.splice(lists_.begin(), lists_, found);
    return lists_.front();
  }
  lists_.push_front({next_number_, byte_runs_of(pieces, long_limit)});
  ++next_number_;
  int64_t bytes = 0;
  size_t kept = 0;
  for (const KnownList& each : lists_) {
    bytes += each.runs->elements.memory_bytes();
    if (kept > 0 && (kept >= k_most || bytes > k_most_bytes))
      break;
    ++kept;
  }
  lists_.resize(kept);
  return lists_.front();
}

}  // namespace windrow
