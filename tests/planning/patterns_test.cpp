// SPDX-License-Identifier: BSD-3-Clause
// The access patterns of SCORPIO (Sreepathi et al., HiPC 2013, Table I, Fig. 1 and 7), for writing and for reading,
// with every size of team; read with fewer ranks than wrote, too. What a pattern costs is counted.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "../capi/checked.hpp"
#include "../capi/report.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

constexpr int64_t k_rows = 23, k_columns = 11;  // rows that no number of ranks divides

// What a rank of a communicator holds: the arguments for the library, and the elements of the array in their order in
// memory.
struct Held {
  Decomposition decomposition;
  std::vector<int64_t> elements;
};

Held rows_of(MPI_Comm comm, int64_t asked) {
  Held held;
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_rows(comm, k_rows, asked, &made));
  held.decomposition.reset(made);
  int64_t first = -1, count = -1;
  EXPECT_WINDROW_OK(windrow_decomposition_rows(made, &first, &count));
  held.elements.resize(static_cast<size_t>(count * k_columns));
  std::iota(held.elements.begin(), held.elements.end(), first * k_columns);
  return held;
}

Held uniform(MPI_Comm comm) {
  Held held = rows_of(comm, WINDROW_EVEN);
  const int64_t rank = rank_of(comm), size = size_of(comm), each = k_rows / size, rest = k_rows % size;
  EXPECT_EQ(static_cast<int64_t>(held.elements.size()), (each + (rank < rest ? 1 : 0)) * k_columns)
      << "the remainder goes to the first ranks";
  EXPECT_TRUE(held.elements.empty() || held.elements.front() == (rank * each + std::min(rank, rest)) * k_columns);
  return held;
}

// Rank r holds r rows, the last one the rest: the first none, and the places follow from the counts of others.
Held non_uniform(MPI_Comm comm) {
  const int64_t rank = rank_of(comm), size = size_of(comm);
  const auto begin = [](int64_t r) { return std::min(k_rows, r * (r - 1) / 2); };
  return rows_of(comm, rank + 1 == size ? k_rows - begin(rank) : begin(rank + 1) - begin(rank));
}

std::vector<int64_t> elements_of(const int64_t* start, const int64_t* count) {
  std::vector<int64_t> elements;
  for (int64_t row = start[0]; row < start[0] + count[0]; ++row)
    for (int64_t column = start[1]; column < start[1] + count[1]; ++column)
      elements.push_back(row * k_columns + column);
  return elements;
}

constexpr int64_t k_shape[2] = {k_rows, k_columns};

Held same(MPI_Comm comm, const int64_t* start, const int64_t* count) {
  Held held;
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_same(comm, 2, k_shape, start, count, &made));
  held.decomposition.reset(made);
  held.elements = elements_of(start, count);
  return held;
}

Held all_of_it(MPI_Comm comm) {
  const int64_t start[2] = {0, 0};
  return same(comm, start, k_shape);
}

Held same_part(MPI_Comm comm) {
  const int64_t start[2] = {4, 3}, count[2] = {12, 5};
  return same(comm, start, count);
}

// Columns, each rank's overlapping its neighbour's by one.
Held block(MPI_Comm comm) {
  Held held;
  const int64_t rank = rank_of(comm), size = size_of(comm);
  const int64_t begin = k_columns * rank / size, end = std::min(k_columns, k_columns * (rank + 1) / size + 1);
  const int64_t start[2] = {1, begin}, count[2] = {k_rows - 2, end - begin};
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_block(comm, 2, k_shape, start, count, nullptr, nullptr, &made));
  held.decomposition.reset(made);
  held.elements = elements_of(start, count);
  return held;
}

// Tiles of 4 x 4, dealt out by turns; edge tiles are smaller.
Held blocks(MPI_Comm comm) {
  Held held;
  std::vector<int64_t> starts, counts;
  int64_t number = 0;
  for (int64_t row = 0; row < k_rows; row += 4)
    for (int64_t column = 0; column < k_columns; column += 4) {
      if (number++ % size_of(comm) != rank_of(comm))
        continue;
      const int64_t start[2] = {row, column},
                    count[2] = {std::min<int64_t>(4, k_rows - row), std::min<int64_t>(4, k_columns - column)};
      starts.insert(starts.end(), start, start + 2);
      counts.insert(counts.end(), count, count + 2);
      const auto elements = elements_of(start, count);
      held.elements.insert(held.elements.end(), elements.begin(), elements.end());
    }
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_blocks(comm, 2, k_shape, static_cast<int>(starts.size() / 2), starts.data(), counts.data(),
                                   nullptr, nullptr, &made));
  held.decomposition.reset(made);
  return held;
}

// Elements by number, backwards; every seventh is also the next rank's.
Held list(MPI_Comm comm) {
  Held held;
  for (int64_t element = k_rows * k_columns - 1; element >= 0; --element) {
    const int64_t rank = element % 5 % size_of(comm), next = (rank + 1) % size_of(comm);
    if (rank == rank_of(comm) || (element % 7 == 0 && next == rank_of(comm)))
      held.elements.push_back(element);
  }
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_points(comm, k_rows * k_columns, static_cast<int64_t>(held.elements.size()),
                                   held.elements.data(), nullptr, &made));
  held.decomposition.reset(made);
  return held;
}

struct Pattern {
  const char* name;
  std::function<Held(MPI_Comm)> held;
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{{"uniform contiguous", uniform}, {"non-uniform contiguous", non_uniform},
                                        {"whole dataset", all_of_it},    {"same sub-dataset", same_part},
                                        {"block at an offset", block},   {"several blocks", blocks},
                                        {"list of indices", list}};
  return all;
}

const std::vector<std::string>& teams() {
  static const std::vector<std::string> all{"team(1)",   "team(2)",   "team(3)", "team(1000)",
                                            "team(2,3)", "team(3,1)", "host",    "auto"};
  return all;
}

class Patterns : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path() const { return folder_.file("patterns" + GetParam()); }
  static KeyValues options_for(const std::string& gather) {
    KeyValues options{{"gather", gather}, {"buffer", "4096"}};
    if (gather != "auto" && gather != "host")
      options.emplace_back("domains", "none");
    return options;
  }
  static void expect_read(MPI_Comm comm, windrow_file* file, int variable, const Pattern& pattern,
                          const std::vector<bool>& written) {
    const Held held = pattern.held(comm);
    std::vector<double> read(held.elements.size(), -1);
    EXPECT_WINDROW_OK(windrow_read(file, variable, held.decomposition.get(), read.data()));
    int wrong = 0;
    for (size_t i = 0; i < read.size(); ++i) {
      const auto element = static_cast<size_t>(held.elements[i]);
      wrong += read[i] != (written[element] ? static_cast<double>(element) + 0.5 : 0.0);
    }
    EXPECT_EQ(wrong, 0) << pattern.name;
  }

  SharedFolder folder_;
};

TEST_P(Patterns, are_written_and_read_by_teams_of_every_size) {
  MPI_Comm fewer = MPI_COMM_NULL;  // read with other ranks than wrote
  MPI_Comm_split(MPI_COMM_WORLD, rank_of() + 1 < size_of() ? 0 : 1, 0, &fewer);
  for (const std::string& gather : teams()) {
    SCOPED_TRACE(gather);
    const Options options(options_for(gather));
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    std::vector<std::vector<bool>> written;
    for (const Pattern& pattern : patterns()) {
      const Held held = pattern.held(MPI_COMM_WORLD);
      int variable = -1;
      ASSERT_WINDROW_OK(windrow_define_variable(file, pattern.name, WINDROW_FLOAT64, 2, k_shape, &variable));
      std::vector<double> data;
      std::vector<int> mine(k_rows * k_columns, 0);
      for (const int64_t element : held.elements) {
        data.push_back(static_cast<double>(element) + 0.5);
        mine[static_cast<size_t>(element)] = 1;
      }
      ASSERT_WINDROW_OK(windrow_write(file, variable, held.decomposition.get(), data.data()));
      MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      written.emplace_back(mine.begin(), mine.end());
      expect_read(MPI_COMM_WORLD, file, variable, pattern, written.back());
    }
    ASSERT_WINDROW_OK(windrow_close(file));
    for (const MPI_Comm comm : {MPI_COMM_WORLD, fewer}) {
      ASSERT_WINDROW_OK(windrow_open(comm, path().c_str(), WINDROW_READ, options, &file));
      for (size_t wrote = 0; wrote < patterns().size(); ++wrote) {
        int variable = -1;
        ASSERT_WINDROW_OK(windrow_find_variable(file, patterns()[wrote].name, &variable));
        for (const Pattern& pattern : patterns())
          expect_read(comm, file, variable, pattern, written[wrote]);
      }
      ASSERT_WINDROW_OK(windrow_close(file));
    }
    if (failed_anywhere())
      break;
  }
  MPI_Comm_free(&fewer);
}

// One request and one message per member and team, for any pieces of the pattern: blocks of a team are merged before
// they are written.
TEST_P(Patterns, cost_a_team_one_request) {
  if (size_of() == 1)
    GTEST_SKIP() << "one rank";
  for (const int team : {2, 3, 1000}) {
    const Options options{
        {"gather", "team(" + std::to_string(team) + ")"}, {"domains", "none"}, {"shared_memory", "false"}};
    const int teams_of = (size_of() + team - 1) / team;
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, k_shape, &variable));
    const Held rows = uniform(MPI_COMM_WORLD);
    const std::vector<double> data(rows.elements.begin(), rows.elements.end());
    ASSERT_WINDROW_OK(windrow_write(file, variable, rows.decomposition.get(), data.data()));
    json report = report_of(file);
    EXPECT_EQ(report["writers"], teams_of);
    EXPECT_EQ(report["write_requests"], teams_of) << "of rows that follow each other";
    EXPECT_EQ(report["messages"], size_of() - teams_of);
    EXPECT_EQ(report["bytes_written"], k_rows * k_columns * 8);
    if (team == 1000) {  // columns of all ranks together are the whole array
      const Held columns = block(MPI_COMM_WORLD);
      const std::vector<double> all(columns.elements.begin(), columns.elements.end());
      ASSERT_WINDROW_OK(windrow_write(file, variable, columns.decomposition.get(), all.data()));
      report = report_of(file);
      EXPECT_EQ(report["write_requests"], 1);
      EXPECT_EQ(report["bytes_written"], (k_rows - 2) * k_columns * 8) << "what two ranks hold is written once";
    }
    ASSERT_WINDROW_OK(windrow_close(file));
  }
}

// One reader for any number of ranks; the other ranks get the data in messages.
TEST_P(Patterns, what_all_ranks_read_is_read_once) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, k_shape, &variable));
  const Held whole = all_of_it(MPI_COMM_WORLD);
  std::vector<double> data(whole.elements.begin(), whole.elements.end());
  ASSERT_WINDROW_OK(windrow_write(file, variable, whole.decomposition.get(), data.data()));
  EXPECT_EQ(report_of(file)["bytes_written"], k_rows * k_columns * 8);
  ASSERT_WINDROW_OK(windrow_close(file));
  for (const char* gather : {"team(1)", "team(2)", "team(1000)", "host", "auto"}) {
    const Options options{{"gather", gather}, {"shared_memory", "false"}, {"access", "contiguous"}};
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, options, &file));
    for (const auto& held : {all_of_it, same_part}) {
      const Held part = held(MPI_COMM_WORLD);
      std::vector<double> read(part.elements.size(), -1);
      ASSERT_WINDROW_OK(windrow_read(file, 0, part.decomposition.get(), read.data()));
      EXPECT_TRUE(std::equal(read.begin(), read.end(), part.elements.begin()));
      const json report = report_of(file);
      EXPECT_LE(report["bytes_read"], k_rows * k_columns * 8) << gather;
      EXPECT_EQ(report["writers"], 1) << gather;
    }
    ASSERT_WINDROW_OK(windrow_close(file));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Patterns, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
