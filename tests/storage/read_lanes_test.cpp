// SPDX-License-Identifier: BSD-3-Clause
#include "storage/posix/read_lanes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

namespace windrow {
namespace {

std::byte at(int64_t offset) {
  return static_cast<std::byte>(static_cast<uint64_t>(offset) * 2654435761U >> 13);
}

// A file whose reads take a millisecond, and fail after its end.
class Slow {
 public:
  static constexpr int64_t k_end = int64_t{64} << 20;

  Status read(const ReadRequest& piece, StoreCounters& counters) {
    const int now = ++under_way_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);)
      continue;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    for (size_t i = 0; i < piece.bytes.size(); ++i)
      piece.bytes[i] = at(piece.offset + static_cast<int64_t>(i));
    ++counters.read_requests;
    counters.bytes_read += static_cast<int64_t>(piece.bytes.size());
    --under_way_;
    return piece.offset < k_end ? Status{} : Status{Code::bad_file, "behind the end"};
  }
  ReadLanes::Read reader() {
    return [this](const ReadRequest& piece, StoreCounters& counters) { return read(piece, counters); };
  }
  int most() const { return most_; }

 private:
  std::atomic<int> under_way_{0}, most_{0};
};

struct Batch {
  std::vector<std::byte> memory;
  std::vector<ReadRequest> requests;

  Batch(size_t count, size_t bytes, int64_t begin, int64_t stride) : memory(count * bytes) {
    for (size_t i = 0; i < count; ++i)
      requests.push_back({begin + static_cast<int64_t>(i) * stride, std::span(memory).subspan(i * bytes, bytes)});
  }
  bool is_right(size_t from = 0) const {
    for (const ReadRequest& request : requests)
      for (size_t i = &request == requests.data() ? from : 0; i < request.bytes.size(); ++i)
        if (request.bytes[i] != at(request.offset + static_cast<int64_t>(i)))
          return false;
    return true;
  }
};

TEST(ReadLanes, several_at_the_same_time_and_never_more_than_lanes) {
  Slow file;
  ReadLanes lanes(file.reader());
  for (const size_t bytes : {size_t{1} << 20, size_t{3}}) {
    Batch batch(40, bytes, 0, 1 << 20);
    StoreCounters counters;
    ASSERT_TRUE(lanes.begin(batch.requests));
    EXPECT_TRUE(lanes.has_begun(batch.requests));
    EXPECT_TRUE(lanes.finish(batch.requests, counters, {}).ok());
    EXPECT_FALSE(lanes.has_begun(batch.requests));
    EXPECT_TRUE(batch.is_right());
    EXPECT_EQ(counters.read_requests, 40);
    EXPECT_EQ(counters.bytes_read, static_cast<int64_t>(40 * bytes));
    EXPECT_LE(file.most(), bytes > 3 ? 4 : 16);
    EXPECT_TRUE(lanes.was_slow() || bytes > 3);
  }
}

TEST(ReadLanes, a_long_request_counts_once_and_what_is_taken_not_at_all) {
  Slow file;
  ReadLanes lanes(file.reader());
  Batch batch(1, (size_t{5} << 20) + 77, 12345, 0);
  StoreCounters counters;
  ASSERT_TRUE(lanes.begin(batch.requests));
  EXPECT_TRUE(lanes.finish(batch.requests, counters, {}).ok());
  EXPECT_TRUE(batch.is_right());
  EXPECT_EQ(counters.read_requests, 1);
  std::fill(batch.memory.begin(), batch.memory.end(), std::byte{0});
  ASSERT_TRUE(lanes.begin(batch.requests, 4000));
  EXPECT_TRUE(lanes.finish(batch.requests, counters, {}).ok());
  EXPECT_TRUE(batch.is_right(4000));
  EXPECT_EQ(batch.memory[3999], std::byte{0});
  EXPECT_EQ(counters.read_requests, 1);
  EXPECT_EQ(counters.bytes_read, static_cast<int64_t>(2 * batch.memory.size() - 4000));
}

// While the last of one batch are under way the next begins; each counts its own.
TEST(ReadLanes, the_next_batch_begins_meanwhile) {
  Slow file;
  ReadLanes lanes(file.reader());
  std::vector<Batch> batches;
  for (int64_t i = 0; i < 6; ++i)
    batches.emplace_back(9, 1000, i * 100'000, 5000);
  ASSERT_TRUE(lanes.begin(batches[0].requests));
  for (size_t i = 0; i < batches.size(); ++i) {
    StoreCounters counters;
    int calls = 0;
    EXPECT_TRUE(lanes.has_begun(batches[i].requests));
    EXPECT_TRUE(lanes
                    .finish(batches[i].requests, counters,
                            [&] {
                              ++calls;
                              if (i + 1 == batches.size())
                                return false;
                              EXPECT_TRUE(lanes.begin(batches[i + 1].requests));
                              if (i == 2) {
                                EXPECT_FALSE(lanes.begin(batches[i + 2].requests)) << "two are there already";
                              }
                              return false;
                            })
                    .ok());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(counters.read_requests, 9);
    EXPECT_TRUE(batches[i].is_right()) << i;
  }
}

TEST(ReadLanes, asks_again_until_the_batch_has_ended) {
  Slow file;
  ReadLanes lanes(file.reader());
  Batch batch(40, 100, 0, 100);
  StoreCounters counters;
  int calls = 0;
  ASSERT_TRUE(lanes.begin(batch.requests));
  EXPECT_TRUE(lanes.finish(batch.requests, counters, [&] { return ++calls > 0; }).ok());
  EXPECT_GE(calls, 1);
  EXPECT_TRUE(batch.is_right());
}

TEST(ReadLanes, a_failure_is_its_own_batch_s) {
  Slow file;
  ReadLanes lanes(file.reader());
  Batch broken(50, 10, Slow::k_end - 40, 10), whole(5, 10, 0, 10);
  StoreCounters counters;
  ASSERT_TRUE(lanes.begin(broken.requests));
  ASSERT_TRUE(lanes.begin(whole.requests));
  EXPECT_EQ(lanes.finish(broken.requests, counters, {}).code(), Code::bad_file);
  EXPECT_TRUE(lanes.finish(whole.requests, counters, {}).ok());
  EXPECT_TRUE(whole.is_right());
}

TEST(ReadLanes, forgets_what_nobody_finishes) {
  Slow file;
  Batch first(20, 1 << 20, 0, 1 << 20), second(20, 100, 0, 100);
  {
    ReadLanes lanes(file.reader());
    ASSERT_TRUE(lanes.begin(first.requests));
    ASSERT_TRUE(lanes.begin(second.requests));
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    StoreCounters given;
    lanes.finish_all(given);
    EXPECT_GT(given.bytes_read, 0);
    EXPECT_FALSE(lanes.has_begun(first.requests));
    StoreCounters counters;
    ASSERT_TRUE(lanes.begin(second.requests));
    EXPECT_TRUE(lanes.finish(second.requests, counters, {}).ok());
    EXPECT_TRUE(second.is_right());
    ASSERT_TRUE(lanes.begin(first.requests));  // under way when the lanes end
  }
  std::fill(first.memory.begin(), first.memory.end(), std::byte{1});
  std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_EQ(std::count(first.memory.begin(), first.memory.end(), std::byte{1}),
            static_cast<std::ptrdiff_t>(first.memory.size()));
}

}  // namespace
}  // namespace windrow
