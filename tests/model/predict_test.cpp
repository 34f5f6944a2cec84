// SPDX-License-Identifier: BSD-3-Clause
// Seconds from numbers: they grow with the work, shrink with the machine, and are never absurd.
#include "model/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "model/defaults.hpp"

namespace windrow::test {
namespace {

Work aggregated_work() {
  Work work{.ranks = 64,
            .hosts = 8,
            .agreements = 3,
            .rounds = 4,
            .rank_copies = 1e6,
            .host_copies = 8e6,
            .rank_pieces = 1e3,
            .host_pieces = 8e3,
            .rank_sends = 7e6,
            .host_sends = 7e6,
            .sends = 56e6,
            .messages = 224,
            .storage = {},
            .storage_parts = 1};
  work.storage[0] = {.reading = false,
                     .sharing = Sharing::apart,
                     .ranks = 8,
                     .bytes = 64e6,
                     .rank_bytes = 8e6,
                     .request_bytes = 4e6,
                     .targets = 4,
                     .stripe_bytes = 1e6};
  return work;
}

bool is_sound(const Prediction& seconds) {
  for (const double each : {seconds.open, seconds.plan, seconds.exchange, seconds.storage, seconds.total})
    if (!std::isfinite(each) || each < 0)
      return false;
  return true;
}

// Each number of the work, to be changed.
std::vector<double*> numbers_of(Work& work) {
  StorageWork& part = work.storage[0];
  return {&work.agreements, &work.rank_copies, &work.host_copies, &work.rank_pieces, &work.host_pieces,
          &work.rank_sends, &work.host_sends,  &work.sends,       &work.messages,    &work.call_backs,
          &part.bytes,      &part.rank_bytes,  &part.target_bytes};
}

}  // namespace

TEST(Predict, of_nothing_to_do_is_the_opening_of_the_file) {
  const Prediction seconds = predict(Work{}, Machine{});
  EXPECT_EQ(seconds.plan, 0);
  EXPECT_EQ(seconds.exchange, 0);
  EXPECT_EQ(seconds.storage, 0);
  EXPECT_GT(seconds.open, 0);
  EXPECT_EQ(seconds.total, seconds.open);
}

// What one kind of file system is bad at another is not.
TEST(Predict, knows_kinds_of_file_systems) {
  Work work = aggregated_work();
  const auto of = [&](const char* kind) { return predict(work, default_machine(kind, 4)).storage; };
  for (const char* kind : {"local", "nfs", "lustre", "beegfs", "cephfs", "gpfs"})
    EXPECT_EQ(default_machine(kind).storage.kind, kind);
  EXPECT_GT(of("cephfs"), of("gpfs"));  // three copies
  EXPECT_GT(of("nfs"), of("lustre"));   // one server
  work.storage[0].sharing = Sharing::interleaved;
  work.storage[0].request_bytes = 65536;
  EXPECT_GT(of("lustre"), of("beegfs"));  // locks
  EXPECT_GT(of("gpfs"), of("beegfs"));
  work.storage[0].targets = work.storage[0].stripe_bytes = 0;  // no stripes requested: one for a new file on Lustre
  work.storage[0].sharing = Sharing::apart;
  EXPECT_GT(of("lustre"), of("beegfs"));
}

TEST(Predict, grows_with_the_work) {
  for (const char* kind : {"local", "nfs", "lustre", "beegfs", "cephfs", "gpfs", "unknown"}) {
    const Machine machine = default_machine(kind, 4);
    const Work less = aggregated_work();
    const double before = predict(less, machine).total;
    Work more = less;
    for (size_t i = 0; i < numbers_of(more).size(); ++i) {
      more = less;
      *numbers_of(more)[i] *= 1000;
      EXPECT_GE(predict(more, machine).total, before) << kind << ", number " << i;
    }
    more = less;
    for (double* number : numbers_of(more))
      *number *= 2;
    EXPECT_GT(predict(more, machine).total, before) << kind;
  }
}

TEST(Predict, shrinks_with_a_faster_machine) {
  const Work work = aggregated_work();
  const double before = predict(work, Machine{}).total;
  Machine machine;
  machine.memory = {.copy_bytes_per_s = 1e12, .host_copy_bytes_per_s = 1e12, .piece_s = 0};
  EXPECT_LT(predict(work, machine).total, before);
  machine = {};
  machine.network.host_bytes_per_s = machine.network.bytes_per_s = 1e12;
  EXPECT_LT(predict(work, machine).total, before);
  machine = {};
  machine.storage.target_write_bytes_per_s = 1e12;
  machine.storage.lock_s = machine.storage.target_request_s = 0;
  EXPECT_LT(predict(work, machine).total, before);
}

TEST(Predict, counts_bytes_at_the_rate_that_was_measured) {
  Machine machine;
  machine.writes = {{.request_bytes = 4096, .ranks = 1, .bytes_per_s = 1e6},
                    {.request_bytes = 1 << 20, .ranks = 1, .bytes_per_s = 1e8},
                    {.request_bytes = 4096, .ranks = 4, .bytes_per_s = 3e6},
                    {.request_bytes = 1 << 20, .ranks = 4, .bytes_per_s = 2e8}};
  Work work{.storage_parts = 1};
  work.storage[0] = {.reading = false,
                     .sharing = Sharing::apart,
                     .ranks = 4,
                     .bytes = 2e8,
                     .rank_bytes = 5e7,
                     .request_bytes = 1 << 20};
  EXPECT_NEAR(predict(work, machine).storage, 1, 1e-9);
  // One of them has nearly everything: it is alone at the end.
  work.storage[0].rank_bytes = 1.9e8;
  EXPECT_NEAR(predict(work, machine).storage, 1.9, 1e-9);
  // Below the smallest request that was measured each costs as much as that one did.
  work.storage[0] = {
      .reading = false, .sharing = Sharing::apart, .ranks = 1, .bytes = 1e6, .rank_bytes = 1e6, .request_bytes = 41};
  EXPECT_NEAR(predict(work, machine).storage, 4096.0 / 41, 1e-6);
  // What was not measured is reckoned.
  work.storage[0].sharing = Sharing::interleaved;
  EXPECT_GT(predict(work, machine).storage, 0);
  work.storage[0].reading = true;
  EXPECT_GT(predict(work, machine).storage, 0);
}

TEST(Predict, counts_what_is_read_before_it_is_written) {
  Work work = aggregated_work();
  Machine reckoned;
  reckoned.storage.lock_s = 0;
  const double once = predict(work, reckoned).storage;
  work.storage[0].reading = true;
  const double read = predict(work, reckoned).storage;
  work.storage[0].reading = false;
  work.storage[0].sieving = true;
  EXPECT_NEAR(predict(work, reckoned).storage, once + read, 1e-12);
  // Where both were measured as one they are not added up.
  Machine measured = reckoned;
  for (const int64_t ranks : {1, 8})
    measured.writes.push_back(
        {.request_bytes = 1 << 20, .ranks = ranks, .bytes_per_s = 64e6 / 10, .sharing = Sharing::sieved});
  EXPECT_NEAR(predict(work, measured).storage, 10, 1e-9);
  work.storage[0].reading = true;  // what is read over is read once
  EXPECT_NEAR(predict(work, measured).storage, read, 1e-12);
}

TEST(Predict, takes_a_flush_without_exchange_for_what_it_was_measured_to_be) {
  Work work = aggregated_work();
  Machine machine;
  machine.metadata.flush_s = 3, machine.metadata.direct_flush_s = 2;
  machine.hosts = 64;
  EXPECT_EQ(predict(work, machine).plan, 3);
  work.rank_copies = 0;
  EXPECT_EQ(predict(work, machine).plan, 2);
  machine.metadata.direct_flush_s = 0;
  EXPECT_EQ(predict(work, machine).plan, 3);
}

TEST(Predict, compresses_what_is_sent_where_that_is_faster) {
  Work work{.ranks = 8, .hosts = 4, .rounds = 1, .rank_sends = 1e8, .host_sends = 2e8, .sends = 8e8};
  Machine machine;
  machine.cores_per_host = 2;
  machine.network.bytes_per_s = machine.network.host_bytes_per_s = 1e8;
  const double plain = predict(work, machine).exchange;
  machine.codecs = {{.name = "lz4", .encode_bytes_per_s = 4e8, .decode_bytes_per_s = 4e8},
                    {.name = "zstd", .encode_bytes_per_s = 1e7, .decode_bytes_per_s = 1e7}};
  EXPECT_EQ(predict(work, machine).exchange, plain);
  work.compresses = true;
  EXPECT_NEAR(plain - predict(work, machine).exchange, 2 - (1 + 0.5),
              1e-9);  // half of two seconds of a host's link, and lz4 on both cores
  machine.network.bytes_per_s = machine.network.host_bytes_per_s = 1e11;
  const double fast = predict(work, machine).exchange;
  work.compresses = false;
  EXPECT_EQ(predict(work, machine).exchange, fast);
}

TEST(Predict, makes_no_file_to_read_it) {
  Work work = aggregated_work();
  Machine machine;
  machine.metadata.creates_per_s = 0.1;
  EXPECT_GT(predict(work, machine).open, 10);
  for (StorageWork& part : work.storage)
    part.reading = true;
  EXPECT_LT(predict(work, machine).open, 1);
}

TEST(Predict, lets_writers_of_their_own_targets_keep_their_locks) {
  Work work = aggregated_work();
  Machine machine;
  machine.storage.lock_s = 0.1;
  work.storage[0].request_bytes = 1e6;
  work.storage[0].sharing = Sharing::targets;
  const double own = predict(work, machine).storage;
  work.storage[0].sharing = Sharing::apart;
  const double apart = predict(work, machine).storage;
  work.storage[0].sharing = Sharing::interleaved;
  EXPECT_LT(own, apart);
  EXPECT_LT(apart, predict(work, machine).storage);
  // Readers share locks, once they have them from those that wrote; hosts do, not ranks.
  work.storage[0].reading = true;
  const double shared = predict(work, machine).storage;
  EXPECT_NEAR(shared, own, 1e-9);
  work.call_backs = 2;
  EXPECT_NEAR(predict(work, machine).storage, shared + 0.2, 1e-9);
  work.hosts = 1;
  const double one_host = predict(work, machine).storage;
  machine.storage.lock_s = 0;
  EXPECT_NEAR(predict(work, machine).storage, one_host, 1e-9);
}

TEST(Predict, waits_for_the_target_that_has_most) {
  Work work = aggregated_work();
  StorageWork& part = work.storage[0];
  part.targets = 4;
  part.ranks = 8;
  part.request_bytes = 1e6;
  Machine machine;
  machine.writes = {{.request_bytes = 1'000'000, .ranks = 8, .bytes_per_s = 1e6, .sharing = part.sharing}};
  const double even = predict(work, machine).storage;
  part.target_bytes = part.bytes / 4;
  EXPECT_DOUBLE_EQ(predict(work, machine).storage, even);
  part.target_bytes = part.bytes / 2;
  EXPECT_NEAR(predict(work, machine).storage, 2 * even, 1e-9);
  machine.writes.front().ranks = 2;
  part.ranks = 2;  // two are in flight at a time, so none waits
  EXPECT_NEAR(predict(work, machine).storage, even, 1e-9);
}

TEST(Predict, sends_what_is_left_of_bytes_that_shrink) {
  Work work = aggregated_work();
  Machine machine;
  machine.codecs = {{.name = "lz4", .encode_bytes_per_s = 1e12, .decode_bytes_per_s = 1e12}};
  const double plain = predict(work, machine).exchange;
  work.compresses = true;
  double before = 0;
  for (const double shrinks_to : {0.01, 0.25, k_usual_ratio, 1.0}) {
    work.shrinks_to = shrinks_to;
    const double now = predict(work, machine).exchange;
    EXPECT_GT(now, before) << shrinks_to;
    EXPECT_LE(now, plain) << shrinks_to;
    before = now;
  }
  EXPECT_EQ(before, plain);
  work.shrinks_to = 7;
  EXPECT_EQ(predict(work, machine).exchange, plain);
}

TEST(Predict, overlaps_rounds_where_cores_are_free) {
  const Work work = aggregated_work();
  Machine machine;
  machine.storage.kind = "local";
  machine.cores_per_host = 8;
  const Prediction oversubscribed = predict(work, machine);
  EXPECT_NEAR(oversubscribed.total,
              oversubscribed.open + oversubscribed.plan + oversubscribed.exchange + oversubscribed.storage, 1e-12);
  machine.cores_per_host = 9;
  EXPECT_LT(predict(work, machine).total, oversubscribed.total);
}

TEST(Predict, is_sound_for_any_numbers) {
  std::mt19937 random(11);
  constexpr double k_nan = std::numeric_limits<double>::quiet_NaN(),
                   k_infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> hostile{k_nan, k_infinite, -k_infinite, -1, 0, 1, 1e-300, 1e300, 9.3e18, 5};
  const auto any = [&] { return hostile[random() % hostile.size()]; };
  Machine measured;
  measured.writes =
      measured.reads = {{.request_bytes = 4096, .ranks = 3, .bytes_per_s = 1e9},
                        {.request_bytes = 4096, .ranks = 3, .bytes_per_s = 1e9, .sharing = Sharing::mapped}};
  measured.codecs = {{.name = "lz4"}};
  for (int i = 0; i < 20'000; ++i) {
    Work work;
    for (double* number : numbers_of(work))
      *number = any();
    work.ranks = any(), work.hosts = any(), work.rounds = any(), work.compresses = random() % 2 == 0;
    work.storage_parts = random() % 5;
    for (StorageWork& part : work.storage)
      part = {.reading = random() % 2 == 0,
              .sieving = random() % 2 == 0,
              .sharing = static_cast<Sharing>(random() % 5),
              .ranks = any(),
              .bytes = any(),
              .rank_bytes = any(),
              .request_bytes = any(),
              .targets = any(),
              .stripe_bytes = any()};
    ASSERT_TRUE(is_sound(predict(work, Machine{}))) << i;
    ASSERT_TRUE(is_sound(predict(work, measured))) << i;
    ASSERT_TRUE(is_sound(predict(work, default_machine("local")))) << i;
  }
}

}  // namespace windrow::test
