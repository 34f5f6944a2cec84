// SPDX-License-Identifier: BSD-3-Clause
#include "extent/bins.hpp"

#include <gmock/gmock.h>

#include <set>

#include "model.hpp"

namespace windrow {
namespace {

using test::Random;
using test::random_list;

// The regions of the bins that have a byte of any piece, piece by piece.
std::vector<Extent> expected(PieceView list, Extent hull, int64_t bin) {
  std::set<int64_t> marked;
  for_each_piece(list, [&](const Piece& piece) {
    for (int64_t i = (piece.file - hull.begin) / bin; hull.begin + i * bin < piece.file + piece.length; ++i)
      marked.insert(i);
  });
  std::vector<Extent> regions;
  for (const int64_t i : marked) {
    const Extent part{hull.begin + i * bin, std::min(hull.begin + (i + 1) * bin, hull.end)};
    if (!regions.empty() && regions.back().end == part.begin)
      regions.back().end = part.end;
    else
      regions.push_back(part);
  }
  return regions;
}

TEST(HullBins, marks_the_bins_of_random_lists) {
  Random random(1);
  for (int round = 0; round < 4000; ++round) {
    const Pieces list = random_list(random);
    constexpr std::array<int64_t, 4> scales{1, 300, 5000, 1000003};
    const PieceView view(list, scales[static_cast<size_t>(random(0, 3))]);
    Extent all = hull(view);
    all.begin -= random(0, std::min<int64_t>(all.begin, 10000));
    all.end += random(0, 3) * 5000;
    HullBins bins(all);
    bins.mark(view);
    ASSERT_EQ(bins.regions(), expected(view, all, bins.bin_bytes())) << "round " << round;
  }
}

TEST(HullBins, combines_the_bits_of_several_lists) {
  const auto list_of = [](int64_t first) {
    PiecesBuilder builder;
    for (int64_t i = 0; i < 8; ++i)
      builder.add(Piece{first + i * (1 << 20), i, 1});
    return builder.take();
  };
  HullBins bins({0, 8 << 20}), other({0, 8 << 20});
  ASSERT_EQ(bins.bin_bytes(), 1 << 14);
  bins.mark(list_of(0));
  other.mark(list_of(1 << 14));
  for (size_t i = 0; i < bins.bits().size(); ++i)
    bins.bits()[i] |= other.bits()[i];
  const std::vector<Extent> regions = bins.regions();
  ASSERT_EQ(regions.size(), 8u);
  EXPECT_EQ(regions[7], (Extent{7 << 20, (7 << 20) + (2 << 14)}));
}

TEST(HullBins, an_empty_list_marks_nothing) {
  HullBins bins({100, 9000});
  bins.mark(Pieces());
  EXPECT_TRUE(bins.regions().empty());
}

}  // namespace
}  // namespace windrow
