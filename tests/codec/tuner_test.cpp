// SPDX-License-Identifier: BSD-3-Clause
// The times are given, so the choice of a compressor is deterministic: networks and data are simulated.
#include "codec/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace windrow {
namespace {

using testing::HasSubstr;

// Runs of a program on a machine where an arm takes so many seconds. The arms of the runs.
std::vector<size_t> run(CodecTuner& tuner, int runs, const ArmNumbers& predicted, const ArmNumbers& quiet,
                        const std::function<double(size_t)>& seconds, size_t by_message = k_arm_off) {
  std::vector<size_t> arms;
  for (int i = 0; i < runs; ++i) {
    const size_t arm = tuner.arm();
    arms.push_back(arm);
    tuner.learn(arm, seconds(arm == CodecTuner::k_by_message ? by_message : arm), {.found = predicted, .quiet = quiet});
  }
  return arms;
}

std::vector<size_t> run(CodecTuner& tuner, int runs, const ArmNumbers& predicted,
                        const std::function<double(size_t)>& seconds, size_t by_message = k_arm_off) {
  return run(tuner, runs, predicted, predicted, seconds, by_message);
}

ArmNumbers numbers(double off, double others) {
  ArmNumbers all{};
  for (size_t arm = 0; arm < arm_count(); ++arm)
    all[arm] = arm == k_arm_off ? off : others * (1 + 0.01 * static_cast<double>(arm));
  return all;
}

class Tuner : public testing::Test {
 protected:
  void SetUp() override {
    if (arm_count() < 3)
      GTEST_SKIP() << "no compressor is built in";
  }
};

TEST_F(Tuner, arms_are_off_and_each_compressor_without_and_with_shuffle) {
  EXPECT_EQ(arm_name(k_arm_off), "off");
  for (const Compressor* compressor : compressors()) {
    const size_t plain = find_arm(compressor->name(), false), shuffled = find_arm(compressor->name(), true);
    EXPECT_NE(plain, k_arm_off);
    EXPECT_NE(plain, shuffled);
    EXPECT_EQ(arm_name(plain), compressor->name());
    EXPECT_EQ(shuffled != k_arm_off, compressor->shuffles());
    if (!compressor->shuffles())
      continue;
    EXPECT_EQ(arm_name(shuffled), std::string(compressor->name()) + "+shuffle");
    EXPECT_EQ(compressor_of(shuffled), compressor);
    EXPECT_EQ(arm_of({.compressor = compressor->id(), .shuffled = true}), shuffled);
  }
  EXPECT_EQ(find_arm("none such", true), k_arm_off);
}

TEST_F(Tuner, begins_message_by_message_and_stays_so_while_nobody_looks) {
  CodecTuner tuner;
  const auto arms = run(tuner, 5, ArmNumbers{}, [](size_t) { return 1.0; });
  EXPECT_THAT(arms, testing::Each(CodecTuner::k_by_message));
}

// A slow link: without compression it would take ten times as long. That is not tried.
TEST_F(Tuner, takes_what_is_predicted_to_be_faster_by_far_without_trying_the_rest) {
  CodecTuner tuner;
  ArmNumbers predicted = numbers(10, 9);
  predicted[2] = 1;
  const auto arms = run(
      tuner, 4, predicted, [&](size_t arm) { return predicted[arm]; }, 2);
  EXPECT_EQ(arms, (std::vector<size_t>{CodecTuner::k_by_message, 2, 2, 2}));
  EXPECT_THAT(tuner.why(), HasSubstr(arm_name(2)));
  EXPECT_THAT(tuner.why(), HasSubstr("far faster")) << "nothing was tried, however often it ran";
}

// The model is wrong: what it holds to be nearly equal is tried, and the clock decides.
TEST_F(Tuner, tries_what_is_nearly_equal_and_keeps_the_fastest) {
  for (size_t fastest = 0; fastest < 3; ++fastest) {
    CodecTuner tuner;
    const ArmNumbers predicted = numbers(1.2, 1);
    const auto seconds = [&](size_t arm) { return arm == fastest ? 1.0 : 1.1; };
    const auto arms = run(tuner, 40, predicted, seconds);
    EXPECT_TRUE(tuner.has_chosen());
    EXPECT_EQ(arms.back(), fastest);
    EXPECT_LE(std::count_if(arms.begin(), arms.end(), [&](size_t arm) { return arm != fastest; }), 1 + 4 * 3)
        << "at most four arms are tried, three times";
    EXPECT_THAT(tuner.why(), HasSubstr("took"));
  }
}

TEST_F(Tuner, what_took_far_longer_is_tried_once_or_twice) {
  for (const double off : {1.4, 1.9}) {
    CodecTuner tuner;
    const auto arms = run(
        tuner, 40, numbers(off, 1), [&](size_t arm) { return arm == k_arm_off ? off : 1.0; }, 1);
    EXPECT_EQ(std::count(arms.begin(), arms.end(), k_arm_off), off > 1.5 ? 1 : 2);
    EXPECT_NE(arms.back(), k_arm_off);
  }
}

// Ranks that share cores slow each other down: the link looks slow, compression only makes it worse.
TEST_F(Tuner, off_is_looked_at_though_it_is_predicted_to_be_slower) {
  CodecTuner tuner;
  const auto arms = run(
      tuner, 40, numbers(1.8, 1), [](size_t arm) { return arm == k_arm_off ? 0.8 : 1.0; }, 1);
  EXPECT_EQ(arms.back(), k_arm_off);
}

// A codec that leaves nearly all bytes gains nothing. A codec that is not better than another for any link gains
// nothing either. Neither is tried, even if nearly equal.
TEST_F(Tuner, does_not_try_what_can_be_of_no_use) {
  if (arm_count() < 5)
    GTEST_SKIP() << "too few compressors are built in";
  const auto tried = [](const Predicted& predicted, size_t preferred) {
    CodecTuner tuner(preferred);
    std::vector<size_t> arms;
    tuner.learn(CodecTuner::k_by_message, 1, predicted);
    for (int i = 0; i < 12 && !tuner.has_chosen(); ++i) {
      arms.push_back(tuner.arm());
      tuner.learn(tuner.arm(), 1, {});
    }
    std::ranges::sort(arms);
    const auto same = std::ranges::unique(arms);
    arms.erase(same.begin(), same.end());
    return arms;
  };
  Predicted predicted{numbers(1.2, 1.1), numbers(1.2, 1.1), {}};
  predicted.found[1] = predicted.quiet[1] = 1;
  predicted.quiet[3] = 0.95;
  predicted.wire.fill(60);
  predicted.wire[k_arm_off] = 100;
  predicted.wire[2] = 96;  // not enough
  predicted.wire[4] = 55;  // smaller than arm 1 makes it, so it may pay over a slow link
  EXPECT_EQ(tried(predicted, k_arm_off), (std::vector<size_t>{k_arm_off, 1, 3, 4}))
      << "3 is better where nobody else sends; others are as 1 is, and slower";
  EXPECT_EQ(tried(predicted, 2), (std::vector<size_t>{k_arm_off, 1, 2, 3})) << "unless somebody asked for it";
  predicted.found[2] = predicted.quiet[2] = 1.09;
  predicted.wire[2] = 60;
  EXPECT_EQ(tried(predicted, k_arm_off), (std::vector<size_t>{k_arm_off, 1, 2, 3}))
      << "slower by less than a tenth: the model does not know so well";
  predicted.wire.fill(99);
  EXPECT_EQ(tried(predicted, k_arm_off), std::vector<size_t>{}) << "off is chosen at once";
}

// Predicted to be slower by far: that is worth a trial only where many runs share its cost.
TEST_F(Tuner, off_is_looked_at_later_where_it_is_predicted_to_be_slower_by_far) {
  CodecTuner tuner;
  const auto arms = run(
      tuner, 120, numbers(2.5, 1), [](size_t arm) { return arm == k_arm_off ? 0.8 : 1.0; }, 1);
  EXPECT_EQ(std::count(arms.begin(), arms.begin() + 60, k_arm_off), 0);
  EXPECT_EQ(arms.back(), k_arm_off);
}

// To send all as it is is predicted to be fastest, by half: compressors are not tried until there were runs enough to
// bear it.
TEST_F(Tuner, a_fast_link_bears_no_trials_at_first) {
  CodecTuner tuner;
  const auto arms = run(tuner, 100, numbers(1, 1.4), [](size_t arm) { return arm == k_arm_off ? 1.0 : 1.4; });
  EXPECT_EQ(std::count(arms.begin(), arms.begin() + 60, k_arm_off), 59)
      << "all but the first, which goes message by message";
  EXPECT_GT(std::count_if(arms.begin() + 60, arms.end(), [](size_t arm) { return arm != k_arm_off; }), 0);
  EXPECT_EQ(arms.back(), k_arm_off);
}

// Each file has two flushes, and the first takes longer with any arm.
TEST_F(Tuner, each_candidate_is_tried_in_a_files_first_flush_and_in_its_second) {
  CodecTuner tuner;
  int flush = 0;
  const auto arms = run(tuner, 40, numbers(1.2, 1.19), [&](size_t arm) {
    return (arm == k_arm_off ? 1.2 : 1.0 + 0.01 * static_cast<double>(arm)) * (flush++ % 2 == 0 ? 1.4 : 1);
  });
  EXPECT_NE(arms.back(), k_arm_off);
  for (const size_t arm : arms) {
    if (arm == CodecTuner::k_by_message)
      continue;
    bool first = false, second = false;
    for (size_t i = 0; i < arms.size(); ++i)
      if (arms[i] == arm)
        (i % 2 == 0 ? first : second) = true;
    EXPECT_TRUE(first && second) << arm_name(arm);
  }
}

// A first try may have been unlucky, and what is right today need not be tomorrow.
TEST_F(Tuner, looks_again_from_time_to_time) {
  CodecTuner tuner;
  int tries = 0;
  const auto unlucky = [&](size_t arm) { return arm != k_arm_off ? 1.0 : ++tries <= 3 ? 1.2 : 0.9; };
  const auto arms = run(tuner, 200, numbers(1.3, 1), unlucky, 1);
  EXPECT_NE(arms[30], k_arm_off);
  EXPECT_EQ(arms.back(), k_arm_off);
}

// The link looks ten times slower than it is when quiet. Both may be true, so both are tried, and what is hopeless only
// once.
TEST_F(Tuner, what_either_a_quiet_or_a_crowded_link_speaks_for_is_tried) {
  for (const bool oversubscribed : {false, true}) {
    CodecTuner tuner;
    const auto arms = run(
        tuner, 40, numbers(10, 1), numbers(1, 8),
        [&](size_t arm) { return (arm == k_arm_off) == oversubscribed ? 5.0 : 1.0; }, 1);
    EXPECT_EQ(arms.back() == k_arm_off, !oversubscribed);
    EXPECT_LE(
        std::count_if(arms.begin() + 1, arms.end(), [&](size_t arm) { return (arm == k_arm_off) == oversubscribed; }),
        4);
  }
}

TEST_F(Tuner, a_preferred_compressor_is_taken_unless_another_is_clearly_faster) {
  const size_t preferred = 2;
  for (const double other : {0.95, 0.8}) {
    CodecTuner tuner(preferred);
    const auto arms = run(
        tuner, 40, numbers(5, 1), [&](size_t arm) { return arm == preferred ? 1.0
                                                           : arm == 1       ? other
                                                                            : 1.05; }, 1);
    EXPECT_EQ(arms.back(), other < 0.9 ? 1U : preferred);
  }
}

// The link changes: after three runs that are far from what they were it looks again.
TEST_F(Tuner, looks_again_when_runs_take_far_longer_than_before) {
  CodecTuner tuner;
  run(tuner, 40, numbers(1, 4), [](size_t) { return 1.0; });
  EXPECT_EQ(tuner.arm(), k_arm_off);
  const ArmNumbers slow = numbers(20, 4);
  const auto arms = run(tuner, 40, slow, [&](size_t arm) { return slow[arm]; });
  EXPECT_NE(arms.back(), k_arm_off);
  EXPECT_LE(std::count(arms.begin(), arms.end(), k_arm_off), 3);
}

// The data changes: runs take what they took, since nothing is compressed, but a look says that they need not.
TEST_F(Tuner, looks_again_when_another_is_predicted_to_gain_more_than_it_was) {
  CodecTuner tuner;
  run(tuner, 40, numbers(1, 1.1), [](size_t) { return 1.0; });
  EXPECT_EQ(tuner.arm(), k_arm_off);
  run(tuner, 8, numbers(1.4, 1), [](size_t) { return 1.0; });
  EXPECT_EQ(tuner.arm(), k_arm_off) << "that is within what a model may be wrong";
  run(tuner, 8, numbers(9, 1), numbers(1, 1), [](size_t) { return 1.0; });
  EXPECT_EQ(tuner.arm(), k_arm_off) << "both links have to say so";
  const auto arms = run(tuner, 16, numbers(4, 1), [](size_t arm) { return arm == k_arm_off ? 1.0 : 0.3; });
  EXPECT_NE(arms[1], k_arm_off);
  EXPECT_NE(arms.back(), k_arm_off);
  // And back: what would not shrink any more is predicted to cost more than to send it as it is.
  const auto back = run(tuner, 16, numbers(1, 2), [](size_t arm) { return arm == k_arm_off ? 1.0 : 1.2; });
  EXPECT_EQ(back.back(), k_arm_off);
}

// Over all of its runs, for any files: one run in eight samples when an arm is chosen, and none during trials.
TEST_F(Tuner, has_every_eighth_run_look) {
  CodecTuner tuner;
  EXPECT_TRUE(tuner.order().looks);
  int looks = 0;
  for (int i = 0; i < 81; ++i) {
    const CodecOrder order = tuner.order();
    if (i > 0)
      looks += order.looks ? 1 : 0;
    EXPECT_EQ(order.notes, tuner.order().notes);
    tuner.learn(order.arm, 1, order.looks ? Predicted{numbers(1, 4), numbers(1, 4), {}} : Predicted{});
  }
  EXPECT_EQ(tuner.order().all.found, numbers(1, 4));
  EXPECT_EQ(looks, 10);
}

// Flushes in two of several files of a kind are under way at once, all with one order.
TEST_F(Tuner, does_not_believe_runs_that_were_ordered_before_it_knew_better) {
  CodecTuner tuner;
  const Predicted near{numbers(1.2, 1.1), numbers(1.2, 1.1), {}};
  const CodecOrder first = tuner.order(), second = tuner.order();
  tuner.learn(first.arm, 1, near);
  ASSERT_NE(tuner.arm(), CodecTuner::k_by_message);
  tuner.learn(second.arm, 1, near);
  for (int round = 0; round < 40; ++round) {
    const size_t arm = tuner.arm();
    tuner.learn(arm, arm == 1 ? 0.5 : 1, {});
    tuner.learn(arm, 0.01, {});  // where the first has changed the order, this is of another one
  }
  EXPECT_TRUE(tuner.has_chosen());
  EXPECT_THAT(tuner.why(), HasSubstr("took"));
}

// Costs of a message to one receiver: {off, the others}.
TEST_F(Tuner, own_ways_are_for_whom_far_more_is_gained_than_with_all) {
  const CodecOrder off{.arm = k_arm_off, .all = {numbers(1, 1), numbers(1, 1)}};
  EXPECT_EQ(own_arm(off, numbers(4, 1), 1), 1U) << "its data shrinks, or its link is slow";
  EXPECT_EQ(own_arm(off, numbers(1.4, 1), 1), k_arm_off);
  const CodecOrder gains_all{.arm = k_arm_off, .all = {numbers(4, 1), numbers(4, 1)}};
  EXPECT_EQ(own_arm(gains_all, numbers(5, 1), 1), k_arm_off)
      << "with all as much, and the trial found off to be faster";
  EXPECT_EQ(own_arm(gains_all, numbers(9, 1), 1), 1U);
  const CodecOrder first{.arm = 1, .all = {numbers(4, 1), numbers(4, 1)}};
  EXPECT_EQ(own_arm(first, numbers(1, 2), k_arm_off), k_arm_off) << "noise, or a link that is fast";
  EXPECT_EQ(own_arm(first, numbers(1, 1.2), k_arm_off), 1U);
  EXPECT_EQ(own_arm(CodecOrder{.arm = 1}, numbers(1, 2), k_arm_off), k_arm_off) << "nobody has looked yet";
}

// What a trial has shown to be worse than predicted is not tried again for being predicted the same.
TEST_F(Tuner, leaves_alone_what_gains_no_more_than_when_it_was_tried) {
  CodecTuner tuner;
  run(
      tuner, 40, numbers(4, 1), [](size_t arm) { return arm == k_arm_off ? 1.0 : 2.0; }, 1);
  const size_t chosen = tuner.arm();
  const auto arms = run(tuner, 20, numbers(5, 1), [](size_t arm) { return arm == k_arm_off ? 1.0 : 2.0; });
  EXPECT_THAT(arms, testing::Each(chosen));
}

TEST_F(Tuner, one_slow_run_changes_nothing) {
  CodecTuner tuner;
  run(tuner, 40, numbers(1, 4), [](size_t) { return 1.0; });
  int runs = 0;
  const auto arms = run(tuner, 40, numbers(1, 4), [&](size_t) { return ++runs % 4 == 0 ? 9.0 : 1.0; });
  EXPECT_THAT(arms, testing::Each(k_arm_off));
}

TEST(CodecModel, weighs_the_wire_against_the_work) {
  CodecModel model;
  if (arm_count() < 2)
    GTEST_SKIP() << "no compressor is built in";
  model.made(1, 4, 2e-9);
  model.decoded(1, 1e-9);
  const double slow = 80e-9, fast = 0.2e-9;
  EXPECT_LT(model.cost(1, 0.5, slow, 4, {}), model.cost(k_arm_off, 1, slow, 4, {}));
  EXPECT_GT(model.cost(1, 0.5, fast, 4, {}), model.cost(k_arm_off, 1, fast, 4, {}));
  EXPECT_DOUBLE_EQ(model.cost(k_arm_off, 1, slow, 4, {}), slow);
  EXPECT_DOUBLE_EQ(model.cost(1, 0.5, slow, 4, {}), 40e-9 + 1.5e-9);
  // One writer undoes what eight ranks make.
  EXPECT_DOUBLE_EQ(model.cost(1, 0.5, slow, 4, {.encodes = 1, .decodes = 8}), 40e-9 + 1e-9 + 4e-9);
  // Four ranks a core: nothing is done meanwhile, and three others work first.
  EXPECT_DOUBLE_EQ(model.cost(1, 0.5, slow, 4, {.ranks_a_core = 4}), 40e-9 + 12e-9);
  EXPECT_FALSE(model.encode(8)[1].known()) << "elements of another size are measured for themselves";
}

// Messages take longer than samples do: so would those that were only sampled.
TEST(CodecModel, what_was_only_sampled_is_as_much_slower_as_what_was_used) {
  if (arm_count() < 4)
    GTEST_SKIP() << "too few compressors are built in";
  CodecModel model;
  for (size_t arm = 1; arm < 4; ++arm)
    model.guess(arm, 4, 1e-9 * static_cast<double>(arm));
  const CodecModel::Work make{.encodes = 1, .decodes = 0};
  model.guess(2, 4, 50e-9);  // a core was taken away meanwhile
  const double sampled = model.work(2, 4, make);
  EXPECT_DOUBLE_EQ(sampled, 1e-9);
  model.made(1, 4, 1.5e-9);
  EXPECT_DOUBLE_EQ(model.work(2, 4, make), 1.5 * sampled);
  model.made(3, 4, 3e-9);
  EXPECT_DOUBLE_EQ(model.work(2, 4, make), 4.5 / 4 * sampled) << "of two, by what both take";
  EXPECT_DOUBLE_EQ(model.work(3, 4, make), 1.5e-9);
  model.made(2, 4, 2e-9);
  EXPECT_DOUBLE_EQ(model.work(2, 4, make), 1e-9) << "it was used itself";
  EXPECT_EQ(model.least_work(8, make), 0) << "elements of another size were not sampled";
}

TEST(CodecModel, takes_compressors_for_as_fast_as_they_are_known_until_there_is_a_sample) {
  CodecModel model;
  for (size_t arm = 1; arm < arm_count(); ++arm)
    EXPECT_DOUBLE_EQ(model.work(arm, 4, {.encodes = 2, .decodes = 0}), 1e-6 / compressor_of(arm)->megabytes_per_s());
}

// Nothing was tried, since nothing else was of use: a gain of 15 % is looked at then, and after a trial one of half as
// much again as it predicted.
TEST_F(Tuner, looks_again_sooner_where_nothing_was_tried) {
  for (const double gain : {1.1, 1.3}) {
    CodecTuner tuner;
    Predicted predicted{numbers(1, 1), numbers(1, 1), {}};
    predicted.wire.fill(1);
    tuner.learn(CodecTuner::k_by_message, 1, predicted);
    ASSERT_TRUE(tuner.has_chosen());
    EXPECT_THAT(tuner.why(), HasSubstr("no other is predicted to be faster"));
    for (int i = 0; i < 3; ++i)
      tuner.learn(k_arm_off, 1, {});
    predicted.found[k_arm_off] = predicted.quiet[k_arm_off] = predicted.wire[k_arm_off] = gain * 1.01;
    tuner.learn(k_arm_off, 1, predicted);
    EXPECT_EQ(tuner.has_chosen(), gain < 1.15) << gain;
  }
}

// A first message that took what was to be expected is believed at once.
TEST(CodecModel, a_first_message_is_held_against_what_others_took) {
  if (arm_count() < 4)
    GTEST_SKIP() << "too few compressors are built in";
  CodecModel model;
  model.guess(1, 4, 1e-9);
  model.guess(2, 4, 2e-9);
  for (int i = 0; i < 40; ++i)
    model.made(1, 4, 4e-9);
  EXPECT_NEAR(model.work(2, 4, {.encodes = 1, .decodes = 0}), 4e-9, 0.1e-9);
  model.made(2, 4, 8e-9);
  EXPECT_NEAR(model.encode(4)[2].value(), 8e-9, 0.1e-9);
}

// Memory that is used for the first time takes its time: a message ten times as slow as the sample predicted is no
// reason to give a compressor up.
TEST(CodecModel, one_message_that_was_far_slower_counts_for_little) {
  if (arm_count() < 2)
    GTEST_SKIP() << "no compressor is built in";
  CodecModel model;
  model.encode(4)[1].guess(1e-9);
  model.made(1, 4, 10e-9);
  model.decoded(1, 10e-9);
  EXPECT_LE(model.encode(4)[1].value(), 1.51e-9);
  EXPECT_LE(model.decode()[1].value(), 1.51 * 1.51e-9);
  for (int i = 0; i < 40; ++i)
    model.made(1, 4, 10e-9);
  EXPECT_GT(model.encode(4)[1].value(), 8e-9) << "it was no single one";
}

// What the work costs is known best when the run is over.
TEST(RunTally, takes_the_wire_as_it_was_and_the_work_as_it_is_known_in_the_end) {
  if (arm_count() < 2)
    GTEST_SKIP() << "no compressor is built in";
  CodecModel model;
  model.encode(4)[1].guess(5e-9);
  ArmNumbers ratios{};
  ratios.fill(0.5);
  ratios[k_arm_off] = 1;
  RunTally tally;
  EXPECT_EQ(tally.predicted(model, {}).found[k_arm_off], 0);
  tally.add(1e6, ratios, 20e-9, 10e-9, 4);
  tally.add(3e6, ratios, 40e-9, 10e-9, 4);
  EXPECT_DOUBLE_EQ(tally.predicted(model, {}).wire[k_arm_off], 1e6 * 20e-9 + 3e6 * 40e-9);
  EXPECT_DOUBLE_EQ(tally.predicted(model, {}).wire[1], (1e6 * 20e-9 + 3e6 * 40e-9) / 2) << "without the work";
  model.made(1, 4, 2e-9);
  model.decoded(1, 1e-9);
  const Predicted predicted = tally.predicted(model, {.ranks_a_core = 2});
  EXPECT_DOUBLE_EQ(predicted.found[k_arm_off], 1e6 * 20e-9 + 3e6 * 40e-9);
  EXPECT_DOUBLE_EQ(predicted.quiet[k_arm_off], 4e6 * 10e-9);
  EXPECT_DOUBLE_EQ(predicted.found[1], (1e6 * 20e-9 + 3e6 * 40e-9) / 2 + 4e6 * 3e-9 * 2);
  EXPECT_DOUBLE_EQ(predicted.quiet[1], 4e6 * 10e-9 / 2 + 4e6 * 3e-9 * 2);
}

// What a few KiB of a sample took says little once a message was made.
TEST(Smoothed, a_guess_counts_until_something_is_measured) {
  Smoothed speed;
  speed.guess(13);
  EXPECT_TRUE(speed.known());
  EXPECT_DOUBLE_EQ(speed.value(), 13);
  speed.add(2);
  EXPECT_DOUBLE_EQ(speed.value(), 2);
  speed.add(4);
  EXPECT_DOUBLE_EQ(speed.value(), 2.5);
}

// A sample of a few KiB says 0.3 of what becomes 0.15: that is remembered for the next sample.
TEST(CodecModel, learns_how_far_samples_are_off) {
  CodecModel model;
  EXPECT_DOUBLE_EQ(model.corrected(2, 4, 0.3), 0.3);
  model.compare(2, 4, 0.3, 0.15);
  EXPECT_DOUBLE_EQ(model.corrected(2, 4, 0.4), 0.2);
  EXPECT_DOUBLE_EQ(model.corrected(1, 4, 0.4), 0.4) << "another arm";
  EXPECT_DOUBLE_EQ(model.corrected(2, 4, 0.99), 0.99) << "noise stays noise";
  EXPECT_DOUBLE_EQ(model.corrected(2, 8, 0.4), 0.4) << "other elements";
  model.compare(2, 8, 0.5, 1);
  EXPECT_DOUBLE_EQ(model.corrected(2, 8, 0.4), 0.5) << "by a quarter at most";
  EXPECT_DOUBLE_EQ(model.corrected(2, 8, 0.9), 1) << "never more than there is";
  for (const double made : {0.01, 0.9})
    model.compare(1, 8, made < 0.1 ? 0.5 : 0.01, made);
  EXPECT_DOUBLE_EQ(model.corrected(1, 8, 0.4), 0.4) << "a sample of another part of the data than most of the message";
}

}  // namespace
}  // namespace windrow
