// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/coder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace windrow {
namespace {

constexpr double k_slow_link = 1e-6, k_fast_link = 1e-15;  // seconds a byte

Plan with(Codec codec) {
  Plan plan;
  plan.strategy.codec = codec;
  return plan;
}

std::vector<std::byte> runs(size_t count) {
  std::vector<std::byte> letter(count);
  for (size_t i = 0; i < count; ++i) letter[i] = static_cast<std::byte>(i % 3 + i / 1000);
  return letter;
}

// A rank of another host, or -1.
int somebody_else(const Comm& comm) {
  for (const int root : comm.host_roots())
    if (root != comm.host_root()) return root;
  return -1;
}

class CoderOfDescriptions : public testing::Test {
 protected:
  void SetUp() override {
    comm_ = Comm::of(MPI_COMM_WORLD).value();
    other_ = somebody_else(*comm_);
    if (other_ < 0) GTEST_SKIP() << "all ranks are on one host";
    if (compressors().empty()) GTEST_SKIP() << "no compressor is built in";
  }
  std::shared_ptr<Comm> comm_;
  int other_ = -1;
  Trace trace_;
};

// They are sent before the first run: nobody has chosen anything for all messages yet.
TEST_F(CoderOfDescriptions, are_shrunk_over_a_slow_link_where_the_choice_is_left_open) {
  comm_->set_link(k_slow_link);
  Coder coder(*comm_, with(Codec::automatic), false, trace_);
  const std::vector<std::byte> letter = runs(20'000);
  std::vector<std::byte> sent = letter;
  ASSERT_TRUE(coder.shrink(other_, sent));
  EXPECT_LT(sent.size(), letter.size() / 4);
  const auto got = coder.grow(sent);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got.value(), letter);
}

TEST_F(CoderOfDescriptions, travel_as_they_are_over_a_fast_link) {
  comm_->set_link(k_fast_link);
  Coder coder(*comm_, with(Codec::automatic), false, trace_);
  std::vector<std::byte> sent = runs(20'000);
  EXPECT_FALSE(coder.shrink(other_, sent));
  EXPECT_EQ(sent, runs(20'000));
}

TEST_F(CoderOfDescriptions, travel_as_they_are_where_that_is_asked_for_or_nothing_shrinks) {
  comm_->set_link(k_slow_link);
  std::mt19937 random(1);
  std::vector<std::byte> noise(20'000);
  for (std::byte& each : noise) each = static_cast<std::byte>(random());
  std::vector<std::byte> sent = noise;
  EXPECT_FALSE(Coder(*comm_, with(Codec::automatic), false, trace_).shrink(other_, sent));
  EXPECT_EQ(sent, noise);
  sent = runs(20'000);
  EXPECT_FALSE(Coder(*comm_, with(Codec::off), false, trace_).shrink(other_, sent));
  std::vector<std::byte> near = runs(20'000);
  EXPECT_FALSE(Coder(*comm_, with(Codec::automatic), false, trace_).shrink(comm_->rank(), near)) << "within a host";
}

// What a damaged length claims is not asked of the system.
TEST_F(CoderOfDescriptions, that_claim_to_be_of_other_lengths_are_refused) {
  comm_->set_link(k_slow_link);
  Coder coder(*comm_, with(Codec::automatic), false, trace_);
  std::vector<std::byte> sent = runs(20'000);
  ASSERT_TRUE(coder.shrink(other_, sent));
  const int64_t before = coder.bytes();
  for (const int64_t claimed : {int64_t{-1}, int64_t{0}, int64_t{19'999}, int64_t{20'001}, int64_t{4'294'967'280}, INT64_MAX, INT64_MIN}) {
    std::vector<std::byte> damaged = sent;
    std::memcpy(damaged.data(), &claimed, sizeof claimed);
    EXPECT_EQ(coder.grow(damaged).status().code(), Code::internal) << claimed;
    const auto in_header = static_cast<uint32_t>(claimed);  // both say the same, and there are not bytes enough for so many
    std::memcpy(damaged.data() + sizeof claimed + 4, &in_header, sizeof in_header);
    EXPECT_EQ(coder.grow(damaged).status().code(), Code::internal) << claimed;
  }
  for (size_t length = 0; length < 32; ++length) EXPECT_EQ(coder.grow(std::span(sent).first(length)).status().code(), Code::internal) << length;
  EXPECT_LE(coder.bytes(), before + 1024) << "no memory was asked for but for one byte more";
  EXPECT_TRUE(coder.grow(sent).ok());
}

}  // namespace
}  // namespace windrow
