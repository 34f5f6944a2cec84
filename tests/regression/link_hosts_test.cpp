// SPDX-License-Identifier: BSD-3-Clause
// What a message to a host took is known of the link to that host, whichever of its ranks it went to.
#include <gtest/gtest.h>

#include "exchange/coder.hpp"

namespace windrow {
namespace {

TEST(LinkOfHosts, is_one_for_all_ranks_of_a_host) {
  const auto comm = Comm::of(MPI_COMM_WORLD).value();
  Plan plan;
  plan.strategy.codec = Codec::automatic;
  Trace trace;
  Coder coder(*comm, plan, false, trace);
  std::vector<Traffic> traffic(static_cast<size_t>(comm->size()));
  for (int rank = 0; rank < comm->size(); ++rank) {
    traffic[static_cast<size_t>(rank)].rank = rank;
    coder.add(traffic[static_cast<size_t>(rank)]);
  }
  for (int rank = 0; rank < comm->size(); ++rank) {
    const Traffic& each = traffic[static_cast<size_t>(rank)];
    const int host = comm->host_index_of(rank);
    EXPECT_EQ(host == comm->host_index(), comm->host_rank_of(rank) >= 0) << rank;
    EXPECT_EQ(each.link == nullptr, host == comm->host_index()) << "messages within a host go over no link";
    if (each.link == nullptr)
      continue;
    for (const Traffic& other : traffic)
      EXPECT_EQ(other.link == each.link, comm->host_index_of(other.rank) == host) << rank << " and " << other.rank;
  }
  // One message to the first rank of another host measures the link to its last rank.
  Traffic* first = nullptr;
  for (Traffic& each : traffic)
    if (first == nullptr && each.link != nullptr)
      first = &each;
  ASSERT_NE(first, nullptr);
  EXPECT_FALSE(first->link->known());
  coder.took(*first, 1000, 2e-3);
  for (const Traffic& each : traffic) {
    if (each.link == nullptr)
      continue;
    EXPECT_EQ(each.link->known(), each.link == first->link) << each.rank;
  }
}

}  // namespace
}  // namespace windrow
