// SPDX-License-Identifier: BSD-3-Clause
// Any rank's host is known, wherever the launcher has put it.
#include "comm/host_table.hpp"

#include <gtest/gtest.h>

namespace windrow {
namespace {

HostTable table_of(const std::vector<int>& root_of_rank, const std::vector<int>& roots) {
  HostTable table;
  table.resize(static_cast<int>(root_of_rank.size())) = root_of_rank;
  table.number(roots);
  return table;
}

TEST(HostTable, is_not_kept_where_hosts_have_consecutive_ranks) {
  const std::vector<int> roots{0, 3, 4};
  const HostTable table = table_of({0, 0, 0, 3, 4, 4}, roots);
  EXPECT_FALSE(table.is_kept());
  const std::vector<int> hosts{0, 0, 0, 1, 2, 2};
  for (int rank = 0; rank < 6; ++rank)
    EXPECT_EQ(table.host_of(roots, rank), hosts[static_cast<size_t>(rank)]) << rank;
}

TEST(HostTable, is_kept_where_ranks_go_round_the_hosts) {
  const std::vector<int> roots{0, 1, 2};
  const HostTable table = table_of({0, 1, 2, 0, 1, 2, 0}, roots);
  EXPECT_TRUE(table.is_kept());
  for (int rank = 0; rank < 7; ++rank)
    EXPECT_EQ(table.host_of(roots, rank), rank % 3) << rank;
}

TEST(HostTable, of_one_host_says_so) {
  EXPECT_EQ(HostTable().host_of({0}, 0), 0);
  EXPECT_EQ(HostTable().host_of({0}, 99), 0);
}

}  // namespace
}  // namespace windrow
