// SPDX-License-Identifier: BSD-3-Clause
// Access: which storage requests a window becomes. Pure: the same walk makes the requests and predicts their number.
#pragma once

#include <cstdint>

#include "base/checked.hpp"
#include "extent/pieces.hpp"
#include "plan/strategy.hpp"

namespace windrow {

struct AccessRule {
  Access access = Access::contiguous;
  int64_t hole_bytes = 0;  // sieve: holes up to this are read over
  int64_t read_before_bytes =
      int64_t{1} << 20;  // what lies in holes that are written over is read by so much at a time
};

// One request for consecutive bytes. holes: some of them are not ours (sieve only): to write, they are read first.
struct Request {
  Extent bytes;
  bool holes = false;
};

// To write one with holes: how many to read come before it.
inline int64_t reads_before(AccessRule rule, const Request& request) noexcept {
  return request.holes ? ceil_divide(request.bytes.size(), rule.read_before_bytes) : 0;
}

// Visits the requests of a window in file order. `covered`: the extents that hold data; those that meet the window
// matter.
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
