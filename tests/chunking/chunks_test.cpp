// SPDX-License-Identifier: BSD-3-Clause
// Chunked and compressed variables: h5py reads what ranks write together, and the reverse, for any arrangement of
// chunks and pieces of ranks.
#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "../capi/checked.hpp"
#include "../damage.hpp"
#include "../format/foreign.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_shape[3] = {37, 29, 17};
constexpr int64_t k_all = 37 * 29 * 17;

double value_at(int64_t i, int64_t j, int64_t k) {
  return static_cast<double>(i * 10000 + j * 100 + k);
}

// What numpy makes of the same.
const char* k_model =
    "i, j, k = np.meshgrid(range(37), range(29), range(17), indexing='ij')\nmodel = i * 10000.0 + j * 100 + k\n";
// Not every h5py has every plugin: what is missing is not looked at.
const char* k_plugins =
    "try: import hdf5plugin\nexcept ImportError: pass\nhas = lambda name: h5py.h5z.filter_avail({'zstd': 32015, 'lz4': "
    "32004, 'blosc': 32001}.get(name, 1))\n";

// A block of the middle dimension for each rank; the last of several ranks has none.
struct Slab {
  int64_t start[3] = {0, 0, 0}, count[3] = {37, 29, 17};
  std::vector<double> data;

  explicit Slab(double more = 0) {
    const int64_t parts = std::max(1, size_of() - 1), part = rank_of();
    start[1] = 29 * part / parts;
    count[1] = part < parts ? 29 * (part + 1) / parts - start[1] : 0;
    if (part >= parts)
      start[1] = 0;
    for (int64_t i = 0; i < 37; ++i)
      for (int64_t j = 0; j < count[1]; ++j)
        for (int64_t k = 0; k < 17; ++k)
          data.push_back(value_at(i, start[1] + j, k) + more);
  }
};

class Chunks : public testing::Test {
 protected:
  std::string path() const { return folder_.file("chunks of it.h5"); }
  // Rank 0 runs h5py; all ranks get its result.
  void h5py(const std::string& script) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      const auto output = windrow::test::run_h5py(script, path());
      EXPECT_EQ(output.exit_code, 0) << output.text;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int define(windrow_file* file, const std::string& chunks, const std::string& filters,
             const std::string& order = "native", const char* name = "field") {
    const Options options({{"chunks", chunks}, {"filters", filters}, {"byte_order", order}});
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, WINDROW_FLOAT64, 3, k_shape, options, &variable));
    return variable;
  }
  void write(const std::string& chunks, const std::string& filters, const KeyValues& settings = {},
             const std::string& order = "native") {
    windrow_file* file = nullptr;
    const Options options(settings);
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    const int variable = define(file, chunks, filters, order);
    const Slab slab;
    ASSERT_WINDROW_OK(windrow_write_block(file, variable, slab.start, slab.count, slab.data.data()));
    ASSERT_WINDROW_OK(windrow_close(file));
  }
  SharedFolder folder_;
};

TEST_F(Chunks, say_which_wishes_they_cannot_follow) {
  const Slab slab;
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 3, k_shape, slab.start, slab.count, nullptr, nullptr, &d));
  const Decomposition block(d);
  const Options wishes({{"gather", "team(2)"}, {"domains", "even"}});
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), wishes, &file));
  const int field = define(file, "8x8x8", "shuffle,deflate:1");
  ASSERT_WINDROW_OK(windrow_put(file, field, block.get(), slab.data.data()));
  const char* plan = nullptr;
  ASSERT_WINDROW_OK(windrow_explain(file, "text", &plan));
  EXPECT_THAT(plan,
              HasSubstr("gather none: each rank sends its parts of a chunk directly to the rank that encodes it"));
  EXPECT_THAT(plan, HasSubstr("domains aligned: a chunked variable is divided at chunk boundaries"));
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_F(Chunks, written_together_are_read_by_others) {
  struct Case {
    const char *chunks, *filters, *order;
  };
  const std::vector<Case> cases{{"1x1x1", "none", "native"},
                                {"8x16x5", "none", "native"},
                                {"8x16x5", "deflate", "native"},
                                {"8x16x5", "shuffle,deflate:4", "big"},
                                {"auto", "shuffle,deflate:1,fletcher32", "native"},
                                {"1,29,17", "fletcher32", "little"},
                                {"37x1x1", "lz4", "native"},
                                {"5x5x5", "shuffle,zstd:7", "native"},
                                {"9x9x9", "blosc:zstd:3", "native"},
                                {"9x30x17", "blosc", "big"}};
  for (const Case& each : cases) {
    const std::string filter = std::string(each.filters).substr(std::string(each.filters).rfind(',') + 1);
    const std::string name = filter.substr(0, filter.find(':'));
    if (name != "none" && windrow_has(("filter=" + name).c_str()) == 0)
      continue;
    SCOPED_TRACE(std::string(each.chunks) + " " + each.filters + " " + each.order);
    write(each.chunks, each.filters, {}, each.order);
    h5py(std::string(k_plugins) + k_model + "d = h5py.File(path, 'r')['field']\nassert d.chunks is not None\nif has('" +
         name + "'): assert (d[...] == model).all()\n");
  }
}

TEST_F(Chunks, small_buffers_and_many_writers_make_the_same_file) {
  for (const KeyValues& settings : std::vector<KeyValues>{{{"buffer", "4096"}},
                                                          {{"buffer", "4096"}, {"writers", "2"}},
                                                          {{"writers", "1"}},
                                                          {{"shared_memory", "false"}},
                                                          {{"strategy", "list"}},
                                                          {{"gather", "team(2)"}}}) {
    SCOPED_TRACE(settings.front().first);
    write("8x16x5", "shuffle,deflate:1", settings);
    h5py(std::string(k_model) +
         "d = h5py.File(path, 'r')['field']\nassert (d[...] == model).all()\n"
         "assert d.id.get_num_chunks() == 5 * 2 * 4, d.id.get_num_chunks()\n");
  }
}

TEST_F(Chunks, of_others_are_read) {
  h5py(std::string(k_plugins) + k_model +
       "f = h5py.File(path, 'w', userblock_size=512)\n"
       "f.create_dataset('plain', data=model, chunks=(8, 16, 5))\n"
       "f.create_dataset('gzip', data=model.astype('>f8'), chunks=(8, 16, 5), compression=4, shuffle=True, "
       "fletcher32=True)\n"
       "if has('zstd'): f.create_dataset('zstd', data=model, chunks=(10, 29, 3), **hdf5plugin.Zstd())\n"
       "if has('lz4'): f.create_dataset('lz4', data=model, chunks=(10, 29, 3), **hdf5plugin.LZ4(nbytes=512))\n"
       "if has('blosc'): f.create_dataset('blosc', data=model, chunks=(37, 4, 17), **hdf5plugin.Blosc(cname='lz4'))\n"
       "d = f.create_dataset('grown', shape=(1, 29, 17), maxshape=(None, 29, 17), chunks=(4, 10, 17), dtype='f8', "
       "compression=1)\n"
       "d.resize((37, 29, 17))\nd[...] = model\n"
       "d = f.create_dataset('holes', shape=(37, 29, 17), chunks=(8, 16, 5), dtype='f8', fillvalue=-7.5, "
       "compression=1)\n"
       "d[0:8, :, 0:5] = model[0:8, :, 0:5]\n");
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  for (const char* name : {"plain", "gzip", "zstd", "lz4", "blosc", "grown", "holes"}) {
    const std::string filter = std::string("filter=") + (name == std::string("gzip") ? "deflate" : name);
    SCOPED_TRACE(name);
    const bool of_plugin = name == std::string("zstd") || name == std::string("lz4") || name == std::string("blosc");
    int variable = -1;
    if (of_plugin && windrow_find_variable(file, name, &variable) != WINDROW_OK)
      continue;
    ASSERT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    if ((of_plugin || name == std::string("gzip")) && windrow_has(filter.c_str()) == 0)
      continue;
    Slab slab;
    const std::vector<double> wanted = slab.data;
    std::fill(slab.data.begin(), slab.data.end(), -1.0);
    ASSERT_WINDROW_OK(windrow_read_block(file, variable, slab.start, slab.count, slab.data.data()));
    for (size_t n = 0; n < wanted.size(); ++n) {
      const auto row = static_cast<int64_t>(n) / 17 / slab.count[1];
      const bool there = name != std::string("holes") || (row < 8 && n % 17 < 5);
      ASSERT_EQ(slab.data[n], there ? wanted[n] : -7.5) << n;
    }
    // All of it on every rank, and single points.
    std::vector<double> all(k_all);
    windrow_decomposition* d = nullptr;
    ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &d));
    const Decomposition same(d);
    ASSERT_WINDROW_OK(windrow_get(file, variable, d, all.data()));
    const std::vector<int64_t> list{36 * 29 * 17 + 5, rank_of() * 17 + 3, k_all - 1 - rank_of()};
    ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, k_all, 3, list.data(), nullptr, &d));
    const Decomposition points(d);
    double few[3] = {};
    ASSERT_WINDROW_OK(windrow_get(file, variable, d, few));
    ASSERT_WINDROW_OK(windrow_flush(file));
    for (size_t n = 0; n < 3; ++n)
      EXPECT_EQ(few[n], all[static_cast<size_t>(list[n])]);
    EXPECT_EQ(all[2], 2.0);
    EXPECT_EQ(all[k_all - 1], name == std::string("holes") ? -7.5 : value_at(36, 28, 16));
  }
  ASSERT_WINDROW_OK(windrow_close(file));
}

// What is not written again stays, in the same chunk and in others; a chunk's stored size changes, too.
TEST_F(Chunks, are_changed_in_part) {
  write("8x16x5", "shuffle,deflate:1");
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_find_variable(file, "field", &variable));
  std::mt19937 random(static_cast<unsigned>(rank_of() + 1));
  for (int round = 0; round < 3; ++round) {
    const int64_t start[3] = {3 + round, 1 + 5 * rank_of(), 2},
                  count[3] = {20, std::clamp<int64_t>(29 - start[1], 0, 5), 9};
    const int64_t none[3] = {0, 0, 0};
    std::vector<double> data;
    for (int64_t i = 0; i < count[0]; ++i)
      for (int64_t j = 0; j < count[1]; ++j)
        for (int64_t k = 0; k < count[2]; ++k)
          data.push_back(-value_at(start[0] + i, start[1] + j, start[2] + k) - 1000000.0 * round);
    ASSERT_WINDROW_OK(
        windrow_write_block(file, variable, count[1] > 0 ? start : none, count[1] > 0 ? count : none, data.data()));
  }
  ASSERT_WINDROW_OK(windrow_close(file));
  h5py(std::string(k_model) + "n = min(29, 1 + 5 * " + std::to_string(size_of()) +
       ")\nold = model.copy()\nfor r in range(3):\n"
       "    model[3 + r:23 + r, 1:n, 2:11] = -old[3 + r:23 + r, 1:n, 2:11] - 1000000.0 * r\n"
       "assert (h5py.File(path, 'r')['field'][...] == model).all()\n");
}

// Mesh nodes, several numbers each, some held twice, in chunks that know nothing of ranks; new ones beside contiguous
// variables, in one flush, and again: kept plans.
TEST_F(Chunks, of_points_beside_other_variables) {
  constexpr int64_t k_nodes = 501, k_load = 7;
  std::vector<int64_t> list;
  for (int64_t n = 0; n < k_nodes; ++n)
    if (n * 7919 % size_of() == rank_of() || n % 50 == 0)
      list.push_back((n * 31) % k_nodes);
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, k_nodes, static_cast<int64_t>(list.size()), list.data(), nullptr, &d));
  const Decomposition points(d);
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  const int64_t shape[2] = {k_nodes, k_load};
  const Options packed({{"chunks", "64x4"}, {"filters", "deflate:1"}});
  int first = -1, second = -1, plain = -1;
  ASSERT_WINDROW_OK(windrow_define_variable_with(file, "first", WINDROW_INT32, 2, shape, packed, &first));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "plain", WINDROW_INT32, 2, shape, &plain));
  ASSERT_WINDROW_OK(windrow_define_variable_with(file, "second", WINDROW_INT32, 2, shape, packed, &second));
  for (int32_t step = 0; step < 3; ++step) {
    std::vector<int32_t> data;
    for (const int64_t node : list)
      for (int64_t k = 0; k < k_load; ++k)
        data.push_back(static_cast<int32_t>(node * 10 + k) + step * 100000);
    for (const int variable : {second, plain, first})
      ASSERT_WINDROW_OK(windrow_put(file, variable, d, data.data()));
    if (step == 1) {
      ASSERT_WINDROW_OK(windrow_flush_begin(file));
      ASSERT_WINDROW_OK(windrow_flush_end(file));
    } else {
      ASSERT_WINDROW_OK(windrow_flush(file));
    }
    std::vector<int32_t> back(data.size()), again(data.size());
    ASSERT_WINDROW_OK(windrow_get(file, first, d, back.data()));
    ASSERT_WINDROW_OK(windrow_get(file, plain, d, again.data()));
    if (step == 1) {
      std::vector<int32_t> later(data.size());
      ASSERT_WINDROW_OK(windrow_flush_begin(file));
      ASSERT_WINDROW_OK(windrow_get(file, second, d, later.data()));  // for the next flush
      ASSERT_WINDROW_OK(windrow_flush_end(file));
      EXPECT_EQ(later, std::vector<int32_t>(data.size()));
      ASSERT_WINDROW_OK(windrow_flush(file));
      EXPECT_EQ(later, data);
    } else {
      ASSERT_WINDROW_OK(windrow_flush(file));
    }
    EXPECT_EQ(back, data);
    EXPECT_EQ(again, data);
  }
  ASSERT_WINDROW_OK(windrow_close(file));
  h5py(
      "m = np.add.outer(np.arange(501) * 10, np.arange(7)) + 200000\nf = h5py.File(path, 'r')\n"
      "for n in ('first', 'second', 'plain'): assert (f[n][...] == m).all(), n\n");
}

// Time steps beyond the end: some are omitted, some repeated, some written by no rank or by one rank; also after the
// file was opened again.
TEST_F(Chunks, grow_by_records) {
  constexpr int64_t k_rows = 23, k_columns = 11;
  for (const char* chunks : {"auto", "1x8x11", "3x8x4"}) {
    SCOPED_TRACE(chunks);
    const int64_t inner[2] = {k_rows, k_columns}, start[2] = {k_rows * rank_of() / size_of(), 0};
    const int64_t count[2] = {k_rows * (rank_of() + 1) / size_of() - start[0], k_columns};
    windrow_decomposition* d = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, inner, start, count, nullptr, nullptr, &d));
    const Decomposition block(d);
    const auto values = [&](int64_t record) {
      std::vector<float> data;
      for (int64_t i = 0; i < count[0]; ++i)
        for (int64_t j = 0; j < k_columns; ++j)
          data.push_back(static_cast<float>(record * 1000 + (start[0] + i) * 20 + j));
      return data;
    };
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
    const Options options({{"extendible", "true"}, {"chunks", chunks}, {"filters", "shuffle"}});
    const Options series({{"extendible", "true"}});
    const int64_t shape[3] = {0, k_rows, k_columns}, none[1] = {0};
    int field = -1, time = -1;
    ASSERT_WINDROW_OK(windrow_define_variable_with(file, "field", WINDROW_FLOAT32, 3, shape, options, &field));
    ASSERT_WINDROW_OK(windrow_define_variable_with(file, "time", WINDROW_FLOAT64, 1, none, series, &time));
    ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &d));
    const Decomposition same(d);
    const double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1};
    const int64_t nodes[3] = {2, k_rows, k_columns};
    int grid = -1;
    ASSERT_WINDROW_OK(windrow_xdmf_uniform_grid(file, "grid", 0, 3, nodes, origin, spacing, &grid));
    EXPECT_EQ(windrow_xdmf_field(file, grid, "field", WINDROW_AT_NODES, field), WINDROW_UNSUPPORTED);
    EXPECT_THAT(windrow_error_message(), HasSubstr("is extendible"));
    for (const int64_t record : {0, 1, 2, 5, 2, 7}) {
      const std::vector<float> data = values(record);
      const double now = 0.5 * static_cast<double>(record);
      ASSERT_WINDROW_OK(windrow_put_record(file, field, record, block.get(), data.data()));
      ASSERT_WINDROW_OK(windrow_put_record(file, time, record, same.get(), &now));
      const char* plan = nullptr;
      ASSERT_WINDROW_OK(windrow_explain(file, "text", &plan));
      EXPECT_THAT(plan, HasSubstr("plan to write"));
      ASSERT_WINDROW_OK(windrow_flush(file));
    }
    ASSERT_WINDROW_OK(windrow_close(file));
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
    ASSERT_WINDROW_OK(windrow_find_variable(file, "field", &field));
    windrow_variable_info info{};
    info.size = sizeof info;
    ASSERT_WINDROW_OK(windrow_inquire_variable(file, field, &info));
    EXPECT_EQ(info.shape[0], 8);
    EXPECT_EQ(info.extendible, 1);
    const std::vector<float> data = values(9);
    ASSERT_WINDROW_OK(windrow_put_record(file, field, 9, block.get(), data.data()));
    std::vector<float> back(data.size()), empty(data.size(), 1), five(data.size());
    ASSERT_WINDROW_OK(windrow_get_record(file, field, 9, block.get(), back.data()));
    ASSERT_WINDROW_OK(windrow_get_record(file, field, 3, block.get(), empty.data()));
    ASSERT_WINDROW_OK(windrow_get_record(file, field, 5, block.get(), five.data()));
    ASSERT_WINDROW_OK(windrow_flush(file));
    EXPECT_EQ(back, data);
    EXPECT_EQ(five, values(5));
    EXPECT_EQ(empty, std::vector<float>(data.size(), 0));
    ASSERT_WINDROW_OK(windrow_get_record(file, field, 10, block.get(), back.data()));
    EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("has 10 records"));
    EXPECT_EQ(windrow_put_record(file, field, -1, block.get(), data.data()), WINDROW_BAD_ARGUMENT);
    EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
    ASSERT_WINDROW_OK(windrow_close(file));
    h5py(
        "f = h5py.File(path, 'r')\nd = f['field']\nassert d.shape == (10, 23, 11) and d.maxshape[0] is None\n"
        "m = np.add.outer(np.arange(23) * 20, np.arange(11))\n"
        "for r in range(10): assert (d[r] == (m + 1000 * r if r in (0, 1, 2, 5, 7, 9) else 0 * m)).all(), r\n"
        "assert list(f['time'][...]) == [0, .5, 1, 0, 0, 2.5, 0, 3.5], f['time'][...]\n");
  }
}

// One chunk, which newer files have no index for, not there before: written in two parts.
TEST_F(Chunks, of_others_that_are_alone_are_made_and_changed) {
  for (const char* filters : {"shuffle=True", "compression='gzip'", "fletcher32=True"}) {
    SCOPED_TRACE(filters);
    h5py(std::string(
             "with h5py.File(path, 'w', libver='latest') as f: f.create_dataset('x', (4,), 'f4', chunks=(4,), ") +
         filters + ")\n");
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
    const int64_t none[1] = {0}, two[1] = {2};
    for (const int64_t first : {0, 2}) {
      const float data[2] = {static_cast<float>(5 + first), static_cast<float>(6 + first)};
      ASSERT_WINDROW_OK(windrow_write_block(file, variable, &first, rank_of() == 0 ? two : none, data));
    }
    float back[4] = {};
    const int64_t start[1] = {0}, all[1] = {4};
    ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, all, back));
    EXPECT_THAT(back, testing::ElementsAre(5, 6, 7, 8));
    ASSERT_WINDROW_OK(windrow_close(file));
    h5py("assert list(h5py.File(path, 'r')['x'][...]) == [5, 6, 7, 8]\n");
  }
}

// A file that is opened again: the last chunk is not full, and holds nothing.
TEST_F(Chunks, grow_by_records_without_elements) {
  const int64_t shape[2] = {1, 0}, none[1] = {0};
  const Options options({{"extendible", "true"}, {"chunks", "2x1"}});
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable_with(file, "empty", WINDROW_FLOAT64, 2, shape, options, &variable));
  ASSERT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
  ASSERT_WINDROW_OK(windrow_find_variable(file, "empty", &variable));
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, none, none, none, nullptr, nullptr, &d));
  const Decomposition nothing(d);
  const double unread = 0;
  ASSERT_WINDROW_OK(windrow_put_record(file, variable, 4, nothing.get(), &unread));
  ASSERT_WINDROW_OK(windrow_flush(file));
  ASSERT_WINDROW_OK(windrow_close(file));
  h5py("f = h5py.File(path, 'r')\nassert f['empty'].shape == (5, 0), f['empty'].shape\n");
}

// Records of a variable that cannot grow, contiguous and chunked, a different one on each rank. A queued get of the
// whole variable is not affected by a record of the same flush.
TEST_F(Chunks, that_grow_meanwhile_move_as_they_were) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  const int64_t shape[2] = {2, 4};
  const Options extendible{{"extendible", "true"}};
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable_with(file, "t", WINDROW_INT32, 2, shape, extendible, &variable));
  windrow_decomposition *all = nullptr, *record = nullptr, *blocks = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
  const int64_t columns[1] = {4}, none[1] = {0};
  ASSERT_WINDROW_OK(
      windrow_block(MPI_COMM_WORLD, 1, columns, none, rank_of() == 0 ? columns : none, nullptr, nullptr, &record));
  const int64_t corner[2] = {0, 0}, nothing[2] = {0, 0};
  ASSERT_WINDROW_OK(
      windrow_block(MPI_COMM_WORLD, 2, shape, corner, rank_of() == 0 ? shape : nothing, nullptr, nullptr, &blocks));
  const Decomposition free_all(all), free_record(record), free_blocks(blocks);
  std::vector<double> wide{1, 2, 3, 4, 5, 6, 7, 8}, back(9, -1);
  const std::vector<int32_t> row{50, 51, 52, 53};
  EXPECT_WINDROW_OK(windrow_put_as(file, variable, blocks, WINDROW_FLOAT64, wide.data()));
  EXPECT_WINDROW_OK(windrow_get_as(file, variable, all, WINDROW_FLOAT64, back.data()));
  EXPECT_WINDROW_OK(windrow_put_record(file, variable, 9, record, row.data()));
  ASSERT_WINDROW_OK(windrow_flush(file));
  EXPECT_EQ(back, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, -1}));
  std::vector<int32_t> read(40, -1), expected(40, 0);
  for (int32_t i = 0; i < 8; ++i)
    expected[static_cast<size_t>(i)] = i + 1;
  for (int32_t i = 0; i < 4; ++i)
    expected[static_cast<size_t>(36 + i)] = 50 + i;
  ASSERT_WINDROW_OK(windrow_read(file, variable, all, read.data()));  // as long as it is now
  EXPECT_EQ(read, expected);
  // Blocks of the old shape do not fit any more.
  EXPECT_EQ(windrow_put_as(file, variable, blocks, WINDROW_FLOAT64, wide.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Chunks, have_records_of_a_fixed_number) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  const Options chunked({{"chunks", "2x3"}});
  const int64_t shape[2] = {size_of() + 1, 7}, inner[1] = {7};
  int plain = -1, cut = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(file, "plain", WINDROW_INT32, 2, shape, &plain));
  ASSERT_WINDROW_OK(windrow_define_variable_with(file, "cut", WINDROW_INT32, 2, shape, chunked, &cut));
  windrow_decomposition* d = nullptr;
  const int64_t zero[1] = {0};
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, inner, zero, rank_of() == 0 ? inner : zero, nullptr, nullptr, &d));
  const Decomposition row(d);
  for (const int variable : {plain, cut})
    for (int64_t record = 0; record <= size_of(); ++record) {
      std::vector<int32_t> data(7);
      std::iota(data.begin(), data.end(), static_cast<int32_t>(100 * record));
      ASSERT_WINDROW_OK(windrow_put_record(file, variable, record, row.get(), data.data()));
      ASSERT_WINDROW_OK(windrow_flush(file));
    }
  EXPECT_EQ(windrow_put_record(file, plain, size_of() + 1, row.get(), zero), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("cannot grow"));
  EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
  ASSERT_WINDROW_OK(windrow_close(file));
  h5py(
      "f = h5py.File(path, 'r')\nfor n in ('plain', 'cut'):\n    d = f[n][...]\n"
      "    assert (d == np.add.outer(np.arange(d.shape[0]) * 100, np.arange(7))).all(), n\n");
}

TEST_F(Chunks, tell_how_they_are_stored) {
  write("8x16x5", "shuffle,deflate:4,fletcher32");
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  windrow_variable_info info{};
  info.size = sizeof info;
  ASSERT_WINDROW_OK(windrow_inquire_variable(file, 0, &info));
  EXPECT_EQ(info.chunked, 1);
  EXPECT_EQ(info.chunk[1], 16);
  EXPECT_STREQ(info.filters, "shuffle,deflate:4,fletcher32");
  EXPECT_EQ(info.offset, -1);
  EXPECT_EQ(info.bytes, k_all * 8);
  ASSERT_WINDROW_OK(windrow_close(file));
}

TEST_F(Chunks, that_cannot_be_are_refused) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  const auto refused = [&](const KeyValues& values, int type, int dimensions, int code, const char* text) {
    const Options options(values);
    int variable = -1;
    EXPECT_EQ(windrow_define_variable_with(file, "bad", type, dimensions, k_shape, options, &variable), code);
    EXPECT_THAT(windrow_error_message(), HasSubstr(text));
  };
  refused({{"chunks", "8x8"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT, "has another number of dimensions");
  refused({{"chunks", "8x0x8"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT, "must be none, auto or a shape");
  refused({{"chunks", "8x8x"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT, "must be none, auto or a shape");
  refused({{"filters", "gzip"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT, "no filter \"gzip\"");
  refused({{"filters", "deflate:11"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT, "deflate:11");
  refused({{"filters", "shuffle,"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT, "no filter \"\"");
  refused({{"filters", "deflate"}, {"chunks", "none"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT,
          "filters need chunks");
  refused({{"filters", "deflate"}}, WINDROW_FLOAT64, 0, WINDROW_BAD_ARGUMENT, "a scalar");
  if (size_of() > 1)
    refused({{"filters", rank_of() == 1 ? "deflate:2" : "deflate:1"}}, WINDROW_FLOAT64, 3, WINDROW_BAD_ARGUMENT,
            "differ");
  ASSERT_WINDROW_OK(windrow_discard(file));
  const std::string raw = folder_.file("a.raw");
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, raw.c_str(), nullptr, &file));
  refused({{"filters", "shuffle"}}, WINDROW_FLOAT64, 3, WINDROW_UNSUPPORTED, "raw format");
  ASSERT_WINDROW_OK(windrow_discard(file));
}

// An unknown filter: the variable is reported, and the rest of the file is read. A damaged chunk: an error on every
// rank.
TEST_F(Chunks, that_cannot_be_read_are_named) {
  h5py(std::string(k_model) +
       "f = h5py.File(path, 'w')\n"
       "f.create_dataset('fine', data=model, chunks=(8, 16, 5), compression=1)\n"
       "f.create_dataset('odd', data=model, chunks=(8, 16, 5), compression='lzf')\n"
       "d = f.create_dataset('bad', data=model, chunks=(8, 16, 5), compression=1)\n"
       "d.id.write_direct_chunk((8, 16, 10), b'this is not what deflate makes')\n");
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  Slab slab;
  const std::vector<double> wanted = slab.data;
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_find_variable(file, "odd", &variable));
  EXPECT_EQ(windrow_read_block(file, variable, slab.start, slab.count, slab.data.data()), WINDROW_UNSUPPORTED);
  EXPECT_THAT(windrow_error_message(), HasSubstr("filter 32000 (lzf)"));
  EXPECT_THAT(windrow_error_message(), HasSubstr("/odd"));
  ASSERT_WINDROW_OK(windrow_find_variable(file, "bad", &variable));
  EXPECT_EQ(windrow_read_block(file, variable, slab.start, slab.count, slab.data.data()), WINDROW_BAD_FILE);
  EXPECT_THAT(windrow_error_message(), HasSubstr("\"/bad\""));
  EXPECT_THAT(windrow_error_message(), HasSubstr("deflate"));
  ASSERT_WINDROW_OK(windrow_find_variable(file, "fine", &variable));
  ASSERT_WINDROW_OK(windrow_read_block(file, variable, slab.start, slab.count, slab.data.data()));
  EXPECT_EQ(slab.data, wanted);
  ASSERT_WINDROW_OK(windrow_close(file));
}

// Writers ask others where their chunks go. A question or an answer that is damaged is an error on all ranks, in time,
// and the file that stood there stays.
TEST_F(Chunks, a_damaged_message_about_places_is_an_error_on_all_ranks) {
  MPI_Comm_set_errhandler(
      MPI_COMM_WORLD,
      MPI_ERRORS_RETURN);  // if a message is too long, MPICH calls this error handler, for any communicator
  write("5x29x17", "deflate:1");
  for (const char* split : {"", "subfiles(2)"})
    for (const int tag : {7, 8, 11})  // questions, answers, and that no more will come
      for (const Damage kind : {Damage::shorter, Damage::longer, Damage::much_longer}) {
        windrow_file* file = nullptr;
        KeyValues settings{{"buffer", "4096"}, {"writers", std::to_string(size_of())}, {"domains", "even"}};
        if (*split != 0)
          settings.emplace_back("files", split);
        ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(settings), &file));
        const int variable = define(file, "5x29x17", "deflate:1");
        const Slab slab(1);
        damaged_tags = {tag};
        damaged_bytes_at_least = tag == 11 ? 0 : 8;
        damaged_messages = 0;
        damage = kind == Damage::shorter && tag == 11 ? Damage::longer : kind;
        const int code = windrow_write_block(file, variable, slab.start, slab.count, slab.data.data());
        damage = Damage::none;
        int damaged = 0;
        MPI_Allreduce(&damaged_messages, &damaged, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (size_of() > 2) {
          EXPECT_GT(damaged, 0);
        }
        if (tag == 11) {  // it says nothing but that it is there
          EXPECT_EQ(code, WINDROW_OK) << windrow_error_message();
        } else if (damaged > 0) {
          EXPECT_EQ(code, WINDROW_INTERNAL) << windrow_error_message();
          EXPECT_THAT(windrow_error_message(), HasSubstr("\"/field\": malformed chunk"));
        }
        EXPECT_WINDROW_OK(windrow_discard(file));
        h5py(std::string(k_model) + "assert (h5py.File(path)['field'][:] == model).all()");
      }
  write("5x29x17", "deflate:1", {{"buffer", "4096"}});
  h5py(std::string(k_model) + "assert (h5py.File(path)['field'][:] == model).all()");
}

}  // namespace
