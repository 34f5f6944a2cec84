// SPDX-License-Identifier: BSD-3-Clause
// What a flush holds at its peak on any rank, in a file fifty times as large as a buffer: the buffers that were set,
// and a tenth more. The library's heap is counted, its shared memory is taken from the report. The cache of metadata on
// rank 0 is HDF5's own, and not in it.
#include <nlohmann/json.hpp>

#include "../capi/checked.hpp"
#include "counting_new.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_buffer = 256 << 10, k_buffers = 4;
constexpr int64_t k_isal = 416 << 10;
constexpr int64_t k_times = 50;  // so many buffers are in the file
constexpr int64_t k_rows = k_times * 64, k_columns = k_buffer / 64 / static_cast<int64_t>(sizeof(double));

// Does not get smaller when it is compressed.
double noise(int64_t element) {
  uint64_t x = static_cast<uint64_t>(element) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<double>((x ^ x >> 32) >> 11);
}

struct Block {
  int64_t start[2], count[2];
};

class WriterMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }

  static Block block_of(bool columns) {
    const int64_t whole = columns ? k_columns : k_rows;
    const int64_t begin = whole * rank_of() / size_of(), end = whole * (rank_of() + 1) / size_of();
    if (columns)
      return {{0, begin}, {k_rows, end - begin}};
    return {{begin, 0}, {end - begin, k_columns}};
  }

  static std::vector<double> values_of(const Block& block) {
    std::vector<double> values;
    for (int64_t r = 0; r < block.count[0]; ++r)
      for (int64_t c = 0; c < block.count[1]; ++c)
        values.push_back(noise((block.start[0] + r) * k_columns + block.start[1] + c));
    return values;
  }

  // Of the rank that holds most: its heap above what it was before the file, and its buffers in shared memory.
  template <class Flush>
  static int64_t peak_of(windrow_file* file, int64_t before, bool shared, Flush&& flush) {
    heap_use.begin();
    flush();
    int64_t peak = heap_use.peak - before;
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
    const auto report = nlohmann::json::parse(text);
    EXPECT_EQ(report["bytes"], k_times * k_buffer);
    if (shared)
      peak += report["peak_memory"].get<int64_t>();
    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return peak;
  }

  // `shared`: the buffers are in memory that the ranks share, and not on the heap.
  void write_and_read(const KeyValues& how, bool columns, bool shared, int64_t most) {
    std::string what = columns ? "columns" : "rows";
    for (const auto& [key, value] : how)
      what += ", " + key + "=" + value;
    SCOPED_TRACE(what);
    const int64_t shape[2] = {k_rows, k_columns};
    KeyValues values = how;
    values.push_back({"buffer", std::to_string(k_buffer)});
    values.push_back({"buffers", std::to_string(k_buffers)});
    const Options options(values);
    const Block block = block_of(columns);
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, block.start, block.count, nullptr, nullptr, &made));
    const Decomposition decomposition(made);
    const std::vector<double> data = values_of(block);
    std::vector<double> read(data.size(), -1);
    const int64_t before = heap_use.now;
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("memory.h5").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, shape, &variable));
    const int64_t writing =
        peak_of(file, before, shared, [&] { EXPECT_WINDROW_OK(windrow_write(file, variable, made, data.data())); });
    const int64_t reading =
        peak_of(file, before, shared, [&] { EXPECT_WINDROW_OK(windrow_read(file, variable, made, read.data())); });
    EXPECT_EQ(read, data);
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_LE(writing, most) << static_cast<double>(writing) / k_buffer << " buffers";
    EXPECT_LE(reading, most) << static_cast<double>(reading) / k_buffer << " buffers";
    if (rank_of() == 0)
      RecordProperty(what, std::to_string(writing) + " " + std::to_string(reading));
  }

  SharedFolder folder_;
};

TEST_F(WriterMemory, is_the_buffers_and_a_tenth) {
  constexpr int64_t k_most = k_buffer * k_buffers * 11 / 10;
  for (const bool columns : {false, true}) {
    write_and_read({}, columns, true, k_most);
    write_and_read({{"strategy", "list"}}, columns, true, k_most);
    write_and_read({{"strategy", "two-phase"}, {"writers", "1"}}, columns, true, k_most);
    write_and_read({{"strategy", "two-phase"}, {"writers", "3"}}, columns, true, k_most);
    write_and_read({{"strategy", "two-phase"}, {"writers", "1"}, {"shared_memory", "false"}}, columns, false, k_most);
  }
}

TEST_F(WriterMemory, of_teams_is_the_buffers_and_a_tenth) {
  constexpr int64_t k_most = k_buffer * k_buffers * 11 / 10;
  for (const bool columns : {false, true})
    for (const char* team : {"team(1)", "team(4)", "team(1024)", "host"}) {
      write_and_read({{"gather", team}}, columns, false, k_most);
      write_and_read({{"gather", team}, {"domains", "none"}}, columns, false, k_most);
      write_and_read({{"gather", team}, {"domains", "even"}, {"writers", "2"}}, columns, false, k_most);
    }
}

// A window is whole chunks, one at least. Beside the windows a writer has two of encoded chunks, two chunks to work on,
// and what ISA-L works with.
TEST_F(WriterMemory, of_chunks_is_the_buffers_and_what_is_encoded) {
  for (const auto& [chunk, rows] : {std::pair{"16x512", 16}, std::pair{"64x512", 64}, std::pair{"128x512", 128}}) {
    const int64_t chunk_bytes = rows * k_columns * static_cast<int64_t>(sizeof(double));
    const int64_t window = std::max(k_buffer, chunk_bytes),
                  most = (window * (k_buffers + 2) + 2 * chunk_bytes) * 11 / 10 + k_isal;
    for (const bool columns : {false, true})
      for (const char* writers : {"0", "1"})
        write_and_read({{"filters", "shuffle,deflate:1"}, {"chunks", chunk}, {"writers", writers}}, columns, true,
                       most);
  }
}

}  // namespace
