// SPDX-License-Identifier: BSD-3-Clause
// The same program writes the same bytes with any number of ranks and any strategy, and every strategy reads them back.
#include "../capi/checked.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <random>

#include "codec/compressor.hpp"

namespace {

using namespace windrow_test;

// Every element's value follows from the variable and the element's number alone.
template <class T>
T value_of(int variable, int64_t element) {
  return static_cast<T>(static_cast<double>((element * 2654435761LL + variable * 97) % 100'003));
}

struct Part {
  int64_t begin, count;
};
Part part_of(int64_t total, int parts, int index) {
  const int64_t each = total / parts, rest = total % parts;
  return {each * index + std::min<int64_t>(index, rest), each + (index < rest ? 1 : 0)};
}

constexpr int64_t k_nz = 13, k_ny = 7, k_nx = 19, k_ghost = 2;
constexpr int64_t k_points = 211, k_load = 3, k_rows = 50'021;

// What the program holds in memory, for one communicator.
class Program {
 public:
  explicit Program(MPI_Comm comm) : comm_(comm), rank_(rank_of(comm)), size_(size_of(comm)) {
    make_grid();
    make_points();
    make_rows();
    make_blocks();
    const int64_t three[1] = {3};
    same_.reset(made([&](auto** d) { return windrow_same(comm_, 1, three, nullptr, nullptr, d); }));
    same_data_ = {value_of<int32_t>(5, 0), value_of<int32_t>(5, 1), value_of<int32_t>(5, 2)};
  }

  void write(const std::string& path, const windrow_options* options) {
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(comm_, path.c_str(), options, &file));
    const Options big{{"byte_order", "big"}};
    const int64_t grid[3] = {k_nz, k_ny, k_nx}, points[2] = {k_points, k_load}, rows[1] = {k_rows}, three[1] = {3},
                  none[2] = {0, 5};
    int v[7];
    EXPECT_WINDROW_OK(windrow_define_variable(file, "fields/grid", WINDROW_FLOAT32, 3, grid, &v[0]));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "mesh/values", WINDROW_FLOAT64, 2, points, &v[1]));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "rows", WINDROW_INT64, 1, rows, &v[2]));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "blocks", WINDROW_INT16, 3, grid, &v[3]));
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, "big endian", WINDROW_FLOAT64, 3, grid, big, &v[4]));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "same", WINDROW_INT32, 1, three, &v[5]));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "nothing", WINDROW_INT32, 2, none, &v[6]));
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "/fields/grid", "unit", "K"));
    // Ranks queue in different orders.
    for (int i = 0; i < 6; ++i)
      put(file, v, (i + rank_) % 6);
    EXPECT_WINDROW_OK(windrow_flush(file));
    check_forecast(file);
    EXPECT_WINDROW_OK(windrow_close(file));
  }

  void read(const std::string& path, const windrow_options* options) {
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_open(comm_, path.c_str(), WINDROW_READ, options, &file));
    int v[6];
    const char* names[6] = {"/fields/grid", "/mesh/values", "/rows", "/blocks", "/big endian", "/same"};
    for (int i = 0; i < 6; ++i)
      ASSERT_WINDROW_OK(windrow_find_variable(file, names[i], &v[i]));
    const Program& want = *this;
    std::vector<float> grid(grid_data_.size(), -1);
    std::vector<double> points(point_data_.size(), -1), big(big_data_.size(), -1);
    std::vector<int64_t> rows(row_data_.size(), -1);
    std::vector<int16_t> blocks(block_data_.size(), -1);
    std::vector<int32_t> same(3, -1);
    EXPECT_WINDROW_OK(windrow_get(file, v[5], same_.get(), same.data()));
    EXPECT_WINDROW_OK(windrow_get(file, v[0], grid_.get(), grid.data()));
    EXPECT_WINDROW_OK(windrow_get(file, v[1], points_.get(), points.data()));
    EXPECT_WINDROW_OK(windrow_get(file, v[2], rows_.get(), rows.data()));
    EXPECT_WINDROW_OK(windrow_get(file, v[3], blocks_.get(), blocks.data()));
    EXPECT_WINDROW_OK(windrow_get(file, v[4], grid_.get(), big.data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
    check_forecast(file);
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_EQ(same, want.same_data_);
    EXPECT_EQ(rows, want.row_data_);
    EXPECT_EQ(points, want.point_data_);
    EXPECT_EQ(blocks, want.block_data_);
    EXPECT_EQ(grid, want.grid_data_);  // ghost cells are -1 in both
    EXPECT_EQ(big, want.big_data_);
  }

 private:
  template <class Make>
  static windrow_decomposition* made(Make&& make) {
    windrow_decomposition* decomposition = nullptr;
    EXPECT_WINDROW_OK(make(&decomposition));
    return decomposition;
  }

  void put(windrow_file* file, const int* v, int which) {
    switch (which) {
      case 0:
        EXPECT_WINDROW_OK(windrow_put(file, v[0], grid_.get(), grid_data_.data()));
        break;
      case 1:
        EXPECT_WINDROW_OK(windrow_put(file, v[1], points_.get(), point_data_.data()));
        break;
      case 2:
        EXPECT_WINDROW_OK(windrow_put(file, v[2], rows_.get(), row_data_.data()));
        break;
      case 3:
        EXPECT_WINDROW_OK(windrow_put(file, v[3], blocks_.get(), block_data_.data()));
        break;
      case 4:
        EXPECT_WINDROW_OK(windrow_put(file, v[4], grid_.get(), big_data_.data()));
        break;
      default:
        EXPECT_WINDROW_OK(windrow_put(file, v[5], same_.get(), same_data_.data()));
        break;
    }
  }

  // The library counts beforehand and afterwards: both must agree.
  static void check_forecast(windrow_file* file) {
    const char* text = nullptr;
    ASSERT_WINDROW_OK(windrow_report(file, "json", &text));
    const std::string report = text;
    const auto number = [&report](const std::string& key, size_t from) {
      const size_t at = report.find("\"" + key + "\": ", from);
      return at == std::string::npos ? -1 : std::stoll(report.substr(at + key.size() + 4));
    };
    const size_t plans = report.find("\"plans\"");
    EXPECT_EQ(number("messages", 0), number("messages", plans)) << report;
    EXPECT_EQ(number("write_requests", 0), number("write_requests", plans)) << report;
    EXPECT_EQ(number("read_requests", 0), number("read_requests", plans)) << report;
  }

  // Slabs along y, with ghost cells around them in memory.
  void make_grid() {
    const Part y = part_of(k_ny, size_, rank_);
    const int64_t shape[3] = {k_nz, k_ny, k_nx}, start[3] = {0, y.begin, 0}, count[3] = {k_nz, y.count, k_nx};
    const int64_t box[3] = {k_nz + 2 * k_ghost, y.count + 2 * k_ghost, k_nx + 2 * k_ghost},
                  inside[3] = {k_ghost, k_ghost, k_ghost};
    grid_.reset(made([&](auto** d) { return windrow_block(comm_, 3, shape, start, count, box, inside, d); }));
    const auto cells = static_cast<size_t>(box[0] * box[1] * box[2]);
    grid_data_.assign(cells, -1);
    big_data_.assign(cells, -1);
    for (int64_t z = 0; z < k_nz; ++z)
      for (int64_t j = 0; j < y.count; ++j)
        for (int64_t x = 0; x < k_nx; ++x) {
          const auto at = static_cast<size_t>(((z + k_ghost) * box[1] + j + k_ghost) * box[2] + x + k_ghost);
          const int64_t element = (z * k_ny + y.begin + j) * k_nx + x;
          grid_data_[at] = value_of<float>(0, element);
          big_data_[at] = value_of<double>(4, element);
        }
  }

  // Every rank holds its part and some of its neighbour's, in a random order; with several ranks some points have two
  // holders.
  void make_points() {
    const Part mine = part_of(k_points, size_, rank_);
    std::vector<int64_t> list;
    std::vector<unsigned char> owned;
    for (int64_t i = 0; i < mine.count + (size_ > 1 ? 9 : 0); ++i)
      list.push_back((mine.begin + i) % k_points);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    std::mt19937 random(static_cast<unsigned>(rank_));
    std::shuffle(list.begin(), list.end(), random);
    for (int64_t point : list)
      owned.push_back(point >= mine.begin && point < mine.begin + mine.count ? 1 : 0);
    points_.reset(made([&](auto** d) {
      return windrow_points(comm_, k_points, static_cast<int64_t>(list.size()), list.data(), owned.data(), d);
    }));
    for (int64_t point : list)
      for (int64_t k = 0; k < k_load; ++k)
        point_data_.push_back(value_of<double>(1, point * k_load + k));
  }

  void make_rows() {
    rows_.reset(made([&](auto** d) { return windrow_rows(comm_, k_rows, WINDROW_EVEN, d); }));
    int64_t first = 0, count = 0;
    EXPECT_WINDROW_OK(windrow_decomposition_rows(rows_.get(), &first, &count));
    for (int64_t i = 0; i < count; ++i)
      row_data_.push_back(value_of<int64_t>(2, first + i));
  }

  // Planes dealt out in turn, one block a plane; the last rank also holds plane 0, which then has two holders.
  void make_blocks() {
    const int64_t shape[3] = {k_nz, k_ny, k_nx};
    std::vector<int64_t> starts, counts;
    std::vector<int64_t> planes;
    for (int64_t z = rank_; z < k_nz; z += size_)
      planes.push_back(z);
    if (rank_ == size_ - 1 && size_ > 1)
      planes.push_back(0);
    for (int64_t z : planes) {
      starts.insert(starts.end(), {z, 0, 0});
      counts.insert(counts.end(), {1, k_ny, k_nx});
      for (int64_t i = 0; i < k_ny * k_nx; ++i)
        block_data_.push_back(value_of<int16_t>(3, z * k_ny * k_nx + i));
    }
    blocks_.reset(made([&](auto** d) {
      return windrow_blocks(comm_, 3, shape, static_cast<int64_t>(planes.size()), starts.data(), counts.data(), nullptr,
                            nullptr, d);
    }));
  }

  MPI_Comm comm_;
  int rank_, size_;
  Decomposition grid_, points_, rows_, blocks_, same_;
  std::vector<float> grid_data_;
  std::vector<double> point_data_, big_data_;
  std::vector<int64_t> row_data_;
  std::vector<int16_t> block_data_;
  std::vector<int32_t> same_data_;
};

const std::vector<KeyValues>& strategies() {
  static const std::vector<KeyValues> all{
      {},
      {{"strategy", "scorpio"}},
      {{"strategy", "two-phase"}},
      {{"strategy", "list"}},
      {{"direct_bytes", "64"}, {"buffer", "4096"}},
      {{"direct_bytes", "300"}, {"buffer", "4096"}, {"shared_memory", "false"}},
      {{"domains", "even"}, {"writers", "3"}, {"buffer", "4096"}},
      {{"domains", "aligned"}, {"writers", "2"}, {"align", "512"}, {"buffer", "8192"}},
      {{"domains", "even"}, {"writers", "2"}, {"access", "sieve"}, {"buffer", "5000"}},
      {{"domains", "none"}, {"access", "sieve"}, {"buffer", "4096"}},
      {{"domains", "none"}, {"access", "contiguous"}, {"buffer", "4096"}},
      {{"gather", "team(2)"}, {"domains", "none"}, {"buffer", "4096"}},
      {{"gather", "team(3)"}, {"domains", "none"}, {"access", "sieve"}, {"buffer", "4096"}},
      {{"gather", "team(2)"}, {"domains", "even"}, {"writers", "2"}, {"buffer", "4096"}},
      {{"gather", "team(3,2)"}, {"domains", "aligned"}, {"align", "1024"}, {"writers", "3"}, {"buffer", "10000"}},
      {{"gather", "host"}, {"domains", "even"}, {"writers", "2"}},
      {{"gather", "host"}, {"domains", "none"}, {"owner", "first"}},
      {{"owner", "highest"}, {"domains", "even"}, {"writers", "1"}},
      {{"strategy", "tpc"}, {"buffer", "4096"}},
      {{"domains", "cyclic"}, {"writers", "3"}, {"align", "4096"}, {"buffer", "4096"}},
      {{"domains", "target"}, {"writers", "3"}, {"layout", "mock:stripe=5000,count=4"}, {"buffer", "4096"}},
      {{"domains", "target"}, {"writers", "8"}, {"layout", "mock:stripe=4096,count=3"}, {"shared_memory", "false"}},
      {{"domains", "target"},
       {"writers", "4"},
       {"layout", "mock:stripe=3000,count=7,targets=3,until=20001;stripe=4096,count=2,first=2"},
       {"buffer", "8192"}},
      {{"domains", "cyclic"},
       {"writers", "3"},
       {"layout", "mock:stripe=1000,count=4,until=9999;stripe=4096,count=2"},
       {"access", "sieve"}},
      {{"domains", "target"},
       {"writers", "2"},
       {"layout", "mock:stripe=2048,count=3"},
       {"access", "sieve"},
       {"buffer", "5000"}},
      {{"gather", "team(2)"},
       {"domains", "target"},
       {"writers", "3"},
       {"layout", "mock:stripe=2048,count=5"},
       {"buffer", "4096"}},
      {{"gather", "team(3,2)"}, {"domains", "cyclic"}, {"writers", "2"}, {"align", "3000"}},
      {{"gather", "host"}, {"domains", "even"}, {"writers", "2"}, {"check_messages", "true"}},
      {{"domains", "even"},
       {"writers", "2"},
       {"buffer", "4096"},
       {"shared_memory", "false"},
       {"check_messages", "true"}},
  };
  static const std::vector<KeyValues> with_codecs = [] {
    std::vector<KeyValues> more = all;
    for (const windrow::Compressor* compressor : windrow::compressors()) {
      const std::string codec(compressor->name());
      more.push_back({{"domains", "even"}, {"writers", "2"}, {"buffer", "8192"}, {"codec", codec}});
      more.push_back({{"gather", "team(2)"},
                      {"domains", "even"},
                      {"writers", "2"},
                      {"codec", codec + (compressor->shuffles() ? "+shuffle" : "")}});
    }
    return more;
  }();
  return with_codecs;
}

std::string text_of(const KeyValues& options) {
  std::string text;
  for (const auto& [key, value] : options)
    text += key + "=" + value + " ";
  return text.empty() ? "default" : text;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, the_same_bytes_for_any_number_of_ranks_and_any_strategy) {
  const std::string extension = GetParam();
  if (extension == ".h5" && windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string reference = folder.file("written alone" + extension),
                    path = folder.file("written together" + extension);
  if (rank_of() == 0)
    Program(MPI_COMM_SELF).write(reference, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string want = bytes_of_file(reference);
  Program together(MPI_COMM_WORLD);
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(text_of(strategy));
    together.write(path, Options(strategy));
    EXPECT_TRUE(bytes_of_file(path) == want);
    MPI_Barrier(MPI_COMM_WORLD);
    together.read(reference, Options(strategy));
  }
  EXPECT_THAT(folder.names(), testing::Each(testing::StartsWith("written"))) << "a temporary file was left behind";
}

INSTANTIATE_TEST_SUITE_P(Formats, Golden, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
