// SPDX-License-Identifier: BSD-3-Clause
// Access: the storage requests for a window. Pure: the same walk makes the requests and predicts their number.
#pragma once

#include <cstdint>

#include "base/checked.hpp"
#include "extent/pieces.hpp"
#include "plan/strategy.hpp"

namespace windrow {

struct AccessRule {
  Access access = Access::contiguous;
  int64_t hole_bytes = 0;  // sieve: holes up to this are included in a request
  // largest read at a time before a write with holes
  int64_t read_before_bytes = int64_t{1} << 20;
  // others may write into the holes: a write that includes them locks them, and one that does not shares a lock
  bool locks_holes = false;
};

// A request for consecutive bytes. holes: it includes bytes that hold no data (sieve only); a write must read them
// first.
struct Request {
  Extent bytes;
  bool holes = false;
};

// The number of reads before a write with holes.
inline int64_t reads_before(AccessRule rule, const Request& request) noexcept {
  return request.holes ? ceil_divide(request.bytes.size(), rule.read_before_bytes) : 0;
}

// Visits the requests of a window in file order. `covered`: the extents with data; those outside the window are
// ignored.
template <class Visit>
void for_each_request(AccessRule rule, Extent window, PieceView covered, Visit&& visit) {
  Request request{.bytes = {window.begin, window.begin}, .holes = false};
  for_each_piece(covered, window, [&](const Piece& piece) {
    const Extent extent{piece.file, piece.file + piece.length};
    const int64_t hole = extent.begin - request.bytes.end;
    if (!request.bytes.empty() && rule.access == Access::sieve && hole <= rule.hole_bytes) {
      request.bytes.end = extent.end;
      request.holes = request.holes || hole > 0;
      return;
    }
    if (!request.bytes.empty())
      visit(request);
    request = {.bytes = extent, .holes = false};
  });
  if (!request.bytes.empty())
    visit(request);
}

}  // namespace windrow
