// SPDX-License-Identifier: BSD-3-Clause
#include "filling/fill_share.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace windrow {
namespace {

constexpr int64_t k_mib = int64_t{1} << 20;

// The shares of all ranks that are not empty, in the order of ranks.
std::vector<Extent> shares_of(Extent whole, int ranks, const StorageLayout* layout) {
  std::vector<Extent> shares;
  for (int rank = 0; rank < ranks; ++rank)
    if (const Extent share = fill_share(whole, rank, ranks, layout); !share.empty())
      shares.push_back(share);
  return shares;
}

void expect_cover(Extent whole, const std::vector<Extent>& shares) {
  int64_t position = whole.begin;
  for (const Extent share : shares) {
    EXPECT_EQ(share.begin, position);
    position = share.end;
  }
  EXPECT_EQ(position, whole.end);
}

StorageLayout striped_by(int64_t stripe) {
  StorageLayout layout;
  layout.kind = LayoutKind::lustre;
  layout.components.push_back(
      {.bytes = {0, INT64_MAX}, .stripe_bytes = stripe, .stripe_count = 4, .targets = {0, 1, 2, 3}});
  return layout;
}

TEST(FillShare, SharesOfAllRanksCoverTheVariableOnce) {
  for (const int ranks : {1, 2, 3, 7, 64, 1000})
    for (const int64_t bytes : {int64_t{1}, k_mib, 16 * k_mib, 16 * k_mib + 1, 1000 * k_mib + 7})
      expect_cover({13, 13 + bytes}, shares_of({13, 13 + bytes}, ranks, nullptr));
}

TEST(FillShare, AFewBytesAreOneRanksShare) {
  EXPECT_EQ(shares_of({0, 16 * k_mib}, 1000, nullptr).size(), 1U);
  EXPECT_EQ(shares_of({0, 16 * k_mib + 1}, 1000, nullptr).size(), 2U);
}

TEST(FillShare, SharesAreSpreadOverAllRanks) {
  const Extent whole{0, 32 * k_mib};
  EXPECT_EQ(fill_share(whole, 0, 8, nullptr), (Extent{0, 16 * k_mib}));
  EXPECT_EQ(fill_share(whole, 4, 8, nullptr), (Extent{16 * k_mib, 32 * k_mib}));
}

TEST(FillShare, SharesEndWhereStripesEnd) {
  const StorageLayout layout = striped_by(3 * k_mib);
  const Extent whole{5, 5 + 100 * k_mib};
  const std::vector<Extent> shares = shares_of(whole, 4, &layout);
  expect_cover(whole, shares);
  ASSERT_EQ(shares.size(), 4U);
  for (size_t i = 1; i < shares.size(); ++i)
    EXPECT_EQ(shares[i].begin % (3 * k_mib), 0);
}

}  // namespace
}  // namespace windrow
