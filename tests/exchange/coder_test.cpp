// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/coder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "plan/strategy.hpp"

namespace windrow {
namespace {

constexpr double k_slow_link = 1e-6, k_fast_link = 1e-15;  // seconds a byte

Plan with(Codec codec) {
  Plan plan;
  plan.strategy.codec = codec;
  return plan;
}

// Numbers of 4 bytes that stay for a while.
std::vector<std::byte> runs(size_t count) {
  std::vector<std::byte> description(count);
  for (size_t i = 0; i < count; i += 4)
    description[i] = static_cast<std::byte>(i / 64 % 50);
  return description;
}

// A rank of another host, or -1.
int somebody_else(const Comm& comm) {
  for (const int root : comm.host_roots())
    if (root != comm.host_root())
      return root;
  return -1;
}

class CoderOfDescriptions : public testing::Test {
 protected:
  void SetUp() override {
    comm_ = Comm::of(MPI_COMM_WORLD).value();
    other_ = somebody_else(*comm_);
    if (other_ < 0)
      GTEST_SKIP() << "all ranks are on one host";
    if (std::ranges::none_of(compressors(), [](const Compressor* each) { return each->does(1); }))
      GTEST_SKIP() << "no compressor of bytes is built in";
  }
  std::shared_ptr<Comm> comm_;
  int other_ = -1;
  Trace trace_;
  double seconds_ = 0;
};

// They are sent before the first run: no codec is chosen for all messages yet.
TEST_F(CoderOfDescriptions, are_shrunk_over_a_slow_link_where_the_choice_is_left_open) {
  comm_->set_link(k_slow_link);
  Coder coder(*comm_, with(Codec::automatic), false, trace_);
  const std::vector<std::byte> description = runs(20'000);
  std::vector<std::byte> sent = description;
  ASSERT_TRUE(coder.shrink(other_, sent, seconds_));
  EXPECT_LT(sent.size(), description.size() / 4);
  const auto got = coder.grow(sent, seconds_);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got.value(), description);
}

TEST_F(CoderOfDescriptions, travel_as_they_are_over_a_fast_link) {
  comm_->set_link(k_fast_link);
  Coder coder(*comm_, with(Codec::automatic), false, trace_);
  std::vector<std::byte> sent = runs(20'000);
  EXPECT_FALSE(coder.shrink(other_, sent, seconds_));
  EXPECT_EQ(sent, runs(20'000));
}

TEST_F(CoderOfDescriptions, travel_as_they_are_where_that_is_asked_for_or_nothing_shrinks) {
  comm_->set_link(k_slow_link);
  std::mt19937 random(1);
  std::vector<std::byte> noise(20'000);
  for (std::byte& each : noise)
    each = static_cast<std::byte>(random());
  std::vector<std::byte> sent = noise;
  EXPECT_FALSE(Coder(*comm_, with(Codec::automatic), false, trace_).shrink(other_, sent, seconds_));
  EXPECT_EQ(sent, noise);
  sent = runs(20'000);
  EXPECT_FALSE(Coder(*comm_, with(Codec::off), false, trace_).shrink(other_, sent, seconds_));
  std::vector<std::byte> near = runs(20'000);
  EXPECT_FALSE(Coder(*comm_, with(Codec::automatic), false, trace_).shrink(comm_->rank(), near, seconds_))
      << "within a host";
}

// What a damaged length claims is not asked of the system.
TEST_F(CoderOfDescriptions, that_claim_to_be_of_other_lengths_are_refused) {
  comm_->set_link(k_slow_link);
  Coder coder(*comm_, with(Codec::automatic), false, trace_);
  std::vector<std::byte> sent = runs(20'000);
  ASSERT_TRUE(coder.shrink(other_, sent, seconds_));
  const int64_t before = coder.bytes();
  for (const int64_t claimed :
       {int64_t{-1}, int64_t{0}, int64_t{19'999}, int64_t{20'001}, int64_t{4'294'967'280}, INT64_MAX, INT64_MIN}) {
    std::vector<std::byte> damaged = sent;
    std::memcpy(damaged.data(), &claimed, sizeof claimed);
    EXPECT_EQ(coder.grow(damaged, seconds_).status().code(), Code::internal) << claimed;
    const auto in_header =
        static_cast<uint32_t>(claimed);  // both say the same, and there are not bytes enough for so many
    std::memcpy(damaged.data() + sizeof claimed + 4, &in_header, sizeof in_header);
    EXPECT_EQ(coder.grow(damaged, seconds_).status().code(), Code::internal) << claimed;
  }
  for (size_t length = 0; length < 32; ++length)
    EXPECT_EQ(coder.grow(std::span(sent).first(length), seconds_).status().code(), Code::internal) << length;
  EXPECT_LE(coder.bytes(), before + 1024) << "no memory was asked for but for one byte more";
  EXPECT_TRUE(coder.grow(sent, seconds_).ok());
}

// Data, to one or two ranks of other hosts.
class CoderOfData : public CoderOfDescriptions {
 protected:
  static constexpr int64_t k_largest = 64'000;

  void SetUp() override {
    CoderOfDescriptions::SetUp();
    if (IsSkipped())
      return;
    for (const int root : comm_->host_roots())
      if (root != comm_->host_root())
        others_.push_back(root);
    frame_.resize(k_largest + k_frame_header);
  }

  std::unique_ptr<Coder> coder(Codec codec, bool checks = false) {
    auto made = std::make_unique<Coder>(*comm_, with(codec), checks, trace_);
    for (size_t i = 0; i < others_.size(); ++i) {
      traffic_[i] = {.rank = others_[i], .element_bytes = 4};
      made->add(traffic_[i]);
    }
    made->expect(k_largest);
    EXPECT_TRUE(made->prepare().ok());
    return made;
  }

  // What travels, and what it becomes.
  int64_t sent(Coder& coder, Traffic& traffic, const std::vector<std::byte>& message) {
    const auto bytes = coder.encode(traffic, message, frame_.data());
    std::vector<std::byte> got(bytes.begin(), bytes.end());
    got.resize(std::max(got.size(), message.size()));
    const std::byte* decoded = coder.decode(traffic.rank, got.data(), static_cast<int64_t>(bytes.size()),
                                            static_cast<int64_t>(message.size()));
    EXPECT_TRUE(coder.status().ok()) << coder.status().message();
    EXPECT_EQ(std::memcmp(decoded, message.data(), message.size()), 0);
    return static_cast<int64_t>(bytes.size());
  }

  static std::vector<std::byte> noise(size_t count) {
    static std::mt19937 random(7);
    std::vector<std::byte> bytes(count);
    for (std::byte& each : bytes)
      each = static_cast<std::byte>(random());
    return bytes;
  }

  static std::vector<std::byte> equal(size_t count) {
    std::vector<std::byte> bytes(count);
    for (size_t i = 0; i < count; ++i)
      bytes[i] = static_cast<std::byte>(i % 4 + 1);
    return bytes;
  }

  static Predicted all_alike() {
    Predicted all;
    all.found.fill(1);
    all.quiet.fill(1);
    return all;
  }

  std::vector<int> others_;
  std::array<Traffic, 8> traffic_;
  std::vector<std::byte> frame_;
};

TEST_F(CoderOfData, counts_each_message_by_what_became_of_it) {
  const auto with_first = coder(parse_strategy({.codec = std::string(compressors().front()->name())}).value().codec);
  Coder& coder = *with_first;
  coder.begin({});
  const int64_t shrunk = sent(coder, traffic_[0], runs(20'000));
  EXPECT_LT(shrunk, 5'000);
  EXPECT_EQ(sent(coder, traffic_[0], equal(20'000)), k_frame_header + 4);
  EXPECT_EQ(sent(coder, traffic_[0], runs(255)), 255) << "shorter ones are not looked at";
  EXPECT_EQ(sent(coder, traffic_[0], noise(20'000)), 20'000);
  EXPECT_EQ(traffic_[0].messages, 4);
  EXPECT_EQ(traffic_[0].raw_bytes, 60'255);
  EXPECT_EQ(traffic_[0].wire_bytes, shrunk + k_frame_header + 4 + 255 + 20'000);
  EXPECT_EQ(trace_.codecs[1].messages, 1);
  EXPECT_EQ(trace_.codecs[1].bytes_in, 20'000);
  EXPECT_EQ(trace_.codecs[1].bytes_out, shrunk);
  EXPECT_EQ(trace_.codecs[k_codec_constant].bytes_out, k_frame_header + 4);
  EXPECT_EQ(trace_.codecs[k_arm_off].messages, 2);
  EXPECT_EQ(trace_.codecs[k_arm_off].bytes_out, 20'255);
  EXPECT_FALSE(coder.times(20'000)) << "what is asked for is not watched";
  // After one that would not shrink some are not tried; equal elements are found all the same.
  EXPECT_EQ(sent(coder, traffic_[0], runs(20'000)), 20'000);
  EXPECT_EQ(sent(coder, traffic_[0], equal(20'000)), k_frame_header + 4);
  int again = 0;
  while (again < 100 && sent(coder, traffic_[0], runs(20'000)) == 20'000)
    ++again;
  EXPECT_GT(again, 8);
  EXPECT_LT(again, 20);
}

TEST_F(CoderOfData, with_checksums_is_a_frame_whatever_becomes_of_it) {
  for (const Codec codec : {Codec::off, Codec::automatic}) {
    comm_->set_link(k_slow_link);
    const auto made = coder(codec, true);
    made->begin({.arm = CodecTuner::k_by_message, .looks = true});
    const int64_t length = sent(*made, traffic_[0], runs(20'000));
    EXPECT_EQ(length < 20'000, codec == Codec::automatic) << length;
    EXPECT_EQ(sent(*made, traffic_[0], noise(20'000)), 20'000 + k_frame_header)
        << "a header of 16 bytes and nothing more";
    EXPECT_EQ(sent(*made, traffic_[0], noise(3)), 3 + k_frame_header);
  }
}

// The best codec for all ranks is not the best for a receiver of noise, nor for the only receiver whose data shrinks.
// What a rank knows of that remains from one transfer to another, as for the next file.
TEST_F(CoderOfData, goes_its_own_way_to_whom_other_data_goes) {
  if (others_.size() < 2)
    GTEST_SKIP() << "there is only one other host";
  comm_->set_link(k_slow_link);
  for (const size_t order : {k_arm_off, size_t{1}}) {
    SCOPED_TRACE(arm_name(order));
    trace_ = {};
    CodecNotes notes;
    auto made = coder(Codec::automatic);
    // A first run, message by message, determines the one. It takes long enough for more samples, which may take 0.3 %
    // of the time.
    made->begin({.arm = CodecTuner::k_by_message, .looks = true, .notes = &notes});
    const auto began = std::chrono::steady_clock::now();
    EXPECT_LT(sent(*made, traffic_[0], runs(20'000)), 5'000);
    std::this_thread::sleep_for(std::chrono::seconds(1) + 4000 * (std::chrono::steady_clock::now() - began));
    EXPECT_EQ(sent(*made, traffic_[1], noise(20'000)), 20'000);
    made->end();
    EXPECT_LT(traffic_[0].ratios[1], 0.5);
    EXPECT_GT(traffic_[1].ratios[1], 0.9) << "a sample of its own";
    EXPECT_EQ(trace_.messages_own_arm, 0) << "there was no way for all";
    EXPECT_GT(made->predicted().found[k_arm_off], 0);
    int64_t busy = 0;
    for (int run = 0; run < 24; ++run) {
      if (run == 12)
        made = coder(Codec::automatic);
      made->begin({.arm = order, .looks = run % 8 == 4, .all = all_alike(), .notes = &notes});
      for (Traffic& traffic : traffic_)
        traffic.begin();
      EXPECT_EQ(made->passive(), order == k_arm_off && run < 4) << "from the first look on";
      EXPECT_EQ(made->is_off(), order == k_arm_off && run % 8 != 4);
      EXPECT_EQ(made->times(20'000), run % 8 == 4) << "only runs that look";
      if (made->passive())
        continue;
      ++busy;
      EXPECT_LT(sent(*made, traffic_[0], runs(20'000)), 5'000);
      EXPECT_EQ(sent(*made, traffic_[1], noise(20'000)), 20'000);
      EXPECT_EQ(trace_.codecs[1].messages, trace_.codecs[1].bytes_in / 20'000) << "noise is not even tried";
      EXPECT_EQ(made->predicted().found[k_arm_off] > 0, !made->is_off())
          << "some ranks' messages alone are not what all predict";
      made->end();
    }
    if (order == k_arm_off) {
      EXPECT_EQ(trace_.messages_own_arm, busy) << "those to the first, and no others";
    }
  }
}

// If all messages gain alike, the trial decides: it measures what the model does not include.
TEST_F(CoderOfData, obeys_the_trial_where_all_are_predicted_to_gain_as_much) {
  comm_->set_link(k_slow_link);
  CodecNotes notes;
  const auto made = coder(Codec::automatic);
  made->begin({.arm = CodecTuner::k_by_message, .looks = true, .notes = &notes});
  EXPECT_LT(sent(*made, traffic_[0], runs(20'000)), 5'000);
  const Predicted all = made->predicted();
  ASSERT_GT(all.found[k_arm_off], all.found[1]);
  int looks = 0;
  for (int run = 0; run < 24; ++run) {
    made->begin({.arm = k_arm_off, .looks = run % 8 == 0, .all = all, .notes = &notes});
    traffic_[0].begin();
    if (made->passive())
      continue;
    ++looks;
    EXPECT_EQ(sent(*made, traffic_[0], runs(20'000)), 20'000);
  }
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(trace_.messages_own_arm, 0);
}

// The speed of a compressor is not learnt from short messages, from messages whose elements are all equal, or for
// compressors that do not support such elements.
TEST_F(CoderOfData, learns_from_what_tells) {
  comm_->set_link(k_slow_link);
  comm_->attachment(Comm::Remembered::codecs) = nullptr;  // other tests have measured
  const auto made = coder(Codec::automatic);
  CodecModel& model = static_cast<CodecMemory*>(comm_->attachment(Comm::Remembered::codecs).get())->model;
  made->begin({.arm = CodecTuner::k_by_message, .looks = true});
  EXPECT_EQ(sent(*made, traffic_[0], equal(20'000)), k_frame_header + 4);
  std::vector<std::byte> seldom(20'000);  // equal where a sample looks, and not elsewhere
  const auto some = runs(3'000);
  std::copy(some.begin(), some.end(), seldom.begin() + 2'600);
  const int64_t shrunk = sent(*made, traffic_[0], seldom);
  EXPECT_LT(shrunk, 5'000) << "compressed all the same";
  EXPECT_EQ(traffic_[0].ratios[k_arm_off], 0) << "that data shrinks to nothing is not what it says";
  EXPECT_EQ(made->predicted().found[k_arm_off], 0);
  EXPECT_LT(sent(*made, traffic_[0], runs(2'000)), 1'000);
  EXPECT_EQ(traffic_[0].ratios[k_arm_off], 1);
  for (size_t arm = 2; arm < arm_count(); ++arm)
    EXPECT_FALSE(model.encode(4)[arm].known()) << arm_name(arm);
  made->end();
  made->begin({.arm = CodecTuner::k_by_message, .looks = true});
  traffic_[0].begin();
  EXPECT_LT(sent(*made, traffic_[0], runs(20'000)), 5'000);
  for (size_t arm = 1; arm < arm_count(); ++arm)
    EXPECT_TRUE(model.encode(4)[arm].known()) << arm_name(arm);
  made->end();
  if (others_.size() < 2)
    return;
  traffic_[1].element_bytes = 1;
  made->begin({.arm = CodecTuner::k_by_message, .looks = true});
  (void)sent(*made, traffic_[1], runs(20'000));
  for (size_t arm = 1; arm < arm_count(); ++arm) {
    const bool does = compressor_of(arm)->does(1);
    EXPECT_EQ(model.encode(1)[arm].known(), does) << arm_name(arm);
    EXPECT_EQ(traffic_[1].ratios[arm] < 1, does) << arm_name(arm);
    if (!does) {
      EXPECT_EQ(model.work(arm, 1, {}), 0) << "what is not done takes no time";
    }
  }
  made->end();
}

// If the link is faster than any compressor, this is predicted, so the tuner settles and no rank samples any more.
TEST_F(CoderOfData, says_that_a_fast_link_needs_no_compressor) {
  comm_->set_link(k_fast_link);
  const auto made = coder(Codec::automatic);
  CodecTuner tuner;
  for (int run = 0; run < 3; ++run) {
    made->begin(tuner.order());
    traffic_[0].begin();
    if (!made->passive()) {
      EXPECT_EQ(sent(*made, traffic_[0], runs(20'000)), 20'000);
    }
    made->end();
    tuner.learn(made->arm(), 1e-3, made->predicted());
  }
  EXPECT_TRUE(tuner.has_chosen());
  EXPECT_EQ(tuner.arm(), k_arm_off);
  EXPECT_TRUE(made->passive());
}

}  // namespace
}  // namespace windrow
