// SPDX-License-Identifier: BSD-3-Clause
#include "plan/access.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace windrow {
namespace {

struct Seen {
  Extent bytes;
  bool holes;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> requests(AccessRule rule, Extent window, const std::vector<Extent>& covered) {
  std::vector<Seen> seen;
  PiecesBuilder pieces;
  for (const Extent& extent : covered)
    pieces.add(Piece{extent.begin, extent.begin, extent.size()});
  for_each_request(rule, window, pieces.take(), [&](const Request& request) {
    seen.push_back({request.bytes, request.holes});
  });
  return seen;
}

const std::vector<Extent> k_covered{{0, 10}, {15, 20}, {40, 60}, {100, 300}};

TEST(Requests, contiguous_takes_each_extent_by_itself) {
  EXPECT_EQ(requests({.access = Access::contiguous}, {5, 110}, k_covered),
            (std::vector<Seen>{{{5, 10}, false}, {{15, 20}, false}, {{40, 60}, false}, {{100, 110}, false}}));
}

TEST(Requests, sieving_reads_over_small_holes_only) {
  EXPECT_EQ(requests({.access = Access::sieve, .hole_bytes = 20}, {0, 200}, k_covered),
            (std::vector<Seen>{{{0, 60}, true}, {{100, 200}, false}}));
  EXPECT_EQ(requests({.access = Access::sieve, .hole_bytes = 0}, {0, 20}, k_covered),
            (std::vector<Seen>{{{0, 10}, false}, {{15, 20}, false}}));
}

TEST(Requests, a_window_without_data_asks_for_nothing) {
  EXPECT_TRUE(requests({.access = Access::sieve, .hole_bytes = 1000}, {60, 100}, k_covered).empty());
  EXPECT_TRUE(requests({.access = Access::contiguous}, {300, 400}, k_covered).empty());
}

}  // namespace
}  // namespace windrow
