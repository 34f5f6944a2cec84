// SPDX-License-Identifier: BSD-3-Clause
// One part of a machine at a time: what is asked of it takes as long as its number says, and only where it is the
// slowest.
#include "sim/loads.hpp"

#include <gtest/gtest.h>

namespace windrow::test {
namespace {

// Nothing takes time but what a test makes slow.
Machine fast() {
  Machine machine;
  machine.hosts = 4, machine.ranks_per_host = 2;
  machine.memory = {.copy_bytes_per_s = 1e18, .host_copy_bytes_per_s = 1e18};
  machine.network = {.latency_s = 0,
                     .bytes_per_s = 1e18,
                     .host_bytes_per_s = 1e18,
                     .message_s = 0,
                     .within_host_latency_s = 0,
                     .within_host_bytes_per_s = 1e18};
  machine.storage = {.targets = 4,
                     .target_write_bytes_per_s = 1e18,
                     .target_read_bytes_per_s = 1e18,
                     .client_bytes_per_s = 1e18,
                     .request_s = 0,
                     .target_request_s = 0,
                     .lock_s = 0};
  return machine;
}

// Seconds of both phases: ranks 0 to 7 on 4 hosts send 100 bytes each to rank 0 and 50 to rank 6, both in phase 0 of 2;
// rank 7 also 30 in phase 1.
double exchanged(const Machine& machine, size_t phase_of_7 = 1, const Compression& compression = {}) {
  ExchangeLoads loads(machine, 8, {0, 6}, 2, compression);
  for (int rank = 0; rank < 8; ++rank) {
    loads.add({rank, 0, 0, 0, 100, rank == 1});
    loads.add({rank, 6, 1, 0, 50, rank == 7});
    if (rank == 7)
      loads.add({7, 0, 0, phase_of_7, 30, false});
    loads.end_rank(rank);
  }
  loads.finish();
  return loads.bound_of(0).seconds + loads.bound_of(1).seconds;
}

// 8 clients write 10 bytes to each of 4 targets, in one request.
StorageLoads stored(const Machine& machine, int64_t files = 1) {
  StorageLoads loads(machine, false, files, 1, 8);
  for (int rank = 0; rank < 8; ++rank) {
    loads.begin_client(rank, static_cast<size_t>(rank));
    loads.request(0, 40);
    for (int64_t target = 0; target < 4; ++target)
      loads.touch(0, rank % files, target, 10);
    loads.end_client();
  }
  loads.finish();
  return loads;
}

}  // namespace

TEST(ExchangeLoads, wait_for_the_slowest_part) {
  EXPECT_LT(exchanged(fast()), 1e-9);
  Machine machine = fast();
  machine.network.message_s = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine), 6 + 1) << "ranks 0 and 6 take 6 messages each; then rank 7 sends one";
  machine = fast();
  machine.network.host_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine), 600 + 30) << "6 ranks of other hosts send 100 bytes each to rank 0";
  machine = fast();
  machine.memory.copy_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine), 600 + 30);
  machine = fast();
  machine.memory.host_copy_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine), 300 + 30) << "the two ranks of any host copy 150 bytes each";
  machine = fast();
  machine.network.bisection_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine), 400 + 30) << "hosts 2 and 3 send 400 bytes to host 0";
}

TEST(ExchangeLoads, of_one_phase_are_added_up) {
  Machine machine = fast();
  machine.network.host_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine, 0), 630);
}

TEST(ExchangeLoads, shrink_between_hosts_and_take_time_on_both_ends) {
  const Compression half{.codec = "lz4", .shrinks_to = 0.5, .rank_s = 2, .server_s = 3};
  EXPECT_DOUBLE_EQ(exchanged(fast(), 1, half), (600 * 3 + 0) + 30 * 3)
      << "rank 0 expands what 6 ranks of other hosts send; then rank 7's";
  Machine machine = fast();
  machine.network.host_bytes_per_s = 0.1;
  EXPECT_DOUBLE_EQ(exchanged(machine, 1, half), 3000 + 150) << "half of 600 bytes, then of 30, to rank 0's host";
  machine.network.bisection_bytes_per_s = 0.01;
  EXPECT_DOUBLE_EQ(exchanged(machine, 1, half), 20000 + 1500) << "half of 400 bytes, then of 30";
  machine = fast();
  machine.cores_per_host = 1;
  EXPECT_DOUBLE_EQ(exchanged(machine, 1, half), (300 * 2 + 600 * 3) + (30 * 2 + 30 * 3))
      << "one core for two ranks: what the busiest host sends, and what one with a writer takes";
}

TEST(ExchangeLoads, go_as_they_are_within_a_host) {
  Machine machine = fast();
  machine.network.within_host_bytes_per_s = 0.01;
  ExchangeLoads loads(machine, 8, {6}, 1, {.codec = "lz4", .shrinks_to = 0.5, .rank_s = 1e9, .server_s = 1e9});
  loads.add({7, 6, 0, 0, 50, false});
  loads.end_rank(7);
  loads.finish();
  EXPECT_DOUBLE_EQ(loads.bound_of(0).seconds, 5000);
}

TEST(StorageLoads, wait_for_the_slowest_part) {
  EXPECT_LT(stored(fast()).bound_of(0, 1).seconds, 1e-9);
  Machine machine = fast();
  machine.storage.target_write_bytes_per_s = 2;
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 40) << "80 bytes on each target";
  machine = fast();
  machine.storage.targets_per_server = 2, machine.storage.server_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 160) << "two targets behind each server";
  machine = fast();
  machine.storage.client_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 80) << "two ranks of a host share its client";
  machine = fast();
  machine.storage.target_request_s = 3;
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 24) << "8 requests at each target";
  machine.storage.request_bytes = 4;
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 72) << "each of which goes as 3";
}

TEST(StorageLoads, know_how_many_share_a_file) {
  Machine machine = fast();
  machine.storage.turn_s = 1;
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 8 * 7);
  EXPECT_DOUBLE_EQ(stored(machine, 4).bound_of(0, 1).seconds, 8 * 1) << "two clients of each of 4 files";
  machine = fast();
  machine.storage.lock_s = 1;
  EXPECT_DOUBLE_EQ(stored(machine).lock_seconds(), 7);
  EXPECT_DOUBLE_EQ(stored(machine, 8).lock_seconds(), 0);
  EXPECT_DOUBLE_EQ(stored(fast()).lock_seconds(), 0);
}

TEST(StorageLoads, go_as_fast_as_was_measured) {
  Machine machine = fast();
  machine.writes = {{.request_bytes = 40, .ranks = 2, .bytes_per_s = 10},
                    {.request_bytes = 40, .ranks = 8, .bytes_per_s = 80}};
  EXPECT_DOUBLE_EQ(stored(machine).bound_of(0, 1).seconds, 320.0 / 80) << "8 ranks, 40 bytes each";
  machine.writes.pop_back();
  EXPECT_LT(stored(machine).bound_of(0, 1).seconds, 1e-9) << "nobody measured 8";
}

TEST(StorageLoads, have_a_matrix_of_who_wrote_where) {
  const auto loads = stored(fast());
  ASSERT_EQ(loads.matrix().size(), 8U);
  for (const auto& row : loads.matrix())
    EXPECT_EQ(row, (std::vector<double>{10, 10, 10, 10}));
}

}  // namespace windrow::test
