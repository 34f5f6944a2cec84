// SPDX-License-Identifier: BSD-3-Clause
// What descriptions cost: the heap of each rank, from before a decomposition is made of a million irregular points to
// after it was written and read, beside the caller's own lists and data.
#include <algorithm>
#include <random>

#include "../capi/checked.hpp"
#include "../stride.hpp"
#include "counting_new.hpp"

namespace {

using namespace windrow_test;

// A million in the full set.
const int64_t k_points_a_rank = 1'000'000 / stride();
const int64_t k_most_bytes =
    24 * k_points_a_rank;  // of a rank that answers for its own points; a team's root for those of two

enum class Holders {
  one,
  some_two,
  one_or_none
};

// Points in no order: each belongs to one rank; one in twenty is held by the next rank too; or three of four by none.
std::vector<int64_t> points_of_rank(int64_t points, Holders holders) {
  std::vector<int64_t> list;
  for (int64_t point = 0; point < points; ++point) {
    const auto hash = static_cast<uint64_t>(point) * 0x9e3779b97f4a7c15;
    const auto owner = static_cast<int>((hash >> 33) % static_cast<uint64_t>(size_of()));
    const bool halo = holders == Holders::some_two && (hash >> 20) % 20 == 0 && (owner + 1) % size_of() == rank_of();
    const bool hole = holders == Holders::one_or_none && (hash >> 50) % 4 != 0;
    if ((owner == rank_of() || halo) && !hole)
      list.push_back(point);
  }
  std::mt19937_64 engine(static_cast<uint64_t>(rank_of()));
  std::shuffle(list.begin(), list.end(), engine);
  return list;
}

class Descriptions : public testing::TestWithParam<KeyValues> {
 protected:
  void write_and_read(Holders holders) {
    const int64_t points = k_points_a_rank * size_of() * (holders == Holders::one_or_none ? 4 : 1);
    const std::vector<int64_t> list = points_of_rank(points, holders);
    std::vector<int32_t> values(list.size()), read(list.size(), -1);
    for (size_t i = 0; i < list.size(); ++i)
      values[i] = static_cast<int32_t>(list[i] * 3 + 1);
    const Options options(GetParam());
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("points.raw").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, &points, &variable));
    const int64_t before = heap_use.now;
    heap_use.begin();
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(
        windrow_points(MPI_COMM_WORLD, points, static_cast<int64_t>(list.size()), list.data(), nullptr, &made));
    const Decomposition decomposition(made);
    const int64_t making = heap_use.peak - before;
    EXPECT_WINDROW_OK(windrow_write(file, variable, made, values.data()));
    EXPECT_WINDROW_OK(windrow_read(file, variable, made, read.data()));
    const int64_t all = heap_use.peak - before;
    EXPECT_EQ(read, values);
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_LT(making, k_most_bytes);
    EXPECT_LT(all, GetParam().front().first == "gather" ? 2 * k_most_bytes : k_most_bytes);
    RecordProperty("making_bytes", std::to_string(making));
    RecordProperty("all_bytes", std::to_string(all));
  }

  SharedFolder folder_;
};

TEST_P(Descriptions, of_a_million_points_a_rank_are_small) {
  write_and_read(Holders::one);
}

TEST_P(Descriptions, of_points_that_several_hold_are_small) {
  write_and_read(Holders::some_two);
}

TEST_P(Descriptions, of_points_with_holes_between_are_small) {
  write_and_read(Holders::one_or_none);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, Descriptions,
    testing::Values(KeyValues{{"strategy", "two-phase"}, {"writers", "2"}, {"buffer", "65536"}},
                    KeyValues{
                        {"strategy", "two-phase"}, {"writers", "2"}, {"buffer", "65536"}, {"shared_memory", "false"}},
                    KeyValues{{"gather", "team(2)"}, {"domains", "even"}, {"writers", "2"}, {"buffer", "65536"}}));

}  // namespace
