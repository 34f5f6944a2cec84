// SPDX-License-Identifier: BSD-3-Clause
// The table of compressors: what each file of them says fits together, and all else follows from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "codec/candidates.hpp"
#include "trace/trace.hpp"

namespace windrow {
namespace {

TEST(Compressors, have_names_and_numbers_of_their_own) {
  std::set<int> numbers;
  std::set<std::string_view> names;
  for (const Compressor* compressor : known_compressors()) {
    EXPECT_GE(compressor->id(), 2) << compressor->name() << ": frames use 0 and 1 without one";
    EXPECT_TRUE(numbers.insert(compressor->id()).second)
        << compressor->name() << " has the number of another: " << int{compressor->id()};
    EXPECT_TRUE(names.insert(compressor->name()).second) << compressor->name();
    EXPECT_THAT(std::string(compressor->name()), testing::MatchesRegex("[a-z][a-z0-9]*"))
        << "options and reports add +shuffle and a level to it";
    EXPECT_FALSE(compressor->name() == "auto" || compressor->name() == "off");
  }
}

TEST(Compressors, keep_the_numbers_that_frames_have) {
  for (const auto& [name, number] : {std::pair{"lzo", 2}, {"lz4", 3}, {"zstd", 4}, {"delta", 5}}) {
    const int place = compressor_place(static_cast<uint8_t>(number));
    ASSERT_GE(place, 0) << name;
    EXPECT_EQ(known_compressors()[static_cast<size_t>(place)]->name(), name);
  }
}

TEST(Compressors, have_a_place_and_levels) {
  ASSERT_EQ(known_compressors().size(), k_compressor_places);
  for (size_t place = 0; place < k_compressor_places; ++place) {
    const Compressor* compressor = known_compressors()[place];
    EXPECT_EQ(compressor_place(compressor->id()), static_cast<int>(place));
    EXPECT_GE(compressor->default_level(), 1);
    EXPECT_GT(compressor->megabytes_per_s(), 0) << "it counts until it is measured";
    EXPECT_LE(compressor->default_level(), compressor->largest_level());
    EXPECT_EQ(find_compressor(compressor->name()), compressor->is_built_in() ? compressor : nullptr);
  }
  for (const int nobody : {0, 1, 255})
    EXPECT_EQ(compressor_place(static_cast<uint8_t>(nobody)), -1);
  EXPECT_EQ(find_compressor("zip"), nullptr);
}

TEST(Compressors, that_are_built_in_go_fastest_first) {
  const auto known = known_compressors();
  EXPECT_EQ(static_cast<std::ptrdiff_t>(compressors().size()),
            std::count_if(known.begin(), known.end(), [](const Compressor* each) { return each->is_built_in(); }));
  EXPECT_TRUE(std::is_sorted(compressors().begin(), compressors().end(), [](const Compressor* a, const Compressor* b) {
    return a->megabytes_per_s() > b->megabytes_per_s();
  }));
  for (const Compressor* compressor : compressors()) {
    EXPECT_TRUE(compressor->is_built_in());
    EXPECT_NE(compressor->make_state(1000, 1), nullptr);
  }
}

TEST(Arms, are_as_many_as_compressors_without_and_with_shuffle) {
  size_t arms = 1;
  for (const Compressor* compressor : compressors())
    arms += compressor->shuffles() ? size_t{2} : size_t{1};
  EXPECT_EQ(arm_count(), arms);
  EXPECT_EQ(k_most_arms, 1 + 2 * known_compressors().size());
  EXPECT_EQ(k_codec_kinds, k_most_arms + 1) << "of the trace: with equal elements";
  for (size_t arm = 1; arm < arm_count(); ++arm) {
    EXPECT_EQ(find_arm(compressor_of(arm)->name(), shuffles(arm)), arm);
    EXPECT_EQ(arm_of({.compressor = compressor_of(arm)->id(), .shuffled = shuffles(arm)}), arm);
  }
  EXPECT_EQ(compressor_of(arm_count()), nullptr);
}

}  // namespace
}  // namespace windrow
