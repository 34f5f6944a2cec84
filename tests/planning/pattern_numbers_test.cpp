// SPDX-License-Identifier: BSD-3-Clause
#include "planning/pattern_numbers.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace windrow {
namespace {

// What a reduction makes of the numbers of several ranks, without MPI.
PatternNumbers combine(const std::vector<PatternNumbers>& ranks) {
  std::array<int64_t, k_pattern_sums> sums{}, sums_of_rank{};
  std::array<int64_t, k_pattern_maxima> maxima, maxima_of_rank{};
  maxima.fill(-std::numeric_limits<int64_t>::max());
  for (const PatternNumbers& each : ranks) {
    pack(each, sums_of_rank, maxima_of_rank);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += sums_of_rank[i];
    for (size_t i = 0; i < maxima.size(); ++i)
      maxima[i] = std::max(maxima[i], maxima_of_rank[i]);
  }
  PatternNumbers all;
  unpack(sums, maxima, all);
  return all;
}

TEST(PatternNumbers, of_one_rank_come_back_as_they_were) {
  PatternNumbers numbers;
  int64_t next = 1;
  for (const PatternField& field : k_pattern_fields)
    field.of(numbers) = next++;
  PatternNumbers back = combine({numbers});
  next = 1;
  for (const PatternField& field : k_pattern_fields)
    EXPECT_EQ(field.of(back), next++);
}

TEST(PatternNumbers, are_each_in_the_table_once) {
  PatternNumbers numbers;
  for (const PatternField& field : k_pattern_fields)
    field.of(numbers) = 0;
  for (const PatternField& field : k_pattern_fields)
    ++field.of(numbers);
  for (const PatternField& field : k_pattern_fields)
    EXPECT_EQ(field.of(numbers), 1);
}

TEST(PatternNumbers, are_combined_each_in_its_way) {
  std::mt19937_64 random(3);
  for (const size_t size : {size_t{1}, size_t{2}, size_t{7}}) {
    std::vector<PatternNumbers> ranks(size);
    for (PatternNumbers& each : ranks)
      for (const PatternField& field : k_pattern_fields)
        field.of(each) = static_cast<int64_t>(random() % 2000) - 1000;
    PatternNumbers all = combine(ranks);
    for (const PatternField& field : k_pattern_fields) {
      int64_t expected = field.of(ranks.front());
      for (size_t i = 1; i < size; ++i) {
        const int64_t number = field.of(ranks[i]);
        expected = field.combine == Combine::sum       ? expected + number
                   : field.combine == Combine::maximum ? std::max(expected, number)
                                                       : std::min(expected, number);
      }
      EXPECT_EQ(field.of(all), expected);
    }
  }
}

// Of ranks that move nothing there is neither a hull nor anything else.
TEST(PatternNumbers, of_nothing_are_nothing) {
  PatternNumbers some;
  some.bytes = 8;
  some.hull = {100, 108};
  some.records = {2, 3};
  const PatternNumbers all = combine({{}, some, {}});
  EXPECT_EQ(all.bytes, 8);
  EXPECT_EQ(all.hull.begin, 100);
  EXPECT_EQ(all.hull.end, 108);
  EXPECT_EQ(all.records.begin, 2);
  EXPECT_EQ(all.records.end, 3);
  const PatternNumbers none = combine({{}, {}});
  EXPECT_EQ(none.hull.begin, INT64_MAX);
  EXPECT_EQ(none.hull.end, 0);
  EXPECT_EQ(none.bytes, 0);
}

TEST(PatternNumbers, are_uniform_where_all_ranks_have_the_same) {
  PatternNumbers one, same, other;
  one.uniform_most = one.uniform_least = 17;
  same = one;
  other.uniform_most = other.uniform_least = -2;
  EXPECT_TRUE(combine({one, same}).is_uniform());
  EXPECT_FALSE(combine({one, same, other}).is_uniform());
  EXPECT_FALSE(combine({other, one}).is_uniform());
}

}  // namespace
}  // namespace windrow
