// SPDX-License-Identifier: BSD-3-Clause
// Blocks of all ranks by SCORPIO's teams: two phases among the roots, so that no row of a block is a request; rows go
// from each root as they are.
#include <nlohmann/json.hpp>

#include <array>
#include <vector>

#include "../capi/report.hpp"
#include "../fault/scene.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

constexpr int64_t k_side = 32;

class ScorpioTeams : public testing::Test {
 protected:
  // Each rank writes its block of a grid of ranks, or its rows, reads it back and compares; the report of the write.
  json write(const std::string& name, const KeyValues& options, bool blocks) {
    std::array<int, 3> grid{blocks ? 0 : size_of(), blocks ? 0 : 1, blocks ? 0 : 1};
    MPI_Dims_create(size_of(), 3, grid.data());
    const std::array<int64_t, 3> place{rank_of() / (grid[1] * grid[2]), rank_of() / grid[2] % grid[1],
                                       rank_of() % grid[2]};
    std::array<int64_t, 3> shape{}, start{}, count{k_side, k_side, k_side};
    for (size_t i = 0; i < 3; ++i)
      shape[i] = k_side * grid[i], start[i] = k_side * place[i];
    std::vector<double> values(static_cast<size_t>(k_side * k_side * k_side)), read(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1e6 * rank_of() + static_cast<double>(i);
    windrow_file* file = nullptr;
    int variable = 0;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file(name).c_str(), Options(options), &file));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 3, shape.data(), &variable));
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start.data(), count.data(), values.data()));
    const json report = report_of(file);
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, start.data(), count.data(), read.data()));
    EXPECT_EQ(read, values);
    EXPECT_WINDROW_OK(windrow_close(file));
    return report;
  }
  SharedFolder folder_;
};

}  // namespace

// A grid of 2 x 2 x 2 ranks: the rows of each team of 2 are 32 requests; windows of 512 KiB are 4 of a file that begins
// with the data, and 5 where it begins within a window.
TEST_F(ScorpioTeams, write_blocks_by_two_phases_among_the_roots) {
  if (size_of() != 8)
    GTEST_SKIP() << "of 8 ranks";
  const KeyValues teams{{"strategy", "scorpio"}, {"gather", "team(2)"}},
      rows{{"strategy", "scorpio"}, {"gather", "team(2)"}, {"domains", "none"}};
  for (const std::string name : {"teams.raw", "teams.h5"}) {
    if (name == "teams.h5" && windrow_has("hdf5") == 0)
      continue;
    const json two = write(name, teams, true), one = write(name, rows, true);
    EXPECT_EQ(two["plans"][0]["domains"], "aligned");
    EXPECT_EQ(two["plans"][0]["writers"], ranks_per_host() < size_of() ? json({0, 4}) : json({0}))
        << "one a host with stripes to write, among the roots";
    EXPECT_EQ(two["write_requests"], name == "teams.raw" ? 4 : 5);
    EXPECT_EQ(two["data_opens"], two["plans"][0]["writers"].size());
    EXPECT_EQ(one["write_requests"], 128);
    EXPECT_EQ(one["data_opens"], 4);
  }
}

// Every kind of gathering leaves the second phase open.
TEST_F(ScorpioTeams, choose_the_second_phase_where_only_gather_is_asked_for) {
  if (size_of() != 8)
    GTEST_SKIP() << "of 8 ranks";
  EXPECT_EQ(write("teams.raw", {{"gather", "team(2)"}}, true)["write_requests"], 4);
  EXPECT_EQ(write("teams.raw", {{"strategy", "scorpio"}, {"gather", "team(8)"}}, true)["plans"][0]["domains"], "none")
      << "one root has everything";
}

// What a root has of the rows of consecutive ranks is one piece: a request each, without a second phase.
TEST_F(ScorpioTeams, write_rows_from_each_root) {
  const json report = write("teams.raw", {{"strategy", "scorpio"}, {"gather", "team(2)"}}, false);
  EXPECT_EQ(report["plans"][0]["domains"], "none");
  EXPECT_EQ(report["write_requests"], (size_of() + 1) / 2);
  EXPECT_EQ(report["data_opens"], (size_of() + 1) / 2);
}
