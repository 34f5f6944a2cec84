// SPDX-License-Identifier: BSD-3-Clause
// What explain and report say, and plans that are kept for the next flush of the same shape.
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <memory>
#include <numeric>

#include "../capi/report.hpp"
#include "../fault/scene.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

json explain(windrow_file* file) {
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_explain(file, "json", &text));
  return json::parse(text);
}

class Plans : public testing::Test {
 protected:
  std::string path() const { return folder_.file("plans.raw"); }
  SharedFolder folder_;
};

TEST_F(Plans, a_report_counts_what_the_plan_predicted) {
  for (const KeyValues& strategy : fault_strategies()) {
    SCOPED_TRACE(text_of(strategy));
    Scene scene(path(), strategy);
    scene.begin();
    EXPECT_FALSE(report_of(scene.file)["flushed"]);
    EXPECT_WINDROW_OK(scene.put_and_flush());
    const json report = report_of(scene.file);
    EXPECT_TRUE(report["flushed"]);
    EXPECT_EQ(report["ranks"], scene.size);
    const int64_t held =
        scene.grid_shape[0] * scene.grid_shape[1] * 4 + scene.point_shape[0] * scene.point_shape[1] * 8;
    EXPECT_EQ(report["bytes"], held);
    EXPECT_EQ(report["plans_made"], 1);
    ASSERT_EQ(report["plans"].size(), 1u);
    const json& expected = report["plans"][0]["expected"];
    EXPECT_EQ(report["messages"], expected["messages"]);
    EXPECT_EQ(report["write_requests"], expected["write_requests"]);
    EXPECT_EQ(report["read_requests"], expected["read_requests"]);
    EXPECT_GE(report["bytes_written"], held);
    EXPECT_GE(report["seconds"]["total"], 0.0);
    EXPECT_EQ(report["plans"][0]["direction"], "write");
    EXPECT_FALSE(report["plans"][0]["cached"]);
    if (strategy.empty()) {  // what was chosen has a reason
      EXPECT_FALSE(report["plans"][0]["reasons"].empty());
    }
    const bool hosts = ranks_per_host() < size_of();  // between hosts the codec is left to what is measured
    for (const char* axis : {"owner", "gather", "domains", hosts ? "owner" : "codec", "access", "files"}) {
      EXPECT_NE(report["plans"][0][axis], "auto") << axis;
    }
    EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
  }
}

// What options come to is kept from one file to the next, where they are the same.
TEST_F(Plans, each_file_has_the_options_of_its_own_opening) {
  const auto buffer_of = [&](const KeyValues& options) {
    Scene scene(path(), options);
    scene.begin();
    EXPECT_WINDROW_OK(scene.put_and_flush());
    const json report = report_of(scene.file);
    EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
    return report["plans"][0]["buffer"].get<int64_t>();
  };
  for (const int64_t buffer : {4096, 8192, 8192, 4096}) {
    setenv("WINDROW_BUFFER", std::to_string(buffer).c_str(), 1);
    EXPECT_EQ(buffer_of({{"strategy", "two-phase"}}), buffer);
    EXPECT_EQ(buffer_of({{"strategy", "two-phase"}, {"buffer", "12288"}}), 12288);
    EXPECT_EQ(buffer_of({{"buffer", "16384"}, {"strategy", "two-phase"}}), 16384);
  }
  setenv("WINDROW_BUFFER", "much", 1);
  windrow_file* file = nullptr;
  EXPECT_EQ(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file), WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("WINDROW_BUFFER"), std::string::npos) << windrow_error_message();
  unsetenv("WINDROW_BUFFER");
  EXPECT_EQ(buffer_of({{"strategy", "two-phase"}, {"buffer", "4096"}}), 4096);
}

// One writer a host; its own host's ranks copy into its buffers, the others send. A grid of columns in two variables:
// every rank has a part of every window.
TEST_F(Plans, spread_writers_over_hosts_and_bound_their_memory) {
  if (size_of() == 1)
    GTEST_SKIP() << "one rank's rows are one piece";
  constexpr int64_t k_rows = 6000, k_columns = 16;
  const int64_t shape[2] = {k_rows, k_columns * size_of()}, start[2] = {0, k_columns * rank_of()},
                count[2] = {k_rows, k_columns};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
  const Decomposition columns(made);
  const int64_t k_buffer = 65536;
  const Options options{{"buffer", "65536"}, {"align", "4096"}};
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
  std::array<int, 2> variables{};
  ASSERT_WINDROW_OK(windrow_define_variable(file, "a", WINDROW_INT32, 2, shape, &variables[0]));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "b", WINDROW_INT32, 2, shape, &variables[1]));
  std::vector<int32_t> data(static_cast<size_t>(k_rows * k_columns), rank_of());
  for (const int variable : variables)
    (void)windrow_put(file, variable, columns.get(), data.data());
  ASSERT_WINDROW_OK(windrow_flush(file));
  const json report = report_of(file);
  const int each = ranks_per_host(), hosts = (size_of() + each - 1) / each;
  std::vector<int> roots;
  for (int host = 0; host < hosts; ++host)
    roots.push_back(host * each);
  EXPECT_EQ(report["plans"][0]["writers"], roots);
  EXPECT_EQ(report["messages"] == 0, hosts == 1);
  const bool oversubscribed = std::min(each, size_of()) > 1;
  EXPECT_EQ(report["bytes_shared"] == 0, !oversubscribed);
  EXPECT_EQ(report["bytes_copied"] == report["bytes"], hosts == 1) << "one copy on a host, more with messages";
  EXPECT_LE(report["peak_memory"], k_buffer * 4 * 11 / 10) << "buffer x buffers and a tenth";
  EXPECT_EQ(report["bytes_written"], report["bytes"]);
  std::vector<int32_t> read(data.size(), -1);
  EXPECT_WINDROW_OK(windrow_read(file, variables[1], columns.get(), read.data()));
  EXPECT_EQ(read, data);
  EXPECT_LE(report_of(file)["peak_memory"], k_buffer * 4 * 11 / 10);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// One rank has almost all data, in large windows. It holds only a small part of it for messages to the writers, and
// these hold no more than their buffers.
TEST_F(Plans, bound_memory_where_a_rank_sends_much) {
  if (size_of() == 1)
    GTEST_SKIP() << "nobody sends";
  constexpr int64_t k_rows = int64_t{1} << 17, k_columns = 12, k_most = 2 * (int64_t{4} << 20) * 11 / 10;
  const int64_t shape[2] = {k_rows, k_columns};
  const int last = size_of() - 1;
  const int64_t mine = rank_of() == 0 ? 1 : rank_of() == last ? k_columns - 1 : 0;
  const int64_t start[2] = {0, rank_of() == 0 ? 0 : 1}, count[2] = {mine > 0 ? k_rows : 0, mine};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
  const Decomposition columns(made);
  std::vector<double> data(static_cast<size_t>(count[0] * count[1]));
  std::iota(data.begin(), data.end(), 1e6 * rank_of());
  const std::vector<KeyValues> ways{
      {{"buffers", "2"}},
      {{"buffers", "2"}, {"shared_memory", "false"}, {"writers", "1"}},
      {{"buffers", "2"}, {"gather", "team(2)"}, {"domains", "even"}},
      {{"buffers", "2"}, {"codec", "auto"}, {"domains", "even"}, {"check_messages", "true"}}};
  for (const KeyValues& way : ways) {
    SCOPED_TRACE(text_of(way));
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(way), &file));
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_define_variable(file, "x", WINDROW_FLOAT64, 2, shape, &variable));
    ASSERT_WINDROW_OK(windrow_put(file, variable, columns.get(), data.data()));
    ASSERT_WINDROW_OK(windrow_flush(file));
    const bool gathers = way.back().first == "domains" && way[1].first == "gather";
    const auto expect_bounded = [&] {
      const json report = report_of(file);
      EXPECT_LE(report["peak_memory"], k_most) << "buffer x buffers and a tenth";
      EXPECT_LT(report["peak_memory_elsewhere"], 2'000'000 + (gathers ? k_most / 2 : 0))
          << "a team's root has windows too, for its team";
      EXPECT_EQ(report["messages"], report["plans"][0]["expected"]["messages"]);
    };
    expect_bounded();
    std::vector<double> back(data.size(), -1);
    EXPECT_WINDROW_OK(windrow_read(file, variable, columns.get(), back.data()));
    EXPECT_TRUE(back == data);
    expect_bounded();
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// Two configurations of teams in one file, by turns; the plans of both are kept.
TEST_F(Plans, of_another_strategy_are_made_and_found_again) {
  const int64_t shape[2] = {7 * size_of(), 11}, start[2] = {7 * rank_of(), 0}, count[2] = {7, 11};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
  const Decomposition rows(made);
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 2, shape, &variable));
  std::vector<int32_t> data(77), read(77);
  const Options pairs{{"gather", "team(2)"}, {"domains", "none"}}, all{{"gather", "team(1000)"}, {"domains", "none"}};
  for (int turn = 0; turn < 6; ++turn) {
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = 1000 * turn + 77 * rank_of() + static_cast<int32_t>(i);
    ASSERT_WINDROW_OK(windrow_set_strategy(
        file, turn % 3 == 0 ? nullptr : static_cast<const windrow_options*>(turn % 3 == 1 ? pairs : all)));
    ASSERT_WINDROW_OK(windrow_write(file, variable, rows.get(), data.data()));
    const json report = report_of(file);
    EXPECT_EQ(report["plans_made"], turn < 3 ? 1 : 0);
    EXPECT_EQ(report["plans"][0]["cached"], turn >= 3);
    if (turn % 3 == 1) {
      EXPECT_EQ(report["plans"][0]["gather"], size_of() > 1 ? "team(2)" : "none");
      EXPECT_EQ(report["writers"], (size_of() + 1) / 2);
    } else if (turn % 3 == 2) {
      EXPECT_EQ(report["writers"], 1);
    } else {
      EXPECT_NE(report["plans"][0]["gather"], "team(2)");
    }
    ASSERT_WINDROW_OK(windrow_read(file, variable, rows.get(), read.data()));
    EXPECT_EQ(read, data) << turn;
  }
  const Options fixed{{"shared_memory", "false"}};
  EXPECT_EQ(windrow_set_strategy(file, fixed), WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("the option shared_memory cannot change after"),
            std::string::npos);
  (void)windrow_put(file, variable, rows.get(), data.data());
  EXPECT_EQ(windrow_set_strategy(file, pairs), WINDROW_BAD_STATE);
  expect_same_everywhere(WINDROW_BAD_STATE);
  EXPECT_WINDROW_OK(windrow_flush(file));
  if (size_of() > 1) {
    EXPECT_EQ(windrow_set_strategy(file, rank_of() == 1 ? pairs : all), WINDROW_BAD_ARGUMENT);
    EXPECT_NE(std::string(windrow_error_message()).find("gather=team(2) here and gather=team(1000) on rank 0 (rank 1"),
              std::string::npos)
        << windrow_error_message();
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// What all ranks read is read once: on one host they copy it out of memory, on several rank 0 sends it to all.
TEST_F(Plans, read_the_same_once) {
  Scene scene(path(), {});
  scene.begin();
  EXPECT_WINDROW_OK(scene.put_and_flush());
  const int64_t start[2] = {1, 2}, count[2] = {scene.grid_shape[0] - 1, scene.grid_shape[1] - 2};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_same(scene.comm, 2, scene.grid_shape.data(), start, count, &made));
  const Decomposition part(made);
  ASSERT_WINDROW_OK(windrow_same(scene.comm, 2, scene.point_shape.data(), nullptr, nullptr, &made));
  const Decomposition whole(made);
  for (int step = 0; step < 2; ++step) {
    std::vector<int32_t> grid(static_cast<size_t>(count[0] * count[1]), -1);
    std::vector<double> points(static_cast<size_t>(scene.point_shape[0] * scene.point_shape[1]), -1);
    (void)windrow_get(scene.file, scene.grid_variable, part.get(), grid.data());
    (void)windrow_get(scene.file, scene.point_variable, whole.get(), points.data());
    ASSERT_WINDROW_OK(windrow_flush(scene.file));
    for (int64_t r = 0; r < count[0]; ++r)
      for (int64_t c = 0; c < count[1]; ++c)
        EXPECT_EQ(grid[static_cast<size_t>(r * count[1] + c)], (r + 1) * 1000 + c + 2);
    for (int64_t p = 0; p < scene.point_shape[0]; ++p)
      EXPECT_EQ(points[static_cast<size_t>(p * scene.point_shape[1])], 10.0 * static_cast<double>(p));
    const json report = report_of(scene.file);
    EXPECT_EQ(report["messages"], 0);
    EXPECT_EQ(report["description_messages"], 0);
    const bool one_host = ranks_per_host() >= size_of();
    EXPECT_EQ(report["writers"], one_host ? size_of() : 1) << "ranks at the file";
    EXPECT_EQ(report["bytes_broadcast"] == 0, one_host);
    EXPECT_LT(report["peak_memory"], 4'000'000);
    EXPECT_EQ(report["plans_made"], step == 0 ? 1 : 0);
  }
  // Not the same on one rank: each gets its own.
  if (size_of() > 1) {
    std::vector<double> points(static_cast<size_t>(scene.point_shape[0] * scene.point_shape[1]), -1);
    if (rank_of() != 1)
      (void)windrow_get(scene.file, scene.point_variable, whole.get(), points.data());
    ASSERT_WINDROW_OK(windrow_flush(scene.file));
    EXPECT_EQ(report_of(scene.file)["bytes_broadcast"], 0);
    EXPECT_EQ(points.back() < 0, rank_of() == 1);
  }
  EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
}

// A contiguous decomposition needs no other rank: a request each and no message.
TEST_F(Plans, of_rows_cost_a_request_a_rank) {
  Scene scene(path(), {});
  ASSERT_WINDROW_OK(scene.create());
  const int64_t count = 3000 + 10 * scene.rank;
  windrow_decomposition* made = nullptr;
  int64_t rows = 0, first = 0, mine = 0;
  MPI_Allreduce(&count, &rows, 1, MPI_INT64_T, MPI_SUM, scene.comm);
  ASSERT_WINDROW_OK(windrow_rows(scene.comm, rows, count, &made));
  const Decomposition decomposition(made);
  ASSERT_WINDROW_OK(windrow_decomposition_rows(made, &first, &mine));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(scene.file, "rows", WINDROW_FLOAT64, 1, &rows, &variable));
  std::vector<double> data(static_cast<size_t>(count)), read(static_cast<size_t>(count), -1);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<double>(first) + static_cast<double>(i);
  ASSERT_WINDROW_OK(windrow_write(scene.file, variable, made, data.data()));
  const json report = report_of(scene.file);
  EXPECT_EQ(report["write_requests"], scene.size);
  EXPECT_EQ(report["messages"], 0);
  EXPECT_EQ(report["description_messages"], 0);
  EXPECT_EQ(report["bytes_copied"], 0);
  EXPECT_EQ(report["bytes_direct"], rows * 8);
  ASSERT_WINDROW_OK(windrow_read(scene.file, variable, made, read.data()));
  EXPECT_EQ(read, data);
  EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
}

// Data in the memory of the only host is copied from there: no message and no request, for any pieces.
TEST_F(Plans, read_what_is_in_memory_without_requests) {
  for (const KeyValues& strategy : {KeyValues{}, KeyValues{{"access", "mapped"}}}) {
    if (strategy.empty() && ranks_per_host() < size_of())
      continue;  // it is some host's memory then
    Scene scene(path(), strategy);
    scene.begin();
    EXPECT_WINDROW_OK(scene.put_and_flush());
    EXPECT_WINDROW_OK(scene.get_and_flush());
    const json report = report_of(scene.file);
    EXPECT_EQ(report["plans"][0]["access"], "mapped");
    EXPECT_EQ(report["read_requests"], 0);
    EXPECT_EQ(report["messages"], 0);
    EXPECT_EQ(report["description_messages"], 0);
    EXPECT_EQ(report["bytes_mapped"], report["bytes"]);
    EXPECT_EQ(report["bytes_copied"], report["bytes"]) << "one copy";
    EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
  }
}

// Far more windows than slots; ranks that want much, nothing, or the end alone; and the same plan again.
TEST_F(Plans, read_through_slots_whatever_each_rank_wants) {
  if (ranks_per_host() < size_of())
    GTEST_SKIP() << "messages come from other hosts";
  if (size_of() < 2)
    GTEST_SKIP() << "nobody to share slots with";
  constexpr int64_t k_rows = 6'000;
  const int64_t width = 2 * size_of() - 1, rows_of_last = k_rows / 3;
  const int64_t shape[2] = {k_rows, width};
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  int variables[2] = {-1, -1};
  for (int v = 0; v < 2; ++v)
    ASSERT_WINDROW_OK(windrow_define_variable(file, v == 0 ? "a" : "b", WINDROW_INT64, 2, shape, &variables[v]));
  const auto value = [&](int v, int64_t row, int64_t column) { return (row * width + column) * 2 + v; };
  // Rank 0 writes all of it.
  const int64_t nothing[2] = {0, 0};
  std::vector<int64_t> all(static_cast<size_t>(rank_of() == 0 ? k_rows * width : 0));
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(
      windrow_block(MPI_COMM_WORLD, 2, shape, nothing, rank_of() == 0 ? shape : nothing, nullptr, nullptr, &made));
  const Decomposition of_first(made);
  for (int v = 0; v < 2; ++v) {
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = value(v, static_cast<int64_t>(i) / width, static_cast<int64_t>(i) % width);
    ASSERT_WINDROW_OK(windrow_write(file, variables[v], made, all.data()));
  }
  ASSERT_WINDROW_OK(windrow_close(file));
  // The last has the lower third of the file, the one before it nothing, and the others share the columns; of two ranks
  // the first has them all.
  const int64_t readers = std::max(1, size_of() - 2);
  const bool is_last = rank_of() == size_of() - 1, is_idle = !is_last && rank_of() >= readers;
  const int64_t begin = rank_of() * (width / readers), end = rank_of() == readers - 1 ? width : begin + width / readers;
  const int64_t from[2] = {is_last ? k_rows - rows_of_last : 0, is_last || is_idle ? 0 : begin};
  const int64_t count[2] = {is_idle ? 0 : is_last ? rows_of_last : k_rows, is_idle ? 0 : is_last ? width : end - begin};
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, from, count, nullptr, nullptr, &made));
  const Decomposition wanted(made);
  for (const KeyValues& asked : {KeyValues{}, KeyValues{{"domains", "even"}}, KeyValues{{"io_thread", "on"}}}) {
    SCOPED_TRACE(text_of(asked));
    KeyValues values{{"file_system", "local"}, {"access", "contiguous"}, {"buffer", "4096"}, {"direct_bytes", "1GiB"}};
    values.insert(values.end(), asked.begin(), asked.end());
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, Options(values), &file));
    for (int flush = 0; flush < 3; ++flush) {
      std::vector<int64_t> read[2];
      for (int v = 0; v < 2; ++v) {
        read[v].assign(static_cast<size_t>(count[0] * count[1]), -1);
        int variable = -1;
        ASSERT_WINDROW_OK(windrow_find_variable(file, v == 0 ? "a" : "b", &variable));
        ASSERT_WINDROW_OK(windrow_get(file, variable, made, read[v].data()));
      }
      ASSERT_WINDROW_OK(windrow_flush(file));
      int64_t wrong = 0;
      for (int v = 0; v < 2; ++v)
        for (size_t i = 0; i < read[v].size(); ++i)
          if (read[v][i] !=
              value(v, from[0] + static_cast<int64_t>(i) / count[1], from[1] + static_cast<int64_t>(i) % count[1]))
            ++wrong;
      EXPECT_EQ(wrong, 0);
      const json report = report_of(file);
      EXPECT_EQ(report["bytes_copied"], report["bytes"]) << "one copy";
      EXPECT_EQ(report["messages"], 0);
      EXPECT_EQ(report["plans_made"], flush == 0 ? 1 : 0);
      if (flush > 0) {
        EXPECT_EQ(report["allocations"], 0);
      }
      EXPECT_EQ(report["rounds"], report["read_requests"]);
      EXPECT_EQ(report["read_requests"], report["plans"][0]["expected"]["read_requests"]);
      EXPECT_EQ(report["bytes_read"], 2 * k_rows * width * 8) << "once";
      EXPECT_EQ(report["description_messages"] == 0, flush > 0);
      EXPECT_EQ(report["writers"], report["plans"][0]["writers"].size());
    }
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// Rows of 512 bytes in turn, slightly more than 64 MiB: shorter windows and more of them, in the memory of two buffers,
// or four. If the option buffer is set, it applies.
TEST_F(Plans, pass_long_files_on_in_short_windows) {
  if (ranks_per_host() < size_of())
    GTEST_SKIP() << "messages come from other hosts";
  if (size_of() == 1)
    GTEST_SKIP() << "one rank's rows are one piece";
  constexpr int64_t k_mib = int64_t{1} << 20, k_columns = 64;
  const int64_t rows = 64 * k_mib / 512 / size_of() + 1;
  const int64_t shape[3] = {rows, size_of(), k_columns}, start[3] = {0, rank_of(), 0}, count[3] = {rows, 1, k_columns};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 3, shape, start, count, nullptr, nullptr, &made));
  const Decomposition rows_in_turn(made);
  std::vector<int64_t> data(static_cast<size_t>(rows * k_columns)), read(data.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < k_columns; ++column)
      data[static_cast<size_t>(row * k_columns + column)] = (row * size_of() + rank_of()) * k_columns + column;
  enum class Asked {
    no,
    automatic,
    created,
    changed
  };
  for (const Asked asked : {Asked::no, Asked::automatic, Asked::created, Asked::changed}) {
    SCOPED_TRACE(static_cast<int>(asked));
    KeyValues values{{"file_system", "local"}, {"access", "contiguous"}, {"writers", "1"}};
    if (asked == Asked::automatic)
      values.push_back({"buffers", "0"});
    if (asked == Asked::created)
      values.push_back({"buffer", "4MiB"});
    const Options options(values);
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    if (asked == Asked::changed) {
      ASSERT_WINDROW_OK(windrow_set_strategy(file, Options{{"buffer", "4MiB"}}));
    }
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_define_variable(file, "a", WINDROW_INT64, 3, shape, &variable));
    for (const bool reading : {false, true}) {
      std::fill(read.begin(), read.end(), -1);
      if (reading)
        ASSERT_WINDROW_OK(windrow_read(file, variable, rows_in_turn.get(), read.data()));
      else
        ASSERT_WINDROW_OK(windrow_write(file, variable, rows_in_turn.get(), data.data()));
      const json report = report_of(file);
      const int64_t window = asked == Asked::no || asked == Asked::automatic ? k_mib : 4 * k_mib;
      EXPECT_EQ(report["plans"][0]["buffer"], window);
      EXPECT_EQ(report["rounds"], rows * size_of() * 512 / window + 1);
      EXPECT_EQ(report["bytes_copied"], report["bytes"]) << "one copy";
      EXPECT_EQ(report["messages"], 0);
      // Two of 4 MiB where ranks outnumber cores, else four; and a tenth.
      EXPECT_GE(report["peak_memory"], 8 * k_mib);
      EXPECT_LE(report["peak_memory"], 16 * k_mib * 11 / 10);
      if (reading) {
        EXPECT_EQ(read, data);
      }
    }
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// Each rank its own rows, as eight columns: many short pieces, and no two ranks' in one place.
TEST_F(Plans, map_what_each_rank_wants_for_itself) {
  if (ranks_per_host() < size_of())
    GTEST_SKIP() << "it is some host's memory then";
  constexpr int64_t k_columns = 8, k_rows = 20'000;
  const int64_t shape[2] = {k_rows * size_of(), k_columns};
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(file, "a", WINDROW_INT64, 2, shape, &variable));
  std::vector<Decomposition> columns;
  std::vector<std::vector<int64_t>> data, read(k_columns, std::vector<int64_t>(k_rows, -1));
  for (int64_t column = 0; column < k_columns; ++column) {
    const int64_t start[2] = {k_rows * rank_of(), column}, count[2] = {k_rows, 1};
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
    columns.emplace_back(made);
    data.emplace_back(k_rows);
    for (int64_t row = 0; row < k_rows; ++row)
      data.back()[static_cast<size_t>(row)] = (start[0] + row) * k_columns + column;
    ASSERT_WINDROW_OK(windrow_put(file, variable, made, data.back().data()));
  }
  ASSERT_WINDROW_OK(windrow_flush(file));
  for (size_t column = 0; column < k_columns; ++column)
    ASSERT_WINDROW_OK(windrow_get(file, variable, columns[column].get(), read[column].data()));
  ASSERT_WINDROW_OK(windrow_flush(file));
  EXPECT_EQ(read, data);
  EXPECT_EQ(report_of(file)["plans"][0]["access"], "mapped");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Plans, are_kept_for_the_next_flush_of_the_same_shape) {
  for (const KeyValues& strategy : fault_strategies()) {
    SCOPED_TRACE(text_of(strategy));
    {
      Scene scene(path(), strategy);
      scene.begin();
      EXPECT_WINDROW_OK(scene.put_and_flush());
      EXPECT_WINDROW_OK(scene.get_and_flush());
      for (int step = 0; step < 3; ++step) {
        for (int32_t& value : scene.grid)
          ++value;
        const std::vector<double> elsewhere = scene.values;  // other memory, same shape
        (void)windrow_put(scene.file, scene.point_variable, scene.points.get(), elsewhere.data());
        (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());  // and another order
        EXPECT_WINDROW_OK(windrow_flush(scene.file));
        for (const bool reading : {false, true}) {
          if (reading) {
            EXPECT_WINDROW_OK(scene.get_and_flush());
            scene.expect_read();
          }
          const json report = report_of(scene.file);
          EXPECT_EQ(report["plans_made"], 0);
          EXPECT_EQ(report["description_messages"], 0);
          EXPECT_EQ(report["allocations"], 0);
          EXPECT_TRUE(report["plans"][0]["cached"]);
        }
      }
      EXPECT_WINDROW_OK(scene.close());
    }
  }
}

TEST_F(Plans, run_in_two_parts_with_the_same_requests) {
  for (KeyValues strategy : fault_strategies()) {
    if (strategy.size() % 2 == 1)
      strategy.push_back({"direct_bytes", "32"});  // some pieces from the program's memory, by the thread
    SCOPED_TRACE(text_of(strategy));
    Scene scene(path(), strategy);
    scene.begin();
    EXPECT_EQ(windrow_flush_end(scene.file), WINDROW_BAD_STATE);
    EXPECT_WINDROW_OK(scene.put_and_flush());
    const json whole = report_of(scene.file);
    for (int step = 0; step < 3; ++step) {
      for (int32_t& value : scene.grid)
        value += 7;
      (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
      (void)windrow_put(scene.file, scene.point_variable, scene.points.get(), scene.values.data());
      EXPECT_WINDROW_OK(windrow_flush_begin(scene.file));
      std::fill(scene.grid_read.begin(), scene.grid_read.end(), -1);
      if (step == 1)
        (void)windrow_get(scene.file, scene.grid_variable, scene.block.get(),
                          scene.grid_read.data());  // for the next flush
      EXPECT_WINDROW_OK(windrow_flush_end(scene.file));
      const json report = report_of(scene.file);
      for (const char* counter : {"write_requests", "messages", "bytes_written", "bytes_direct", "writers", "bytes"})
        EXPECT_EQ(report[counter], whole[counter]) << counter;
      EXPECT_EQ(report["plans_made"], 0);
      EXPECT_EQ(report["allocations"], 0);
      EXPECT_WINDROW_OK(windrow_flush(scene.file));
      EXPECT_EQ(scene.grid_read == scene.grid, step == 1);
    }
    // A get in the same flush comes after the puts; close ends what was begun.
    (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
    (void)windrow_get(scene.file, scene.grid_variable, scene.block.get(), scene.grid_read.data());
    EXPECT_WINDROW_OK(windrow_flush_begin(scene.file));
    EXPECT_WINDROW_OK(windrow_flush_end(scene.file));
    EXPECT_EQ(scene.grid_read, scene.grid);
    for (int32_t& value : scene.grid)
      value -= 21;
    (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
    EXPECT_WINDROW_OK(windrow_flush_begin(scene.file));
    EXPECT_WINDROW_OK(scene.close());
    Scene again(path(), strategy);
    again.begin_reading();
    EXPECT_WINDROW_OK(again.get_and_flush());
    again.expect_read();
  }
}

// Two files of one communicator share the writers' memory: the second waits for what the first has still to write.
TEST_F(Plans, of_two_files_do_not_meet_in_the_shared_memory) {
  const KeyValues strategy{{"strategy", "two-phase"}, {"buffer", "4096"}};
  const std::string names[2] = {folder_.file("one.raw"), folder_.file("two.raw")};
  constexpr int64_t k_rows = 5000;
  const int64_t shape[2] = {k_rows, size_of()}, start[2] = {0, rank_of()}, count[2] = {k_rows, 1};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
  const Decomposition columns(made);
  const Options options(strategy);
  std::array<windrow_file*, 2> files{};
  std::array<std::vector<int32_t>, 2> data;
  int variable = -1;
  for (size_t f = 0; f < 2; ++f) {
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, names[f].c_str(), options, &files[f]));
    ASSERT_WINDROW_OK(windrow_define_variable(files[f], "v", WINDROW_INT32, 2, shape, &variable));
    for (int64_t i = 0; i < k_rows; ++i)
      data[f].push_back(static_cast<int32_t>(1'000'000 * f) + static_cast<int32_t>(i * size_of() + rank_of()));
  }
  for (int step = 0; step < 5; ++step) {
    for (size_t f = 0; f < 2; ++f) {
      (void)windrow_put(files[f], variable, columns.get(), data[f].data());
      EXPECT_WINDROW_OK(windrow_flush_begin(files[f]));
    }
    for (windrow_file* file : files)
      EXPECT_WINDROW_OK(windrow_flush_end(file));
  }
  for (size_t f = 0; f < 2; ++f) {
    std::vector<int32_t> read(k_rows, -1);
    EXPECT_WINDROW_OK(windrow_read(files[f], variable, columns.get(), read.data()));
    EXPECT_EQ(read, data[f]);
    EXPECT_WINDROW_OK(windrow_close(files[f]));
  }
}

TEST_F(Plans, tell_at_the_end_what_failed_behind_the_program) {
  const KeyValues strategy{{"strategy", "two-phase"},
                           {"buffer", "4096"},
                           {"writers", "1"},
                           {"store", "faulty"},
                           {"fault", "operation=write,after=0,error=no_space"}};
  Scene scene(path(), strategy);
  scene.begin();
  (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
  EXPECT_WINDROW_OK(windrow_flush_begin(scene.file));
  EXPECT_EQ(windrow_flush_end(scene.file), WINDROW_NO_SPACE);
  EXPECT_NE(std::string(windrow_error_message()).find("undefined now: \"/fields/grid\""), std::string::npos)
      << windrow_error_message();
  EXPECT_EQ(scene.close(), WINDROW_NO_SPACE);
}

// Refused or not, another collective call ends the flush that was begun.
TEST_F(Plans, begun_end_with_the_next_collective_call) {
  const KeyValues strategy{{"strategy", "two-phase"},
                           {"buffer", "4096"},
                           {"writers", "1"},
                           {"store", "faulty"},
                           {"fault", "operation=write,after=0,error=no_space"}};
  const int64_t bad[2] = {-1, 0}, count[2] = {1, 1};
  const int32_t value = 0;
  const char* text = nullptr;
  const std::function<int(windrow_file*)> calls[] = {
      [&](windrow_file* file) { return windrow_write_block(file, 0, bad, count, &value); },
      [&](windrow_file* file) { return windrow_explain(file, "no such format", &text); },
      [&](windrow_file* file) { return windrow_define_group(file, "another"); },
      [&](windrow_file* file) { return windrow_put_attribute_text(file, "/", "a", "b"); },
      [&](windrow_file* file) { return windrow_sync(file); }};
  for (const auto& call : calls) {
    Scene scene(path(), strategy);
    scene.begin();
    (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
    EXPECT_WINDROW_OK(windrow_flush_begin(scene.file));
    EXPECT_EQ(call(scene.file), WINDROW_NO_SPACE);
    EXPECT_EQ(windrow_flush_end(scene.file), WINDROW_BAD_STATE);
    EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
  }
}

TEST_F(Plans, are_not_kept_for_another_shape) {
  Scene scene(path(), {});
  scene.begin();
  EXPECT_WINDROW_OK(scene.put_and_flush());
  EXPECT_WINDROW_OK(windrow_write(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data()));
  EXPECT_EQ(report_of(scene.file)["plans_made"], 1);
  scene.decompose();  // the same numbers, but new decompositions
  EXPECT_WINDROW_OK(scene.put_and_flush());
  EXPECT_EQ(report_of(scene.file)["plans_made"], 1);
  EXPECT_WINDROW_OK(scene.get_and_flush());
  scene.expect_read();
  EXPECT_WINDROW_OK(scene.close());
}

// One variable read through two decompositions, the next times in another order on some ranks.
TEST_F(Plans, do_not_depend_on_the_order_of_the_queue) {
  for (const KeyValues& strategy : fault_strategies()) {
    SCOPED_TRACE(text_of(strategy));
    Scene scene(path(), strategy);
    scene.begin();
    EXPECT_WINDROW_OK(scene.put_and_flush());
    const int64_t start[2] = {0, 0}, count[2] = {2, 3};
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_same(scene.comm, 2, scene.grid_shape.data(), start, count, &made));
    const Decomposition corner(made);
    const std::vector<int32_t> want{0, 1, 2, 1000, 1001, 1002};
    for (int step = 0; step < 4; ++step) {
      std::vector<int32_t> read(6, -1);
      std::fill(scene.grid_read.begin(), scene.grid_read.end(), -1);
      const bool corner_first = step > 0 && scene.rank % 2 == step % 2;
      if (corner_first) {
        EXPECT_WINDROW_OK(windrow_get(scene.file, scene.grid_variable, corner.get(), read.data()));
      }
      EXPECT_WINDROW_OK(windrow_get(scene.file, scene.grid_variable, scene.block.get(), scene.grid_read.data()));
      if (!corner_first) {
        EXPECT_WINDROW_OK(windrow_get(scene.file, scene.grid_variable, corner.get(), read.data()));
      }
      EXPECT_WINDROW_OK(windrow_flush(scene.file));
      EXPECT_EQ(read, want);
      EXPECT_EQ(scene.grid_read, scene.grid);
    }
    EXPECT_WINDROW_OK(windrow_discard(std::exchange(scene.file, nullptr)));
  }
}

// Long pieces go from their holder to the file, short ones to a writer; both in one flush, and in one variable.
TEST_F(Plans, mix_long_and_short_pieces) {
  const Options options{{"direct_bytes", "4096"}};
  windrow_file* file = nullptr;
  int variable = -1;
  // Rank by rank in turn: a row of 1000 numbers each, and then 200 numbers each by turns.
  const int64_t size = size_of(), rows = 1000 * size, all = rows + 200 * size;
  std::vector<int64_t> list, data;
  for (int64_t i = 0; i < 1000; ++i)
    list.push_back(1000 * rank_of() + i);
  for (int64_t i = 0; i < 200; ++i)
    list.push_back(rows + i * size + rank_of());
  for (const int64_t point : list)
    data.push_back(point * 3);
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, all, static_cast<int64_t>(list.size()), list.data(), nullptr, &d));
  const Decomposition points(d);
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 1, &all, &variable));
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < list.size(); ++i)
      data[i] = list[i] * 3 + step;
    EXPECT_WINDROW_OK(windrow_write(file, variable, d, data.data()));
    const json written = report_of(file);
    const json& expected = written["plans"][0]["expected"];
    EXPECT_EQ(written["write_requests"], expected["write_requests"]);
    EXPECT_EQ(written["messages"], expected["messages"]);
    if (size > 1) {
      EXPECT_EQ(written["bytes_direct"], rows * 8);
      EXPECT_EQ(written["plans"][0]["domains"], "aligned");
    }
    EXPECT_EQ(written["plans_made"], step == 0 ? 1 : 0);
    std::vector<int64_t> read(data.size(), -1);
    EXPECT_WINDROW_OK(windrow_read(file, variable, d, read.data()));
    EXPECT_EQ(read, data);
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// A rank that moves nothing in two patterns cannot distinguish them; the other ranks can.
TEST_F(Plans, are_kept_where_a_rank_is_idle) {
  if (size_of() < 2)
    GTEST_SKIP() << "needs two ranks";
  windrow_file* file = nullptr;
  int variables[2] = {-1, -1};
  const int64_t shape[1] = {60};
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  for (int i = 0; i < 2; ++i)
    EXPECT_WINDROW_OK(windrow_define_variable(file, i == 0 ? "a" : "b", WINDROW_INT32, 1, shape, &variables[i]));
  const bool idle = rank_of() == 1;
  const int64_t working = size_of() - 1, place = rank_of() - (rank_of() > 1 ? 1 : 0);
  const int64_t start[1] = {idle ? 0 : 60 * place / working},
                count[1] = {idle ? 0 : 60 * (place + 1) / working - start[0]};
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, start, count, nullptr, nullptr, &d));
  const Decomposition blocks(d);
  const std::vector<int32_t> data(60, 7);
  for (int step = 0; step < 6; ++step) {
    if (!idle) {
      EXPECT_WINDROW_OK(windrow_put(file, variables[step % 2], d, data.data()));
    }
    EXPECT_WINDROW_OK(windrow_flush(file));
    EXPECT_EQ(report_of(file)["plans_made"], step < 2 ? 1 : 0) << step;
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// The plan that a put needs may push out the one that the gets of the same queue had.
TEST_F(Plans, are_explained_when_there_are_too_many_to_keep) {
  constexpr int k_variables = 10;
  windrow_file* file = nullptr;
  std::array<int, k_variables> variables{};
  const int64_t rows = 12;
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, rows, WINDROW_EVEN, &d));
  const Decomposition decomposition(d);
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  for (int i = 0; i < k_variables; ++i)
    EXPECT_WINDROW_OK(windrow_define_variable(file, ("v" + std::to_string(i)).c_str(), WINDROW_INT32, 1, &rows,
                                              &variables[static_cast<size_t>(i)]));
  std::vector<int32_t> data(static_cast<size_t>(rows), 3);
  EXPECT_WINDROW_OK(windrow_write(file, variables[0], d, data.data()));
  EXPECT_WINDROW_OK(windrow_read(file, variables[0], d, data.data()));  // the oldest plan from the eighth write on
  for (int i = 1; i < 7; ++i)
    EXPECT_WINDROW_OK(windrow_write(file, variables[static_cast<size_t>(i)], d, data.data()));
  for (int i = 7; i < k_variables; ++i) {
    EXPECT_WINDROW_OK(windrow_put(file, variables[static_cast<size_t>(i)], d, data.data()));
    EXPECT_WINDROW_OK(windrow_get(file, variables[0], d, data.data()));
    EXPECT_EQ(explain(file).size(), 2u);
    EXPECT_WINDROW_OK(windrow_flush(file));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Plans, are_explained_before_and_after) {
  Scene scene(path(), {{"strategy", "two-phase"}, {"writers", "2"}});
  scene.begin();
  EXPECT_TRUE(explain(scene.file).empty());
  (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
  const json planned = explain(scene.file);
  ASSERT_EQ(planned.size(), 1u);
  EXPECT_EQ(planned[0]["domains"], "even");
  EXPECT_EQ(planned[0]["writers"].size(), std::min<size_t>(2, static_cast<size_t>(scene.size)));
  EXPECT_EQ(planned[0]["domain_bytes"].size(), planned[0]["writers"].size());
  EXPECT_WINDROW_OK(windrow_flush(scene.file));  // the queue is still there, and its plan
  EXPECT_EQ(report_of(scene.file)["plans_made"], 0);
  EXPECT_EQ(report_of(scene.file)["bytes"], scene.grid_shape[0] * scene.grid_shape[1] * 4);
  EXPECT_EQ(explain(scene.file)[0]["expected"], planned[0]["expected"]);
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_explain(scene.file, "text", &text));
  EXPECT_NE(std::string(text).find("even"), std::string::npos) << text;
  EXPECT_WINDROW_OK(windrow_report(scene.file, "text", &text));
  EXPECT_NE(std::string(text).find("messages"), std::string::npos) << text;
  EXPECT_EQ(windrow_report(scene.file, "xml", &text), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_report(scene.file, "json", nullptr), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(scene.put_and_flush());
  EXPECT_WINDROW_OK(scene.close());
}

// A step of a program that writes each variable by itself: what was planned in the first step serves all others, as
// long as there are no more plans than a file keeps.
TEST_F(Plans, of_many_variables_written_one_by_one_are_kept) {
  constexpr int k_kept = 128;
  for (const int variables : {100, k_kept + 1}) {
    const int64_t shape[2] = {3 * size_of(), 5}, start[2] = {3 * rank_of(), 0}, count[2] = {3, 5};
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
    const Decomposition rows(made);
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
    std::vector<int> numbers(static_cast<size_t>(variables), -1);
    for (int i = 0; i < variables; ++i) {
      const std::string name = "v" + std::to_string(i);
      ASSERT_WINDROW_OK(
          windrow_define_variable(file, name.c_str(), WINDROW_INT32, 2, shape, &numbers[static_cast<size_t>(i)]));
    }
    std::vector<int32_t> data(15), read(15);
    for (int step = 0; step < 2; ++step)
      for (int i = 0; i < variables; ++i) {
        std::iota(data.begin(), data.end(), 10000 * step + 100 * i + 7 * rank_of());
        ASSERT_WINDROW_OK(windrow_write(file, numbers[static_cast<size_t>(i)], rows.get(), data.data()));
        EXPECT_EQ(report_of(file)["plans_made"], step == 0 || variables > k_kept ? 1 : 0)
            << "step " << step << ", variable " << i;
        EXPECT_EQ(report_of(file)["plans"][0]["cached"], report_of(file)["plans_made"] == 0);
      }
    for (int i = 0; i < variables; i += 9) {
      std::iota(data.begin(), data.end(), 10000 + 100 * i + 7 * rank_of());
      ASSERT_WINDROW_OK(windrow_read(file, numbers[static_cast<size_t>(i)], rows.get(), read.data()));
      EXPECT_EQ(read, data);
    }
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// No plan outlives its file: the next one plans for what it finds.
TEST_F(Plans, of_a_file_end_with_it) {
  for (int step = 0; step < 2; ++step) {
    Scene scene(path(), {});
    scene.begin();
    ASSERT_WINDROW_OK(scene.put_and_flush());
    EXPECT_GE(report_of(scene.file)["plans_made"], 1);
    ASSERT_WINDROW_OK(scene.put_and_flush());
    EXPECT_EQ(report_of(scene.file)["plans_made"], 0);
    EXPECT_WINDROW_OK(scene.close());
  }
}

// Between the two calls of a flush its numbers are not there yet, and the report says so.
TEST_F(Plans, report_of_a_flush_that_is_under_way) {
  Scene scene(path(), {});
  scene.begin();
  EXPECT_EQ(report_of(scene.file)["under_way"], false);
  (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
  ASSERT_WINDROW_OK(windrow_flush_begin(scene.file));
  EXPECT_EQ(report_of(scene.file)["under_way"], true);
  EXPECT_EQ(report_of(scene.file)["ranks"], size_of());
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_report(scene.file, "text", &text));
  EXPECT_NE(std::string(text).find("in progress"), std::string::npos) << text;
  ASSERT_WINDROW_OK(windrow_flush_end(scene.file));
  EXPECT_EQ(report_of(scene.file)["under_way"], false);
  EXPECT_EQ(report_of(scene.file)["flushed"], true);
  EXPECT_WINDROW_OK(scene.put_and_flush());
  EXPECT_WINDROW_OK(scene.close());
}

}  // namespace
