// SPDX-License-Identifier: BSD-3-Clause
// Offsets beyond 2 and 4 GiB and more than 2^32 elements, in sparse files: little blocks at the ends and across the
// borders are written and read, the disk holds almost nothing.
#include <sys/stat.h>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_most_disk_bytes = int64_t{64} << 20;

const std::vector<KeyValues>& strategies() {
  static const std::vector<KeyValues> all{
      {},
      {{"strategy", "list"}},
      {{"strategy", "two-phase"}, {"writers", "2"}, {"buffer", "65536"}},
      {{"domains", "aligned"}, {"writers", "3"}, {"buffer", "65536"}},
      {{"domains", "even"}, {"writers", "2"}, {"access", "sieve"}, {"buffer", "65536"}},
      {{"gather", "team(2)"}, {"domains", "even"}, {"writers", "2"}, {"buffer", "65536"}},
      {{"gather", "team(2)"}, {"domains", "none"}, {"buffer", "65536"}}};
  return all;
}

std::string text_of(const KeyValues& options) {
  std::string text;
  for (const auto& [key, value] : options)
    text += key + "=" + value + " ";
  return text;
}

int64_t disk_bytes(const std::string& path) {
  struct stat about {};
  EXPECT_EQ(stat(path.c_str(), &about), 0) << path;
  return int64_t{about.st_blocks} * 512;
}

int64_t file_bytes(const std::string& path) {
  return static_cast<int64_t>(std::filesystem::file_size(path));
}

class LargeOffsets : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path() const { return folder_.file("large" + GetParam()); }

  // Makes the file of one variable with `put` and reads it with `get`; each gets (file, variable).
  template <class Put, class Get>
  void write_and_read(const KeyValues& strategy, int type, const std::vector<int64_t>& shape, Put&& put, Get&& get) {
    windrow_file* file = nullptr;
    int variable = -1;
    const Options options(strategy);
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    ASSERT_WINDROW_OK(
        windrow_define_variable(file, "v", type, static_cast<int>(shape.size()), shape.data(), &variable));
    put(file, variable);
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_LT(disk_bytes(path()), k_most_disk_bytes);
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, options, &file));
    ASSERT_WINDROW_OK(windrow_find_variable(file, "v", &variable));
    get(file, variable);
    EXPECT_WINDROW_OK(windrow_close(file));
  }

  SharedFolder folder_;
};

// One row of blocks for each rank: at the start, across 2^31, across 2^32, at the end.
struct Blocks {
  std::vector<int64_t> starts, counts, values;
  Decomposition decomposition;

  Blocks(int64_t elements, int64_t element_bytes) {
    constexpr int64_t k_length = 8;
    const int64_t rank = rank_of(), size = size_of();
    const int64_t around = k_length * size / 2;
    for (const int64_t place :
         {int64_t{0}, (int64_t{1} << 31) / element_bytes - around, (int64_t{1} << 32) / element_bytes - around,
          (int64_t{1} << 31) - around, (int64_t{1} << 32) - around, elements - k_length * size}) {
      const int64_t start = place + k_length * rank;
      if (place < 0 || start + k_length > elements || (!starts.empty() && start <= starts.back()))
        continue;
      starts.push_back(start);
      counts.push_back(k_length);
      for (int64_t i = 0; i < k_length; ++i)
        values.push_back((start + i) * 7 + 1);
    }
    const int64_t shape[1] = {elements};
    windrow_decomposition* d = nullptr;
    EXPECT_WINDROW_OK(windrow_blocks(MPI_COMM_WORLD, 1, shape, static_cast<int64_t>(starts.size()), starts.data(),
                                     counts.data(), nullptr, nullptr, &d));
    decomposition.reset(d);
  }
};

TEST_P(LargeOffsets, beyond_four_gibibytes) {
  constexpr int64_t k_elements = int64_t{5} << 27;  // of 8 bytes: 5 GiB
  const Blocks blocks(k_elements, 8);
  EXPECT_GE(blocks.starts.size(), 4u);
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(text_of(strategy));
    std::vector<int64_t> read(blocks.values.size(), -1);
    write_and_read(
        strategy, WINDROW_INT64, {k_elements},
        [&](windrow_file* file, int v) {
          EXPECT_WINDROW_OK(windrow_write(file, v, blocks.decomposition.get(), blocks.values.data()));
        },
        [&](windrow_file* file, int v) {
          EXPECT_WINDROW_OK(windrow_read(file, v, blocks.decomposition.get(), read.data()));
        });
    EXPECT_EQ(read, blocks.values);
    EXPECT_GE(file_bytes(path()), k_elements * 8);
    if (failed_anywhere())
      return;
  }
}

TEST_P(LargeOffsets, more_elements_than_an_int_counts) {
  constexpr int64_t k_elements = (int64_t{1} << 32) + 1'000'003;
  const Blocks blocks(k_elements, 1);
  EXPECT_GE(blocks.starts.size(), 4u);
  std::vector<int8_t> data;
  for (const int64_t value : blocks.values)
    data.push_back(static_cast<int8_t>(value % 101));
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(text_of(strategy));
    std::vector<int8_t> read(data.size(), -1);
    write_and_read(
        strategy, WINDROW_INT8, {k_elements},
        [&](windrow_file* file, int v) {
          EXPECT_WINDROW_OK(windrow_write(file, v, blocks.decomposition.get(), data.data()));
        },
        [&](windrow_file* file, int v) {
          EXPECT_WINDROW_OK(windrow_read(file, v, blocks.decomposition.get(), read.data()));
        });
    EXPECT_EQ(read, data);
    if (failed_anywhere())
      return;
  }
}

TEST_P(LargeOffsets, points_with_large_numbers) {
  constexpr int64_t k_points = (int64_t{1} << 33) + 5;
  const int64_t rank = rank_of();
  std::vector<int64_t> list, values;
  for (const int64_t near :
       {k_points - 1, int64_t{1} << 32, int64_t{1} << 31, (int64_t{1} << 32) + 12'345, int64_t{20'000}})
    list.push_back(near - 3 * rank);
  list.push_back(int64_t{1} << 33);  // all ranks hold this one
  for (const int64_t point : list)
    for (int64_t k = 0; k < 2; ++k)
      values.push_back(point * 2 + k);
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, k_points, static_cast<int64_t>(list.size()), list.data(), nullptr, &made));
  const Decomposition decomposition(made);
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(text_of(strategy));
    std::vector<int64_t> read(values.size(), -1);
    write_and_read(
        strategy, WINDROW_INT64, {k_points, 2},
        [&](windrow_file* file, int v) {
          EXPECT_WINDROW_OK(windrow_write(file, v, decomposition.get(), values.data()));
        },
        [&](windrow_file* file, int v) { EXPECT_WINDROW_OK(windrow_read(file, v, decomposition.get(), read.data())); });
    EXPECT_EQ(read, values);
    if (failed_anywhere())
      return;
  }
}

// A block of two dimensions whose rows are more than 2 GiB apart.
TEST_P(LargeOffsets, rows_far_apart) {
  constexpr int64_t k_columns = int64_t{3} << 28;  // of 4 bytes: 3 GiB a row
  const int64_t shape[2] = {3, k_columns}, start[2] = {0, k_columns - 4 * (rank_of() + 1)}, count[2] = {3, 4};
  std::vector<int32_t> data;
  for (int32_t i = 0; i < 12; ++i)
    data.push_back(100 * rank_of() + i);
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(text_of(strategy));
    std::vector<int32_t> read(data.size(), -1);
    write_and_read(
        strategy, WINDROW_INT32, {shape[0], shape[1]},
        [&](windrow_file* file, int v) { EXPECT_WINDROW_OK(windrow_write_block(file, v, start, count, data.data())); },
        [&](windrow_file* file, int v) { EXPECT_WINDROW_OK(windrow_read_block(file, v, start, count, read.data())); });
    EXPECT_EQ(read, data);
    if (failed_anywhere())
      return;
  }
}

// Several variables beyond each other's 4 GiB in one flush.
TEST_P(LargeOffsets, variables_behind_large_ones) {
  constexpr int64_t k_elements = int64_t{3} << 30;  // bytes
  const Blocks blocks(k_elements, 1);
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(text_of(strategy));
    windrow_file* file = nullptr;
    const Options options(strategy);
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    int v[3];
    std::vector<std::vector<uint8_t>> data(3), read(3);
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_WINDROW_OK(
          windrow_define_variable(file, ("v" + std::to_string(i)).c_str(), WINDROW_UINT8, 1, &k_elements, &v[i]));
      for (const int64_t value : blocks.values)
        data[i].push_back(static_cast<uint8_t>(value * static_cast<int64_t>(i + 1) % 251));
      read[i].assign(data[i].size(), 0);
      EXPECT_WINDROW_OK(windrow_put(file, v[i], blocks.decomposition.get(), data[i].data()));
    }
    EXPECT_WINDROW_OK(windrow_flush(file));
    for (size_t i = 0; i < 3; ++i)
      EXPECT_WINDROW_OK(windrow_get(file, v[i], blocks.decomposition.get(), read[i].data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_EQ(read, data);
    EXPECT_GE(file_bytes(path()), 3 * k_elements);
    EXPECT_LT(disk_bytes(path()), k_most_disk_bytes);
    if (failed_anywhere())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, LargeOffsets, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
