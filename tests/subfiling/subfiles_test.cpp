// SPDX-License-Identifier: BSD-3-Clause
// Variables that are split over subfiles: written and read by any ranks, moved, damaged, and seen from inside.
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "../capi/checked.hpp"
#include "../capi/report.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 12, k_columns = 10, k_layers = 7;
constexpr int64_t k_shape[3] = {k_rows, k_columns, k_layers};

double value_at(int64_t i, int64_t j, int64_t k) {
  return static_cast<double>((i * k_columns + j) * k_layers + k);
}

// A block of the array, from `start` on, and what it holds.
struct Block {
  std::vector<int64_t> start, count;
  std::vector<double> data;
  Block(std::vector<int64_t> first, std::vector<int64_t> counts) : start(std::move(first)), count(std::move(counts)) {
    for (int64_t i = start[0]; i < start[0] + count[0]; ++i)
      for (int64_t j = start[1]; j < start[1] + count[1]; ++j)
        for (int64_t k = start[2]; k < start[2] + count[2]; ++k)
          data.push_back(value_at(i, j, k));
  }
};

// Of dimension `axis`, this rank's share of it, as even as can be.
Block share_of(size_t axis, MPI_Comm comm = MPI_COMM_WORLD) {
  std::vector<int64_t> start(3, 0), count(std::begin(k_shape), std::end(k_shape));
  const int64_t rank = rank_of(comm), size = size_of(comm);
  start[axis] = k_shape[axis] * rank / size;
  count[axis] = k_shape[axis] * (rank + 1) / size - start[axis];
  return {start, count};
}

class Subfiles : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path(const std::string& name = "a.h5") const { return folder_.file(name); }
  windrow_file* create(const KeyValues& options, const std::string& name = "a.h5") const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path(name).c_str(), Options(options), &file));
    return file;
  }
  windrow_file* open(int mode = WINDROW_READ, const std::string& name = "a.h5", MPI_Comm comm = MPI_COMM_WORLD) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(comm, path(name).c_str(), mode, nullptr, &file));
    return file;
  }
  static int define(windrow_file* file, const char* name, const KeyValues& options = {}) {
    int variable = -1;
    EXPECT_WINDROW_OK(
        windrow_define_variable_with(file, name, WINDROW_FLOAT64, 3, k_shape, Options(options), &variable));
    return variable;
  }
  static void write(windrow_file* file, int variable, const Block& block) {
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, block.start.data(), block.count.data(), block.data.data()));
  }
  static void expect_read(windrow_file* file, const char* name, const Block& block) {
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    std::vector<double> read(block.data.size() + 1, -1);
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, block.start.data(), block.count.data(), read.data()));
    read.pop_back();
    EXPECT_TRUE(read == block.data) << name;
  }
  void make(const KeyValues& options, const std::string& name = "a.h5") const {
    windrow_file* file = create(options, name);
    write(file, define(file, "g/v"), share_of(0));
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  void expect_made(const std::string& name = "a.h5") const {
    windrow_file* file = open(WINDROW_READ, name);
    expect_read(file, "g/v", share_of(1));
    EXPECT_EQ(problems(file), "");
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  static std::string problems(windrow_file* file) {
    const char* text = "";
    EXPECT_WINDROW_OK(windrow_check_subfiles(file, &text));
    return text;
  }
  // The folders of sets that there are.
  std::vector<std::string> sets() const {
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::string> found;
    for (const std::string& name : folder_.names())
      if (std::filesystem::is_directory(folder_.file(name)))
        found.push_back(folder_.file(name));
    MPI_Barrier(MPI_COMM_WORLD);
    return found;
  }
  template <class Work>
  static void on_rank_0(Work&& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      work();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static std::string split_of(windrow_file* file, const char* name) {
    windrow_variable_info info{};
    info.size = sizeof info;
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
    return info.split;
  }

  SharedFolder folder_;
};

TEST_F(Subfiles, are_read_by_any_ranks_as_one_array) {
  const std::vector<KeyValues> ways{
      {{"files", "subfiles(1)"}},
      {{"files", "subfiles(2)"}},
      {{"files", "subfiles(5)"}},
      {{"files", "subfiles(12)"}},
      {{"files", "per-rank"}},
      {{"files", "subfiles(3)"}, {"split", "1"}},
      {{"files", "subfiles(7)"}, {"split", "2"}},
      {{"files", "subfiles(6)"}, {"split", "0,2"}},
      {{"files", "subfiles(8)"}, {"split", "2,1,0"}},
      {{"files", "subfiles(3)"}, {"split_parts", "5+1+6x1x1"}},
      {{"files", "subfiles(6)"}, {"split_parts", "3x1x4+3"}},
      {{"files", "subfiles(9)"}, {"split_parts", "1x2x1"}},
      {{"files", "subfiles(3)"}, {"strategy", "two-phase"}},
      {{"files", "subfiles(3)"}, {"strategy", "list"}},
      {{"files", "subfiles(3)"}, {"strategy", "subfiling"}, {"buffer", "4096"}},
      {{"files", "subfiles(3)"}, {"domains", "even"}, {"access", "sieve"}, {"sieve_hole", "16MiB"}},
      {{"files", "subfiles(3)"}, {"domains", "none"}, {"access", "sieve"}},
      {{"files", "subfiles(3)"}, {"access", "mapped"}},
      {{"files", "subfiles(3)"}, {"gather", "team(2)"}},
      {{"files", "subfiles(4)"}, {"byte_order", "big"}, {"split", "1"}},
      {{"files", "subfiles(4)"}, {"alignment", "4096"}, {"writers", "1"}},
      {{"files", "subfiles(4)"}, {"shared_memory", "false"}},
  };
  for (const KeyValues& way : ways)
    for (const size_t axis : {size_t{0}, size_t{1}}) {
      std::string trace;
      for (const auto& [key, value] : way)
        trace += key + "=" + value + " ";
      SCOPED_TRACE(trace + "axis " + std::to_string(axis));
      windrow_file* file = create(way);
      write(file, define(file, "g/v"), share_of(axis));
      expect_read(file, "g/v", share_of(2));  // before it is published
      ASSERT_WINDROW_OK(windrow_close(file));
      for (const size_t other : {size_t{0}, size_t{1}, size_t{2}}) {
        file = open();
        expect_read(file, "g/v", share_of(other));
        EXPECT_EQ(problems(file), "");
        ASSERT_WINDROW_OK(windrow_close(file));
      }
      // The first ranks alone, and each by itself.
      MPI_Comm few = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank_of() < (size_of() + 1) / 2 ? 0 : 1 + rank_of(), rank_of(), &few);
      file = open(WINDROW_READ, "a.h5", few);
      expect_read(file, "g/v", share_of(1, few));
      ASSERT_WINDROW_OK(windrow_close(file));
      MPI_Comm_free(&few);
      if (failed_anywhere())
        return;
    }
}

TEST_F(Subfiles, take_all_kinds_of_variables_in_one_queue) {
  windrow_file* file = create({{"files", "subfiles(3)"}});
  const int split = define(file, "split"), other = define(file, "otherwise", {{"split", "2"}}),
            whole = define(file, "whole", {{"split", "none"}});
  const int filled = define(file, "filled", {{"fill_value", "-7"}}),
            chunked = define(file, "chunked", {{"chunks", "4x4x4"}, {"filters", "deflate:1"}});
  int scalar = -1, texts = -1, records = -1, small = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "scalar", WINDROW_INT32, 0, nullptr, &scalar));
  const int64_t two[1] = {2}, none[2] = {0, 4};
  EXPECT_WINDROW_OK(windrow_define_variable(file, "texts", WINDROW_TEXT, 1, two, &texts));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "small", WINDROW_INT32, 1, two, &small));
  EXPECT_WINDROW_OK(
      windrow_define_variable_with(file, "records", WINDROW_INT32, 2, none, Options{{"extendible", "true"}}, &records));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "split", "units", "K"));
  const Block rows = share_of(0), columns = share_of(1);
  const auto block = [](const Block& of) {
    windrow_decomposition* d = nullptr;
    EXPECT_WINDROW_OK(
        windrow_block(MPI_COMM_WORLD, 3, k_shape, of.start.data(), of.count.data(), nullptr, nullptr, &d));
    return Decomposition(d);
  };
  const Decomposition by_rows = block(rows), by_columns = block(columns);
  const std::vector<double> old(rows.data.size() + 1, 99);
  EXPECT_WINDROW_OK(windrow_put(file, split, by_rows.get(), old.data()));  // the later put wins
  EXPECT_WINDROW_OK(windrow_put(file, split, by_rows.get(), rows.data.data()));
  EXPECT_WINDROW_OK(windrow_put(file, other, by_columns.get(), columns.data.data()));
  EXPECT_WINDROW_OK(windrow_put(file, whole, by_columns.get(), columns.data.data()));
  EXPECT_WINDROW_OK(windrow_put(file, chunked, by_rows.get(), rows.data.data()));
  EXPECT_WINDROW_OK(windrow_flush(file));
  // A float in memory, of half of the rows; and records of a split variable.
  const int64_t half_start[3] = {0, 0, 0}, half_count[3] = {rank_of() == 0 ? k_rows / 2 : 0, k_columns, k_layers};
  std::vector<float> floats;
  for (const double each : Block({0, 0, 0}, {k_rows / 2, k_columns, k_layers}).data)
    floats.push_back(static_cast<float>(each));
  windrow_decomposition* half = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 3, k_shape, half_start, half_count, nullptr, nullptr, &half));
  EXPECT_WINDROW_OK(windrow_put_as(file, filled, half, WINDROW_FLOAT32, floats.data()));
  EXPECT_WINDROW_OK(windrow_flush_begin(file));
  EXPECT_WINDROW_OK(windrow_flush_end(file));
  windrow_decomposition_free(half);
  const char* words[2] = {"one", "two"};
  EXPECT_WINDROW_OK(windrow_put_texts(file, texts, words));
  ASSERT_WINDROW_OK(windrow_close(file));

  file = open();
  EXPECT_EQ(split_of(file, "split"), "3x1x1");
  EXPECT_EQ(split_of(file, "otherwise"), "1x1x3");
  EXPECT_EQ(split_of(file, "chunked"), "3x1x1");
  EXPECT_EQ(split_of(file, "records"), "1x3");
  for (const char* name : {"whole", "scalar", "texts", "small"})
    EXPECT_EQ(split_of(file, name), "") << name;
  for (const char* name : {"split", "otherwise", "whole", "chunked"})
    expect_read(file, name, share_of(1));
  EXPECT_EQ(windrow_attribute_count(file, "split"), 1);
  EXPECT_EQ(windrow_attribute_count(file, "/"), 0);
  std::vector<double> read(static_cast<size_t>(k_rows * k_columns * k_layers));
  windrow_decomposition* all = nullptr;
  EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "filled", &variable));
  EXPECT_WINDROW_OK(windrow_read(file, variable, all, read.data()));
  for (size_t i = 0; i < read.size(); ++i)
    EXPECT_EQ(read[i], i < read.size() / 2 ? static_cast<double>(i) : -7) << i;
  windrow_decomposition_free(all);
  // One row of the first dimension, and points of the two first together.
  EXPECT_WINDROW_OK(windrow_find_variable(file, "otherwise", &variable));
  const int64_t plane[2] = {k_columns, k_layers}, origin[2] = {0, 0};
  windrow_decomposition* record = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, plane, origin, plane, nullptr, nullptr, &record));
  EXPECT_WINDROW_OK(windrow_get_record(file, variable, 5, record, read.data()));
  EXPECT_WINDROW_OK(windrow_flush(file));
  for (int64_t i = 0; i < k_columns * k_layers; ++i)
    EXPECT_EQ(read[static_cast<size_t>(i)], value_at(5, 0, 0) + static_cast<double>(i));
  windrow_decomposition_free(record);
  std::vector<int64_t> points;
  for (int64_t point = k_rows * k_columns - 1 - rank_of(); point >= 0; point -= 2)
    points.push_back(point);
  windrow_decomposition* list = nullptr;
  EXPECT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, k_rows * k_columns, static_cast<int64_t>(points.size()),
                                   points.data(), nullptr, &list));
  EXPECT_WINDROW_OK(windrow_read(file, variable, list, read.data()));
  for (size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(read[i * k_layers + 3], static_cast<double>(points[i] * k_layers + 3)) << i;
  windrow_decomposition_free(list);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Subfiles, hold_chunks_that_end_where_parts_do) {
  const std::vector<KeyValues> ways{{{"files", "subfiles(2)"}},
                                    {{"files", "subfiles(5)"}, {"split", "1"}},
                                    {{"files", "per-rank"}},
                                    {{"files", "subfiles(6)"}, {"split", "0,2"}},
                                    {{"files", "subfiles(3)"}, {"split_parts", "5+1+6x1x1"}},
                                    {{"files", "subfiles(3)"}, {"buffer", "4096"}, {"writers", "1"}},
                                    {{"files", "subfiles(40)"}, {"split_parts", "4x10x1"}}};
  for (const KeyValues& way : ways)
    for (const char* filters : {"none", "shuffle,deflate:2", "fletcher32"}) {
      SCOPED_TRACE(way.front().second + " " + filters);
      windrow_file* file = create(way);
      const KeyValues chunks{{"chunks", "4x3x5"}, {"filters", filters}, {"fill_value", "-7"}};
      const int variable = define(file, "g/v", chunks), other = define(file, "half", chunks);
      // In two steps, so that chunks are read, changed and written again; and of one variable a half alone.
      const Block upper({0, 0, 0}, {rank_of() == 0 ? 7 : 0, k_columns, k_layers}), all = share_of(1);
      std::vector<double> wrong(upper.data.size() + 1, 99);
      EXPECT_WINDROW_OK(windrow_write_block(file, variable, upper.start.data(), upper.count.data(), wrong.data()));
      write(file, variable, all);
      write(file, other, upper);
      expect_read(file, "g/v", share_of(2));
      ASSERT_WINDROW_OK(windrow_close(file));
      for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
        file = open();
        expect_read(file, "g/v", share_of(axis));
        expect_read(file, "half", upper);
        Block lower({7, 0, 0}, {k_rows - 7, k_columns, k_layers});
        for (double& each : lower.data)
          each = -7;
        expect_read(file, "half", lower);
        EXPECT_EQ(problems(file), "");
        ASSERT_WINDROW_OK(windrow_close(file));
      }
      file = open(WINDROW_UPDATE);
      int found = -1;
      ASSERT_WINDROW_OK(windrow_find_variable(file, "half", &found));
      const Block row({9, 0, 0}, {rank_of() == 0 ? 1 : 0, k_columns, k_layers});
      write(file, found, row);
      ASSERT_WINDROW_OK(windrow_close(file));
      MPI_Comm few = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank_of() < (size_of() + 1) / 2 ? 0 : 1 + rank_of(), rank_of(), &few);
      file = open(WINDROW_READ, "a.h5", few);
      expect_read(file, "g/v", share_of(1, few));
      expect_read(file, "half", Block({9, 0, 0}, {1, k_columns, k_layers}));
      ASSERT_WINDROW_OK(windrow_close(file));
      MPI_Comm_free(&few);
      if (failed_anywhere())
        return;
    }
  // A single index of the first dimension, as another type, and a subfile that is missing.
  windrow_file* file = open();
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_find_variable(file, "g/v", &variable));
  const int64_t plane[2] = {k_columns, k_layers}, origin[2] = {0, 0};
  windrow_decomposition* record = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, plane, origin, plane, nullptr, nullptr, &record));
  std::vector<double> doubles(k_columns * k_layers);
  EXPECT_WINDROW_OK(windrow_get_record(file, variable, 5, record, doubles.data()));
  windrow_decomposition* all = nullptr;
  EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
  std::vector<float> floats(k_rows * k_columns * k_layers);
  EXPECT_WINDROW_OK(windrow_get_as(file, variable, all, WINDROW_FLOAT32, floats.data()));
  EXPECT_WINDROW_OK(windrow_flush(file));
  for (size_t i = 0; i < doubles.size(); ++i)
    EXPECT_EQ(doubles[i], value_at(5, 0, 0) + static_cast<double>(i));
  for (size_t i = 0; i < floats.size(); ++i)
    EXPECT_EQ(floats[i], static_cast<float>(i));
  windrow_decomposition_free(all);
  windrow_decomposition_free(record);
  EXPECT_WINDROW_OK(windrow_close(file));
  std::string folder;
  for (const std::string& each : sets())
    if (is_set_in_use(each))
      folder = each;
  on_rank_0([&] { std::filesystem::remove(folder + "/39.h5"); });
  file = open();
  expect_read(file, "g/v", Block({0, 0, 0}, {8, k_columns, k_layers}));
  const Block last = share_of(2);
  std::vector<double> read(last.data.size());
  const int code = windrow_read_block(file, variable, last.start.data(), last.count.data(), read.data());
  EXPECT_EQ(code, WINDROW_NOT_FOUND);
  expect_same_everywhere(code);
  EXPECT_NE(std::string(windrow_error_message()).find("/39.h5\" is missing"), std::string::npos)
      << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_close(file));
}

// All parts in one plan, which a flush of the same shape finds again, however many there are.
TEST_F(Subfiles, move_the_chunks_of_all_their_parts_at_once) {
  const Block mine = share_of(0);
  windrow_decomposition* block = nullptr;
  ASSERT_WINDROW_OK(
      windrow_block(MPI_COMM_WORLD, 3, k_shape, mine.start.data(), mine.count.data(), nullptr, nullptr, &block));
  for (const char* files : {"subfiles(12)", "subfiles(2)"}) {
    windrow_file* file = create({{"files", files}});
    const int variable = define(file, "v", {{"chunks", "1x3x5"}, {"filters", "deflate:1"}});
    std::vector<double> read(mine.data.size() + 1);
    for (int step = 0; step < 3; ++step) {
      SCOPED_TRACE(files + std::string(" step ") + std::to_string(step));
      EXPECT_WINDROW_OK(windrow_put(file, variable, block, mine.data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      nlohmann::json report = report_of(file);
      ASSERT_EQ(report["plans"].size(), 1u);
      EXPECT_EQ(report["plans_made"], step == 0 ? 1 : 0);
      EXPECT_EQ(report["bytes_written"] > 0, true);
      EXPECT_WINDROW_OK(windrow_get(file, variable, block, read.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      report = report_of(file);
      EXPECT_EQ(report["plans_made"], step == 0 ? 1 : 0);
      EXPECT_TRUE(std::equal(mine.data.begin(), mine.data.end(), read.begin()));
    }
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  // Parts shorter than a chunk have chunks of their own size, and move with their like.
  windrow_file* file = create({{"files", "subfiles(3)"}, {"split_parts", "5+1+6x1x1"}});
  const int variable = define(file, "g/v", {{"chunks", "4x3x5"}});
  EXPECT_WINDROW_OK(windrow_put(file, variable, block, mine.data.data()));
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_EQ(report_of(file)["plans"].size(), 2u);
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_made();
  windrow_decomposition_free(block);
}

TEST_F(Subfiles, are_whole_files_with_their_part_and_a_constant_number_of_attributes) {
  for (const int64_t files : {2, 12}) {
    make({{"files", "subfiles(" + std::to_string(files) + ")"}});
    windrow_file* base = open();
    ASSERT_EQ(windrow_subfile_count(base), files);
    EXPECT_EQ(windrow_subfile_name(base, static_cast<int>(files)), nullptr);
    for (int number = 0; number < files; ++number) {
      windrow_file* part = open(WINDROW_READ, windrow_subfile_name(base, number));
      ASSERT_NE(part, nullptr);
      EXPECT_EQ(windrow_subfile_count(part), 0);
      EXPECT_EQ(windrow_attribute_count(part, "g/v"), 7);
      EXPECT_EQ(windrow_attribute_count(part, "/"), 3);
      int64_t range[6] = {};
      EXPECT_WINDROW_OK(windrow_get_attribute(part, "g/v", "windrow_split_range", WINDROW_INT64, range));
      const int64_t first = k_rows / files * number;
      EXPECT_EQ(range[0], first);
      EXPECT_EQ(range[3], first + k_rows / files);
      int variable = -1;
      ASSERT_WINDROW_OK(windrow_find_variable(part, "g/v", &variable));
      const Block own({first, 0, 0}, {k_rows / files, k_columns, k_layers});
      std::vector<double> read(own.data.size());
      const int64_t origin[3] = {0, 0, 0};
      EXPECT_WINDROW_OK(windrow_read_block(part, variable, origin, own.count.data(), read.data()));
      EXPECT_TRUE(read == own.data);
      EXPECT_WINDROW_OK(windrow_close(part));
    }
    EXPECT_WINDROW_OK(windrow_close(base));
  }
}

TEST_F(Subfiles, are_opened_by_those_who_have_data_in_them) {
  const int64_t size = size_of();
  if (k_rows % size != 0)
    GTEST_SKIP() << "ranks and parts are to be in line";
  for (const char* strategy : {"list", "subfiling"}) {
    windrow_file* file = create({{"files", "per-rank"}, {"strategy", strategy}});
    const int first = define(file, "first"), second = define(file, "second");
    for (const int variable : {first, second, first})
      write(file, variable, share_of(0));
    EXPECT_EQ(report_of(file)["data_opens"], size);
    EXPECT_EQ(report_of(file)["metadata_opens"], size == 1 ? 1 : 1 + size);
    ASSERT_WINDROW_OK(windrow_close(file));
    file = open();
    expect_read(file, "first", share_of(0));
    EXPECT_EQ(report_of(file)["data_opens"], size);
    EXPECT_EQ(report_of(file)["metadata_opens"], size == 1 ? 1 : 1 + size);
    ASSERT_WINDROW_OK(windrow_close(file));
  }
  // Only rank 0 has data: no other rank opens a file, and no rank waits.
  windrow_file* file = create({{"files", "subfiles(4)"}, {"strategy", "list"}});
  const int variable = define(file, "v");
  const Block piece({3, 0, 0}, {rank_of() == 0 ? 3 : 0, k_columns, k_layers});
  write(file, variable, piece);
  EXPECT_EQ(report_of(file)["data_opens"], 1);
  ASSERT_WINDROW_OK(windrow_discard(file));
}

TEST_F(Subfiles, stay_together_when_they_are_moved) {
  make({{"files", "subfiles(3)"}}, "100% a.h5");
  expect_made("100% a.h5");
  on_rank_0([&] {
    std::filesystem::create_directory(folder_.file("there"));
    for (const std::string& name : folder_.names())
      if (name != "there")
        std::filesystem::rename(folder_.file(name), folder_.file("there/" + name));
  });
  expect_made("there/100% a.h5");
  on_rank_0([&] { std::filesystem::rename(folder_.file("there/100% a.h5"), folder_.file("there/b.h5")); });
  expect_made("there/b.h5");
  on_rank_0([&] { std::filesystem::create_symlink("there/b.h5", folder_.file("link.h5")); });
  expect_made("link.h5");
}

TEST_F(Subfiles, go_with_the_file_that_replaces_theirs) {
  make({{"files", "subfiles(3)"}});
  const std::string first = sets().at(0);
  on_rank_0([&] { std::filesystem::create_directory(folder_.file("a.h5.subfiles-of mine")); });
  make({{"files", "subfiles(2)"}});
  EXPECT_EQ(sets().size(), 3u) << "the old folder stays for those who have the old file open";
  EXPECT_TRUE(std::filesystem::exists(first));
  expect_made();
  make({{"files", "subfiles(2)"}});
  EXPECT_EQ(sets().size(), 3u) << "then it goes, and what is not of the set stays";
  EXPECT_FALSE(std::filesystem::exists(first));
  expect_made();
  on_rank_0([&] { std::filesystem::rename(path(), path("renamed.h5")); });
  make({{"files", "subfiles(4)"}});
  EXPECT_EQ(sets().size(), 3u) << "a set whose file was renamed is nobody's to remove";
  expect_made();
  expect_made("renamed.h5");
  make({});
  EXPECT_EQ(sets().size(), 3u) << "a file that is one replaces a set, whose folder stays";
  expect_made();
  windrow_file* file = create({{"files", "subfiles(4)"}}, "discarded.h5");
  write(file, define(file, "v"), share_of(0));
  ASSERT_WINDROW_OK(windrow_discard(file));
  EXPECT_EQ(sets().size(), 3u);
}

// However often it is replaced meanwhile.
TEST_F(Subfiles, are_read_whole_by_who_has_opened_them) {
  make({{"files", "subfiles(3)"}});
  const std::string first = sets().at(0);
  windrow_file* reader = open();
  for (int times = 0; times < 3; ++times)
    make({{"files", "subfiles(2)"}});
  EXPECT_TRUE(std::filesystem::exists(first));
  expect_read(reader, "g/v", share_of(1));
  EXPECT_WINDROW_OK(windrow_close(reader));
  make({{"files", "subfiles(2)"}});
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_EQ(sets().size(), 2u) << "the one before stays until the next";
  expect_made();
}

TEST_F(Subfiles, can_be_published_and_changed) {
  windrow_file* file = create({{"files", "subfiles(3)"}, {"durable", "true"}});
  const int first = define(file, "first");
  write(file, first, share_of(0));
  ASSERT_WINDROW_OK(windrow_sync(file));
  const int second = define(file, "second", {{"split", "1"}});
  write(file, second, share_of(1));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "first", "units", "K"));
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(WINDROW_UPDATE);
  expect_read(file, "first", share_of(2));
  expect_read(file, "second", share_of(0));
  const int third = define(file, "third", {{"split", "2"}});
  write(file, third, share_of(1));
  EXPECT_WINDROW_OK(windrow_delete_attribute(file, "first", "units"));
  Block changed({2, 0, 0}, {rank_of() == 0 ? 4 : 0, k_columns, k_layers});
  for (double& each : changed.data)
    each += 1000;
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_find_variable(file, "first", &variable));
  write(file, variable, changed);
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open();
  EXPECT_EQ(problems(file), "");
  expect_read(file, "third", share_of(0));
  EXPECT_EQ(windrow_attribute_count(file, "first"), 0);
  Block seen({1, 0, 0}, {2, k_columns, k_layers});
  for (size_t i = seen.data.size() / 2; i < seen.data.size(); ++i)
    seen.data[i] += 1000;
  expect_read(file, "first", seen);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Subfiles, at_fault_are_named_and_all_else_is_read) {
  make({{"files", "subfiles(3)"}}, "b.h5");
  const std::string other = sets().at(0);
  make({{"files", "subfiles(3)"}});
  std::string own = sets().at(0) == other ? sets().at(1) : sets().at(0);
  struct Damage {
    const char* words;
    int code;
    std::function<void()> make;
  };
  const std::string one = own + "/1.h5", kept = folder_.file("kept");
  const std::vector<Damage> damages{
      {"is missing", WINDROW_NOT_FOUND, [&] { std::filesystem::remove(one); }},
      {"is damaged", WINDROW_BAD_FILE,
       [&] { std::filesystem::resize_file(one, std::filesystem::file_size(one) - 100); }},
      {"is damaged", WINDROW_BAD_FILE, [&] { std::filesystem::resize_file(one, 0); }},
      {"is a link, a folder", WINDROW_BAD_FILE,
       [&] {
         std::filesystem::remove(one);
         std::filesystem::create_directory(one);
       }},
      {"another set", WINDROW_BAD_FILE,
       [&] { std::filesystem::copy_file(other + "/1.h5", one, std::filesystem::copy_options::overwrite_existing); }},
      {"is number 2", WINDROW_BAD_FILE,
       [&] { std::filesystem::copy_file(own + "/2.h5", one, std::filesystem::copy_options::overwrite_existing); }},
  };
  on_rank_0([&] { std::filesystem::copy_file(one, kept); });
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.words);
    on_rank_0([&] { damage.make(); });
    windrow_file* file = open();
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, "g/v", &variable));
    expect_read(file, "g/v", Block({0, 0, 0}, {4, k_columns, k_layers}));
    const Block rows = share_of(0);
    std::vector<double> read(rows.data.size());
    const int code = windrow_read_block(file, variable, rows.start.data(), rows.count.data(), read.data());
    EXPECT_EQ(code, damage.code);
    expect_same_everywhere(code);
    const std::string message = windrow_error_message();
    EXPECT_NE(message.find("/1.h5"), std::string::npos) << message;
    EXPECT_NE(message.find(damage.words), std::string::npos) << message;
    const std::string found = problems(file);
    EXPECT_NE(found.find("/1.h5"), std::string::npos) << found;
    EXPECT_EQ(found.find("/0.h5"), std::string::npos) << found;
    EXPECT_WINDROW_OK(windrow_close(file));
    windrow_file* changed = nullptr;
    const int refused = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &changed);
    EXPECT_EQ(refused, damage.code) << "what is to be changed must be whole";
    expect_same_everywhere(refused);
    on_rank_0([&] {
      std::filesystem::remove_all(one);
      std::filesystem::copy_file(kept, one);
    });
    if (failed_anywhere())
      return;
  }
  expect_made();
  on_rank_0([&] { std::filesystem::rename(one, own + "/one.h5"); });
  windrow_file* file = open();
  EXPECT_NE(problems(file).find("under another name: number 1"), std::string::npos);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Filters that come with numbers of their own; what the subfile's file calls them says nothing.
TEST_F(Subfiles, hold_chunks_by_every_filter) {
  for (const char* filter : {"zstd", "lz4", "blosc", "deflate"}) {
    if (windrow_has((std::string("filter=") + filter).c_str()) == 0)
      continue;
    make({{"files", "subfiles(2)"}, {"filters", std::string("shuffle,") + filter}, {"chunks", "3x10x2"}},
         std::string(filter) + ".h5");
    expect_made(std::string(filter) + ".h5");
  }
}

// Elements that no rank writes exist too, for checksums and for readers.
TEST_F(Subfiles, have_elements_that_nobody_wrote) {
  for (const char* ending : {".h5", ".nc"}) {
    if (std::string(ending) == ".nc" && windrow_has("netcdf") == 0)
      continue;
    const std::string name = std::string("unwritten") + ending;
    windrow_file* file = create({{"files", "subfiles(3)"}, {"checksum", "true"}}, name);
    (void)define(file, "never");
    write(file, define(file, "written"), share_of(0));
    int grows = -1;
    const int64_t none[3] = {0, 6, 5};
    for (const char* record : {"r1", "r2"})  // two, so that the second one's first record would begin after the end
      if (std::string(ending) == ".nc") {
        EXPECT_WINDROW_OK(windrow_define_variable_with(file, record, WINDROW_INT16, 3, none,
                                                       Options{{"extendible", "true"}}, &grows));
      }
    EXPECT_WINDROW_OK(windrow_flush(file));
    (void)define(file, "late", {{"fill_value", "7"}});
    EXPECT_WINDROW_OK(windrow_close(file));
    file = open(WINDROW_READ, name);
    expect_read(file, "written", share_of(2));
    EXPECT_EQ(problems(file), "") << name;
    int late = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, "late", &late));
    const Block block = share_of(1);
    std::vector<double> read(block.data.size(), -1);
    EXPECT_WINDROW_OK(windrow_read_block(file, late, block.start.data(), block.count.data(), read.data()));
    EXPECT_TRUE(std::all_of(read.begin(), read.end(), [](double value) { return value == 7; })) << name;
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// Between the parts there are many stripes of the address space that are in no file, in particular if there may be
// chunks: no rank loops over them.
TEST_F(Subfiles, have_elements_that_nobody_wrote_in_stripes_that_are_dealt) {
  for (const char* domains : {"cyclic", "aligned", "even"}) {
    windrow_file* file = create({{"files", "subfiles(4)"},
                                 {"domains", domains},
                                 {"strategy", "scorpio"},
                                 {"writers", "3"},
                                 {"buffer", "4096"}});
    (void)define(file, "chunked", {{"chunks", "2x5x2"}});
    const int filled = define(file, "filled", {{"fill_value", "7"}});
    const int64_t start[3] = {1, 0, 0}, row[3] = {1, k_shape[1], k_shape[2]}, none[3] = {0, 0, 0};
    const bool writes = rank_of() == 0;
    std::vector<double> values(static_cast<size_t>(k_shape[1] * k_shape[2]), 3),
        expected(static_cast<size_t>(k_shape[0]) * values.size(), 7);
    EXPECT_WINDROW_OK(windrow_write_block(file, filled, start, writes ? row : none, writes ? values.data() : nullptr));
    EXPECT_WINDROW_OK(windrow_close(file));
    std::copy(values.begin(), values.end(), expected.begin() + static_cast<std::ptrdiff_t>(values.size()));
    file = open();
    const int64_t origin[3] = {0, 0, 0};
    std::vector<double> read(expected.size(), -1);
    EXPECT_WINDROW_OK(windrow_read_block(file, filled, origin, k_shape, read.data()));
    EXPECT_EQ(read, expected) << domains;
    EXPECT_EQ(problems(file), "");
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// One name twice in a variable: the whole is square, its parts are not.
TEST_F(Subfiles, of_netcdf_hold_parts_of_a_square) {
  if (windrow_has("netcdf") == 0)
    GTEST_SKIP() << "built without netCDF";
  windrow_file* file = create({{"files", "subfiles(2)"}}, "square.nc");
  const int64_t shape[2] = {4, 4};
  int square = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "square", WINDROW_INT32, 2, shape, &square));
  const char* names[2] = {"n", "n"};
  EXPECT_WINDROW_OK(windrow_name_dimensions(file, square, names));
  const int64_t start[2] = {0, 0}, none[2] = {0, 0};
  std::vector<int32_t> values(16), read(16, -1);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_WINDROW_OK(windrow_write_block(file, square, start, rank_of() == 0 ? shape : none, values.data()));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(WINDROW_READ, "square.nc");
  EXPECT_EQ(problems(file), "");
  EXPECT_WINDROW_OK(windrow_read_block(file, square, start, shape, read.data()));
  EXPECT_EQ(read, values);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Small windows, and parts that are far apart in the address space: no rank confuses two windows.
TEST_F(Subfiles, are_written_through_small_buffers) {
  make({{"files", "subfiles(4)"}});
  windrow_file* file = nullptr;
  const Options options{{"buffer", "4096"}, {"strategy", "scorpio"}, {"gather", "team(16)"}};
  EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, options, &file));
  for (int turn = 0; turn < 40; ++turn) {
    const std::string name = "w" + std::to_string(turn);
    write(file, define(file, name.c_str()), share_of(static_cast<size_t>(turn % 3)));
    expect_read(file, name.c_str(), share_of(static_cast<size_t>((turn + 1) % 3)));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Links lead out of the folder, and an open of a pipe waits for ever.
TEST_F(Subfiles, are_files_and_nothing_else) {
  for (const bool pipe : {false, true}) {
    const std::string name = pipe ? "pipe.h5" : "link.h5";
    make({{"files", "subfiles(2)"}}, name);
    on_rank_0([&] {
      for (const std::string& part : folder_.names()) {
        if (part.rfind(name + ".subfiles-", 0) != 0)
          continue;
        const std::string victim = folder_.file(part) + "/1.h5";
        std::filesystem::rename(victim, folder_.file("elsewhere"));
        if (!pipe) {
          std::filesystem::create_symlink(folder_.file("elsewhere"), victim);
        } else {
          EXPECT_EQ(mkfifo(victim.c_str(), 0600), 0);
        }
      }
    });
    windrow_file* file = open(WINDROW_READ, name);
    EXPECT_NE(problems(file).find("not a file in the set's own folder"), std::string::npos) << problems(file);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// A change that one subfile does not accept is made in no file.
TEST_F(Subfiles, keep_their_attributes_if_one_of_them_refuses_a_change) {
  const int32_t before = 7, after = 8;
  windrow_file* file = create({{"files", "subfiles(2)"}});
  write(file, define(file, "g/v"), share_of(0));
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "g/v", "old", WINDROW_INT32, 0, nullptr, &before));
  EXPECT_WINDROW_OK(windrow_close(file));
  const std::string one = sets().at(0) + "/1.h5";
  file = open(WINDROW_UPDATE);
  on_rank_0([&] { std::filesystem::rename(one, folder_.file("elsewhere")); });
  for (const auto& change : std::vector<std::function<int()>>{
           [&] { return windrow_put_attribute(file, "g/v", "old", WINDROW_INT32, 0, nullptr, &after); },
           [&] { return windrow_put_attribute(file, "g/v", "new", WINDROW_INT32, 0, nullptr, &after); },
           [&] { return windrow_delete_attribute(file, "g/v", "old"); }}) {
    const int code = change();
    EXPECT_NE(code, WINDROW_OK);
    expect_same_everywhere(code);
    EXPECT_EQ(std::string(windrow_error_message()).find("may differ"), std::string::npos) << windrow_error_message();
  }
  on_rank_0([&] { std::filesystem::rename(folder_.file("elsewhere"), one); });
  EXPECT_WINDROW_OK(windrow_close(file));
  const std::string part = std::filesystem::relative(sets().at(0), folder_.path()).string();
  for (const std::string& name : {std::string("a.h5"), part + "/0.h5", part + "/1.h5"}) {
    SCOPED_TRACE(name);
    file = open(WINDROW_READ, name);
    int32_t found = 0;
    EXPECT_WINDROW_OK(windrow_get_attribute(file, "g/v", "old", WINDROW_INT32, &found));
    EXPECT_EQ(found, before);
    EXPECT_EQ(windrow_get_attribute(file, "g/v", "new", WINDROW_INT32, &found), WINDROW_NOT_FOUND);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  expect_made();
}

// The same for the folder: a link refers to files of another user.
TEST_F(Subfiles, are_in_a_folder_that_is_no_link) {
  const std::string elsewhere = folder_.file("elsewhere"), link = folder_.file("link.h5");
  make({{"files", "subfiles(2)"}});
  const std::string own = sets().at(0);
  on_rank_0([&] { std::filesystem::create_symlink("a.h5", link); });
  expect_made("link.h5");
  on_rank_0([&] {
    std::filesystem::rename(own, elsewhere);
    std::filesystem::create_directory_symlink(elsewhere, own);
    std::ofstream(elsewhere + "/stranger") << "of somebody else";
  });
  const std::string words =
      "\"" + std::filesystem::path(own).filename().string() + "\" is a link or a file, not the set's own folder";
  windrow_file* file = open();
  EXPECT_EQ(problems(file).find("stranger"), std::string::npos) << problems(file);
  EXPECT_NE(problems(file).find(words), std::string::npos) << problems(file);
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_find_variable(file, "g/v", &variable));
  const Block rows = share_of(0);
  std::vector<double> read(rows.data.size());
  const int code = windrow_read_block(file, variable, rows.start.data(), rows.count.data(), read.data());
  EXPECT_EQ(code, WINDROW_BAD_FILE);
  expect_same_everywhere(code);
  EXPECT_NE(std::string(windrow_error_message()).find(words), std::string::npos) << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_close(file));
  const int refused = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file);
  EXPECT_EQ(refused, WINDROW_BAD_FILE);
  expect_same_everywhere(refused);
  EXPECT_NE(std::string(windrow_error_message()).find(words), std::string::npos) << windrow_error_message();
  // A file that is replaced takes along its own subfiles only.
  make({{"files", "subfiles(2)"}});
  on_rank_0([&] {
    for (const char* each : {"/0.h5", "/1.h5", "/stranger"})
      EXPECT_TRUE(std::filesystem::exists(elsewhere + each)) << each;
  });
  expect_made();
}

TEST_F(Subfiles, are_asked_for_by_other_libraries_names) {
  const std::vector<std::pair<KeyValues, int>> asked{
      {{{"pnetcdf_subfiling", "enable"}, {"nc_num_subfiles", "3"}}, 3},
      {{{"pnetcdf_subfiling", "disable"}, {"nc_num_subfiles", "3"}}, 0},
      {{{"nc_num_subfiles", "3"}}, 0},
      {{{"subfiling", "1"}, {"subfiling_nfiles", "2"}}, 2},
      {{{"files", "shared"}, {"subfiling", "1"}, {"subfiling_nfiles", "2"}}, 0},
      {{{"files", "one"}}, 0},
      {{{"files", "per-rank"}}, size_of() == 1 ? 0 : size_of()},
      {{{"strategy", "subfiling"}}, size_of() == 1 ? 0 : size_of()}};
  for (const auto& [options, files] : asked) {
    make(options);
    windrow_file* file = open();
    EXPECT_EQ(windrow_subfile_count(file), files) << options.front().first;
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  EXPECT_EQ(windrow_has("files=subfiles"), 1);
  EXPECT_EQ(windrow_has("subfiling"), 1);
}

TEST_F(Subfiles, that_cannot_be_are_refused_everywhere) {
  const auto code_of = [&](const KeyValues& options, const std::string& name) {
    windrow_file* file = nullptr;
    const int code = windrow_create(MPI_COMM_WORLD, path(name).c_str(), Options(options), &file);
    expect_same_everywhere(code);
    EXPECT_WINDROW_OK(windrow_discard(file));
    return code;
  };
  EXPECT_EQ(code_of({{"subfiling", "true"}}, "a.h5"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of({{"files", "subfiles(100000)"}}, "a.h5"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of({{"files", "subfiles(2)"}, {"split", "o"}}, "a.h5"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of({{"files", "subfiles(2)"}, {"split_parts", "0x1"}}, "a.h5"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of({{"files", "subfiles(2)"}}, "a\nb.h5"), WINDROW_UNSUPPORTED) << "its map could not be read";
  on_rank_0([&] { EXPECT_TRUE(folder_.names().empty()); });
  windrow_file* file = create({{"files", "subfiles(4)"}});
  const auto define_code = [&](const KeyValues& options) {
    int variable = -1;
    const int code = windrow_define_variable_with(file, "v", WINDROW_FLOAT64, 3, k_shape, Options(options), &variable);
    expect_same_everywhere(code);
    return code;
  };
  EXPECT_EQ(define_code({{"split", "3"}}), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(define_code({{"split", "rows"}}), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(define_code({{"split_parts", "5x1x1"}}), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(define_code({{"split_parts", "3+5x1x1"}}), WINDROW_BAD_ARGUMENT);
  {
    const int64_t huge[2] = {int64_t{1} << 57, 4};
    int variable = -1;
    const int code =
        windrow_define_variable_with(file, "huge", WINDROW_INT8, 2, huge, Options{{"split", "1"}}, &variable);
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    EXPECT_NE(std::string(windrow_error_message()).find("exceed the maximum size"), std::string::npos)
        << windrow_error_message();
  }
  EXPECT_EQ(windrow_put_attribute_text(file, "/", "windrow_set", "mine"), WINDROW_BAD_ARGUMENT);
  ASSERT_WINDROW_OK(windrow_close(file));
}

}  // namespace
