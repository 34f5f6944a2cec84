// SPDX-License-Identifier: BSD-3-Clause
// Plans that a file leaves to the next one of its communicator: a program that writes a file a step plans once, whether or not it keeps its decompositions; what is another file in anything
// that counts has a plan of its own. Values are looked at in each file, through other decompositions.
#include <nlohmann/json.hpp>

#include <array>
#include <numeric>

#include "../fault/scene.hpp"
#include "report.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

constexpr int64_t k_height = 12, k_width = 7;  // of each rank's columns
constexpr int64_t k_nodes = 9;                 // of each rank: every size-th of all

struct Parts {
  Decomposition columns, nodes;
};

class LeftPlans : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0) GTEST_SKIP() << "built without HDF5";
    if (GetParam() == ".nc" && windrow_has("netcdf") == 0) GTEST_SKIP() << "built without netCDF";
    // A communicator for each test: nothing is left of those before.
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  }
  void TearDown() override {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  std::string path(const std::string& name = "step") const { return folder_.file(name + GetParam()); }

  // Rank `without` holds nothing; -1: all hold something.
  Parts make_parts(int without = -1) const {
    const int rank = rank_of(), size = size_of();
    const bool holds = rank != without;
    const int64_t shape[2] = {k_height, k_width * size}, start[2] = {0, holds ? k_width * rank : 0}, count[2] = {k_height, holds ? k_width : 0};
    windrow_decomposition *columns = nullptr, *nodes = nullptr;
    EXPECT_WINDROW_OK(windrow_block(comm_, 2, shape, start, count, nullptr, nullptr, &columns));
    std::vector<int64_t> mine;
    for (int64_t i = 0; holds && i < k_nodes; ++i) mine.push_back(i * size + rank);
    EXPECT_WINDROW_OK(windrow_points(comm_, k_nodes * size, static_cast<int64_t>(mine.size()), mine.data(), nullptr, &nodes));
    return {Decomposition(columns), Decomposition(nodes)};
  }

  windrow_file* create(const std::string& at, const KeyValues& options) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(comm_, at.c_str(), Options(options), &file));
    return file;
  }

  // A float for each column, two doubles for each node. `tall`: a variable before them, so that they lie elsewhere.
  static std::array<int, 2> define(windrow_file* file, bool tall = false) {
    const int64_t grid[2] = {k_height, k_width * size_of()}, mesh[2] = {k_nodes * size_of(), 2}, more[1] = {1000};
    std::array<int, 2> numbers{};
    int before = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, "grid", WINDROW_FLOAT32, 2, grid, &numbers[0]));
    if (tall) {
      EXPECT_WINDROW_OK(windrow_define_variable(file, "a longer name for something else", WINDROW_INT32, 1, more, &before));
    }
    EXPECT_WINDROW_OK(windrow_define_variable(file, "mesh", WINDROW_FLOAT64, 2, mesh, &numbers[1]));
    return numbers;
  }

  static float cell(int step, int64_t i, int64_t j) { return static_cast<float>(100000 * step + 1000 * i + j); }
  static double node(int step, int64_t i, int64_t part) { return 0.5 + 1e6 * step + 2.0 * static_cast<double>(i) + static_cast<double>(part); }

  void put(windrow_file* file, const std::array<int, 2>& variables, const Parts& parts, int step, int without = -1) {
    grid_.clear(), mesh_.clear();
    for (int64_t i = 0; i < k_height; ++i)
      for (int64_t j = 0; j < k_width; ++j) grid_.push_back(cell(step, i, k_width * rank_of() + j));
    for (int64_t i = 0; i < k_nodes; ++i)
      for (int64_t part = 0; part < 2; ++part) mesh_.push_back(node(step, i * size_of() + rank_of(), part));
    if (rank_of() == without) grid_.clear(), mesh_.clear();
    EXPECT_WINDROW_OK(windrow_put(file, variables[0], parts.columns.get(), grid_.data()));
    EXPECT_WINDROW_OK(windrow_put(file, variables[1], parts.nodes.get(), mesh_.data()));
  }

  // By all ranks and another communicator: nothing of that is left to the files that are tested.
  static void expect_step(const std::string& at, int step, int without = -1) {
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), WINDROW_READ, nullptr, &file));
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made));
    const Decomposition whole(made);
    std::vector<float> grid(static_cast<size_t>(k_height * k_width * size_of()), -1);
    std::vector<double> mesh(static_cast<size_t>(2 * k_nodes * size_of()), -1);
    int variable = -1;
    const int64_t all_cells[2] = {k_height, k_width * size_of()}, all_nodes[2] = {k_nodes * size_of(), 2}, first[2] = {0, 0};
    ASSERT_WINDROW_OK(windrow_find_variable(file, "grid", &variable));
    ASSERT_WINDROW_OK(windrow_read_block(file, variable, first, all_cells, grid.data()));
    ASSERT_WINDROW_OK(windrow_find_variable(file, "mesh", &variable));
    ASSERT_WINDROW_OK(windrow_read_block(file, variable, first, all_nodes, mesh.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
    int wrong = 0;
    for (int64_t i = 0; i < k_height; ++i)
      for (int64_t j = 0; j < k_width * size_of(); ++j)
        if (j / k_width != without && grid[static_cast<size_t>(i * k_width * size_of() + j)] != cell(step, i, j)) ++wrong;
    for (int64_t i = 0; i < k_nodes * size_of(); ++i)
      for (int64_t part = 0; part < 2; ++part)
        if (i % size_of() != without && mesh[static_cast<size_t>(2 * i + part)] != node(step, i, part)) ++wrong;
    EXPECT_EQ(wrong, 0) << at << ", step " << step;
  }

  // The report of its flush.
  json write_step(const KeyValues& options, const Parts& parts, int step, bool tall = false, int without = -1) {
    windrow_file* file = create(path(), options);
    const auto variables = define(file, tall);
    put(file, variables, parts, step, without);
    EXPECT_WINDROW_OK(windrow_flush(file));
    json report = report_of(file);
    EXPECT_WINDROW_OK(windrow_close(file));
    expect_step(path(), step, without);
    return report;
  }

  SharedFolder folder_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<float> grid_;
  std::vector<double> mesh_;
};

INSTANTIATE_TEST_SUITE_P(Formats, LeftPlans, testing::Values(".raw", ".h5", ".nc"), [](const auto& each) { return each.param.substr(1); });

// What is told of a codec that is chosen by what is measured, flush by flush, left out.
std::vector<std::string> lasting_reasons(const json& report) {
  auto reasons = report["plans"][0]["reasons"].get<std::vector<std::string>>();
  std::erase_if(reasons, [](const std::string& each) { return each.starts_with("codec"); });
  return reasons;
}

// Plans that read what is between pieces first, and those of elements that are turned around by their holders, need memory of their file.
bool is_left(const json& plan, const std::string& ending) {
  if (plan["access"] == "sieve") return false;
  return ending != ".nc" || plan["domains"] != "none" || plan["gather"] != "none";
}

TEST_P(LeftPlans, serve_the_files_behind) {
  for (const bool anew : {false, true})
    for (const KeyValues& strategy : fault_strategies()) {
      SCOPED_TRACE(windrow_test::text_of(strategy) + (anew ? "decompositions of each file" : "the same decompositions"));
      Parts parts = make_parts();
      json first;
      for (int step = 0; step < 4; ++step) {
        if (anew) parts = make_parts();
        const json report = write_step(strategy, parts, step);
        ASSERT_EQ(report["plans"].size(), 1u);
        const json& plan = report["plans"][0];
        if (step == 0) {
          first = report;
          continue;
        }
        const bool left = is_left(plan, GetParam());
        EXPECT_EQ(report["plans_made"], left ? 0 : 1) << plan;
        EXPECT_EQ(plan["kept"], left);
        EXPECT_EQ(lasting_reasons(report), lasting_reasons(first));
        for (const char* counter : {"bytes", "bytes_written", "bytes_shared", "write_requests", "read_requests", "rounds", "writers"}) EXPECT_EQ(report[counter], first[counter]) << counter;
        if (!left) continue;
        EXPECT_EQ(report["description_messages"], 0);
        EXPECT_EQ(report["allocations"], 0);
      }
    }
}

TEST_P(LeftPlans, are_not_those_of_other_places_options_or_pieces) {
  const KeyValues options{{"strategy", "two-phase"}, {"buffer", "4096"}};
  const Parts parts = make_parts();
  const auto made = [](const json& report) { return report["plans_made"].get<int>(); };
  EXPECT_EQ(made(write_step(options, parts, 0)), 1);
  EXPECT_EQ(made(write_step(options, parts, 1)), 0);
  EXPECT_EQ(made(write_step(options, parts, 2, true)), 1) << "a variable lies elsewhere";
  EXPECT_EQ(made(write_step(options, parts, 3, true)), 0);
  EXPECT_EQ(made(write_step(options, parts, 4)), 0) << "both are kept";
  EXPECT_EQ(made(write_step({{"strategy", "two-phase"}, {"buffer", "8192"}}, parts, 5)), 1);
  EXPECT_EQ(made(write_step({{"strategy", "two-phase"}, {"buffer", "4096"}, {"shared_memory", "false"}}, parts, 6)), 1);
  EXPECT_EQ(made(write_step({{"strategy", "two-phase"}, {"buffer", "4096"}, {"check_messages", "true"}}, parts, 7)), 1);
  EXPECT_EQ(made(write_step(options, parts, 8)), 0);
  EXPECT_EQ(made(write_step({{"strategy", "two-phase"}, {"buffer", "4096"}, {"plan_memory", "0"}}, parts, 9)), 1);
  EXPECT_EQ(made(write_step(options, parts, 10)), 0) << "who keeps none neither takes any nor leaves any";
  // A rank that holds nothing, another one, and none.
  for (const int without : {0, size_of() - 1, 0}) {
    const Parts less = make_parts(without);
    write_step(options, less, 11, false, without);
    EXPECT_EQ(made(write_step(options, less, 12, false, without)), 0);
  }
  EXPECT_EQ(made(write_step(options, make_parts(), 13)), 0);
}

// Direct ones keep nothing but lists that others have too.
TEST_P(LeftPlans, are_none_where_nothing_is_to_be_kept) {
  const KeyValues options{{"strategy", "list"}, {"plan_memory", "0"}};
  const Parts parts = make_parts();
  for (int step = 0; step < 3; ++step) {
    windrow_file* file = create(path(), options);
    const auto variables = define(file);
    for (int again = 0; again < 2; ++again) {
      put(file, variables, parts, step);
      EXPECT_WINDROW_OK(windrow_flush(file));
      EXPECT_EQ(report_of(file)["plans_made"], again == 0 ? 1 : 0) << step;
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    expect_step(path(), step);
  }
}

// Whoever puts a variable through another decomposition than the other ranks hears of it, whatever was left by files before.
TEST_P(LeftPlans, hide_no_mistake) {
  if (size_of() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const KeyValues options{{"strategy", "two-phase"}, {"buffer", "4096"}};
  const Parts parts = make_parts(), others = make_parts();
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(write_step(options, parts, step)["plans_made"], 1);
    EXPECT_EQ(write_step(options, make_parts(), step)["plans_made"], 0) << "all ranks have changed them alike";
    windrow_file* file = create(path("wrong"), options);
    put(file, define(file), rank_of() == size_of() - 1 ? others : parts, step);
    EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
    EXPECT_NE(std::string(windrow_error_message()).find("different decompositions"), std::string::npos) << windrow_error_message();
    EXPECT_WINDROW_OK(windrow_discard(file));  // with all that it had been left
  }
}

// What a plan says of bytes that nobody has written yet is of its own file.
TEST_P(LeftPlans, are_not_taken_where_bytes_have_been_written) {
  const KeyValues options{{"strategy", "two-phase"}, {"buffer", "4096"}};
  const Parts parts = make_parts(0);
  for (int step = 0; step < 2; ++step) write_step(options, parts, step, false, 0);
  windrow_file* file = nullptr;
  const Parts all = make_parts();
  write_step(options, all, 2);
  ASSERT_WINDROW_OK(windrow_open(comm_, path().c_str(), WINDROW_UPDATE, Options(options), &file));
  std::array<int, 2> variables{};
  ASSERT_WINDROW_OK(windrow_find_variable(file, "grid", &variables[0]));
  ASSERT_WINDROW_OK(windrow_find_variable(file, "mesh", &variables[1]));
  put(file, variables, parts, 3, 0);
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_WINDROW_OK(windrow_close(file));
  if (size_of() > 1) expect_step(path(), 3, 0);
  // Those of rank 0 are of the step before.
  ASSERT_WINDROW_OK(windrow_open(comm_, path().c_str(), WINDROW_READ, nullptr, &file));
  ASSERT_WINDROW_OK(windrow_find_variable(file, "grid", &variables[0]));
  const int64_t start[2] = {0, 0}, count[2] = {k_height, k_width};
  std::vector<float> read(static_cast<size_t>(k_height * k_width), -1);
  ASSERT_WINDROW_OK(windrow_read_block(file, variables[0], start, count, read.data()));
  for (int64_t i = 0; i < k_height; ++i)
    for (int64_t j = 0; j < k_width; ++j) ASSERT_EQ(read[static_cast<size_t>(i * k_width + j)], cell(2, i, j));
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(LeftPlans, of_files_that_are_open_at_the_same_time_do_not_meet) {
  const KeyValues options{{"strategy", "two-phase"}, {"buffer", "4096"}};
  const Parts parts = make_parts();
  for (int step = 0; step < 3; ++step) {
    windrow_file* one = create(path("one"), options);
    windrow_file* other = create(path("other"), options);
    const auto in_one = define(one), in_other = define(other, true);
    put(one, in_one, parts, step);
    EXPECT_WINDROW_OK(windrow_flush(one));
    put(other, in_other, parts, 10 + step);
    EXPECT_WINDROW_OK(windrow_flush(other));
    put(one, in_one, parts, 20 + step);
    EXPECT_WINDROW_OK(windrow_flush(one));
    EXPECT_EQ(report_of(one)["plans_made"], 0);
    EXPECT_WINDROW_OK(windrow_close(step == 1 ? other : one));
    EXPECT_WINDROW_OK(windrow_close(step == 1 ? one : other));
    expect_step(path("one"), 20 + step);
    expect_step(path("other"), 10 + step);
  }
  EXPECT_EQ(write_step(options, parts, 5)["plans_made"], 0);
  EXPECT_EQ(write_step(options, parts, 6, true)["plans_made"], 0);
}

// Reading too, and both in turns; by a flush in two calls, at the close, and where a file is given up in between.
TEST_P(LeftPlans, serve_readers_and_every_way_to_flush) {
  const KeyValues options{{"strategy", "two-phase"}, {"buffer", "4096"}};
  for (int step = 0; step < 6; ++step) {
    const Parts parts = make_parts();
    windrow_file* file = create(path(), options);
    const auto variables = define(file);
    put(file, variables, parts, step);
    if (step % 3 == 1) {
      EXPECT_WINDROW_OK(windrow_flush_begin(file));
      EXPECT_WINDROW_OK(windrow_flush_end(file));
    }
    if (step == 3) {
      EXPECT_WINDROW_OK(windrow_flush(file));
      EXPECT_WINDROW_OK(windrow_discard(file));
      continue;
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    expect_step(path(), step);
    ASSERT_WINDROW_OK(windrow_open(comm_, path().c_str(), WINDROW_READ, Options(options), &file));
    std::vector<float> grid(grid_.size(), -1);
    std::vector<double> mesh(mesh_.size(), -1);
    std::array<int, 2> found{};
    ASSERT_WINDROW_OK(windrow_find_variable(file, "grid", &found[0]));
    ASSERT_WINDROW_OK(windrow_find_variable(file, "mesh", &found[1]));
    EXPECT_WINDROW_OK(windrow_get(file, found[0], parts.columns.get(), grid.data()));
    EXPECT_WINDROW_OK(windrow_get(file, found[1], parts.nodes.get(), mesh.data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
    const json report = report_of(file);
    EXPECT_EQ(report["plans_made"], step > 0 && report["plans"][0]["kept"] ? 0 : 1);
    if (step > 0) {
      EXPECT_TRUE(report["plans"][0]["kept"]);
    }
    EXPECT_EQ(grid, grid_);
    EXPECT_EQ(mesh, mesh_);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// A file that cannot be published leaves nothing; nothing is wrong with the next one.
TEST_P(LeftPlans, are_not_those_of_a_file_that_failed) {
  const KeyValues options{{"strategy", "two-phase"}, {"buffer", "4096"}};
  const Parts parts = make_parts();
  EXPECT_EQ(write_step(options, parts, 0)["plans_made"], 1);
  KeyValues failing = options;
  failing.emplace_back("store", "faulty");
  failing.emplace_back("fault", "operation=write,error=no_space");
  windrow_file* file = create(path(), failing);
  put(file, define(file), parts, 1);
  const int code = windrow_close(file);
  EXPECT_NE(code, WINDROW_OK);
  expect_same_everywhere(code);
  expect_step(path(), 0);
  EXPECT_EQ(write_step(options, parts, 2)["plans_made"], 1);
  EXPECT_EQ(write_step(options, parts, 3)["plans_made"], 0);
}

}  // namespace
