// SPDX-License-Identifier: BSD-3-Clause
// A small program whose calls fail one by one. It writes files with a grid, points and attributes. A file that exists
// before must be unchanged after a failure.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../capi/checked.hpp"

namespace windrow_test {

inline constexpr int64_t k_rows = 6, k_columns = 5, k_points = 12, k_load = 2;  // the last three: per rank

// Strategies that differ in messages between ranks and in accesses to the file.
inline const std::vector<KeyValues>& fault_strategies() {
  static const std::vector<KeyValues> all{
      {},
      {{"strategy", "list"}},
      {{"strategy", "two-phase"}, {"writers", "2"}, {"buffer", "4096"}, {"io_thread", "off"}},
      {{"strategy", "two-phase"}, {"writers", "2"}, {"buffer", "4096"}, {"io_thread", "on"}},
      {{"strategy", "two-phase"},
       {"writers", "2"},
       {"buffer", "4096"},
       {"shared_memory", "false"},
       {"io_thread", "on"}},
      {{"domains", "even"}, {"writers", "2"}, {"access", "sieve"}, {"buffer", "4096"}, {"io_thread", "on"}},
      {{"domains", "none"}, {"access", "sieve"}, {"buffer", "4096"}},
      {{"gather", "team(2)"}, {"domains", "none"}, {"buffer", "4096"}},
      {{"gather", "team(2)"}, {"domains", "even"}, {"writers", "2"}, {"buffer", "4096"}},
      {{"gather", "host"}, {"domains", "even"}, {"writers", "2"}},
      {{"domains", "even"},
       {"writers", "2"},
       {"shared_memory", "false"},
       {"check_messages", "true"},
       {"codec", "auto"}},
  };
  return all;
}

// Every variable has small compressed chunks, which rank 0 records in an index. The name of such a file begins with
// "chunked".
inline const std::vector<KeyValues>& chunked_strategies() {
  static const std::vector<KeyValues> all{
      {{"chunks", "auto"}, {"filters", "shuffle,deflate:1"}, {"writers", "2"}},
      {{"chunks", "auto"}, {"filters", "shuffle,deflate:1"}, {"shared_memory", "false"}},
      {{"chunks", "1x3"}, {"filters", "fletcher32"}, {"buffer", "4096"}},
  };
  return all;
}

// Every variable is split over subfiles. The name of such a file begins with "split".
inline const std::vector<KeyValues>& split_strategies() {
  static const std::vector<KeyValues> all{
      {{"files", "subfiles(3)"}},
      {{"files", "subfiles(2)"}, {"strategy", "list"}},
      {{"files", "subfiles(2)"}, {"split", "1"}, {"strategy", "two-phase"}, {"buffer", "4096"}, {"io_thread", "on"}},
      {{"files", "per-rank"}, {"gather", "team(2)"}, {"domains", "even"}, {"writers", "2"}, {"buffer", "4096"}},
  };
  return all;
}

inline const std::vector<KeyValues>& strategies_for(const std::string& ending) {
  if (ending.starts_with("split"))
    return split_strategies();
  return ending.starts_with("chunked") ? chunked_strategies() : fault_strategies();
}

// The options of the existing file.
inline KeyValues standing_options(const std::string& ending) {
  if (ending.starts_with("split"))
    return split_strategies().front();
  return ending.starts_with("chunked") ? chunked_strategies().back() : KeyValues{};
}

inline std::string text_of(const KeyValues& options) {
  std::string text;
  for (const auto& [key, value] : options)
    text += key + "=" + value + " ";
  return text.empty() ? "default" : text;
}

// The path of an existing file, the same for a whole test. Its bytes are compared after each failure. Collective.
class Standing {
 public:
  Standing(const SharedFolder& folder, const std::string& extension)
      : folder_(folder), path_(folder.file("file" + extension)) {}
  void remember() {
    MPI_Barrier(MPI_COMM_WORLD);
    names_ = files();
    bytes_.clear();
    for (const std::string& name : names_)
      bytes_.push_back(bytes_of_file(folder_.file(name)));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // Nothing has changed, and no other file exists.
  void expect_whole() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      EXPECT_EQ(files(), names_);
      for (size_t i = 0; i < names_.size(); ++i)
        EXPECT_TRUE(bytes_of_file(folder_.file(names_[i])) == bytes_[i]) << names_[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void restore() const {
    MPI_Barrier(MPI_COMM_WORLD);
    // Another set of subfiles may exist.
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (rank_of() == 0 && entry.is_directory())
        std::filesystem::remove_all(entry.path());
    for (size_t i = 0; i < names_.size() && rank_of() == 0; ++i) {
      std::filesystem::create_directories(std::filesystem::path(folder_.file(names_[i])).parent_path());
      std::ofstream stream(folder_.file(names_[i]), std::ios::binary | std::ios::trunc);
      stream << bytes_[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const std::string& path() const { return path_; }

 private:
  std::vector<std::string> files() const {  // including those in folders, and empty folders
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      if (!entry.is_directory() || std::filesystem::is_empty(entry.path()))
        found.push_back(std::filesystem::relative(entry.path(), folder_.path()).string());
    std::sort(found.begin(), found.end());
    return found;
  }
  const SharedFolder& folder_;
  std::string path_;
  std::vector<std::string> names_, bytes_;
};

class Scene {
 public:
  Scene(std::string file_path, const KeyValues& values_of_options, int base = 0)
      : options(values_of_options), path(std::move(file_path)), base_(base) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // a new one each time: its first use in the library is tested too
    rank = rank_of(comm);
    size = size_of(comm);
    const int64_t columns = k_columns * size, all_points = k_points * size;
    grid_shape = {k_rows, columns};
    point_shape = {all_points, k_load};
    attribute_shape = {static_cast<int64_t>(point_shape.size())};
    start = {0, k_columns * rank};
    count = {k_rows, k_columns};
    for (int64_t r = 0; r < k_rows; ++r)
      for (int64_t c = 0; c < k_columns; ++c)
        grid.push_back(static_cast<int32_t>(base_ + r * 1000 + start[1] + c));
    // Each rank's own points and the first of the next rank's, backwards.
    for (int64_t i = std::min(k_points, all_points - 1); i >= 0; --i) {
      list.push_back((rank * k_points + i) % all_points);
      owned.push_back(i < k_points ? 1 : 0);
      for (int64_t k = 0; k < k_load; ++k)
        values.push_back(static_cast<double>(base_) + 10.0 * static_cast<double>(list.back()) + static_cast<double>(k));
    }
    grid_read.assign(grid.size(), -1);
    values_read.assign(values.size(), -1);
    wide_grid.assign(grid.begin(), grid.end());
    narrow_values.assign(values.begin(), values.end());
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() {
    EXPECT_WINDROW_OK(windrow_discard(file));
    block.reset();
    points.reset();
    made.reset();
    MPI_Comm_free(&comm);
  }

  int create() { return windrow_create(comm, path.c_str(), options, &file); }
  int open(int mode) { return windrow_open(comm, path.c_str(), mode, options, &file); }
  int make_block(windrow_decomposition** d) {
    return windrow_block(comm, 2, grid_shape.data(), start.data(), count.data(), nullptr, nullptr, d);
  }
  int make_points(windrow_decomposition** d) {
    return windrow_points(comm, point_shape[0], static_cast<int64_t>(list.size()), list.data(), owned.data(), d);
  }
  void decompose() {
    windrow_decomposition* d = nullptr;
    ASSERT_WINDROW_OK(make_block(&d));
    block.reset(d);
    ASSERT_WINDROW_OK(make_points(&d));
    points.reset(d);
  }
  void begin() {  // up to the first put
    ASSERT_WINDROW_OK(create());
    ASSERT_WINDROW_OK(
        windrow_define_variable(file, "fields/grid", WINDROW_INT32, 2, grid_shape.data(), &grid_variable));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "points", WINDROW_FLOAT64, 2, point_shape.data(), &point_variable));
    ASSERT_WINDROW_OK(windrow_put_attribute_text(file, "/", "title", "a title that is longer than a short string"));
    decompose();
  }
  void begin_reading(int mode = WINDROW_READ) {
    ASSERT_WINDROW_OK(open(mode));
    ASSERT_WINDROW_OK(windrow_find_variable(file, "fields/grid", &grid_variable));
    ASSERT_WINDROW_OK(windrow_find_variable(file, "points", &point_variable));
    decompose();
  }
  // The flush reports errors of puts, so their own codes are ignored here.
  void put() {
    (void)windrow_put(file, grid_variable, block.get(), grid.data());
    (void)windrow_put(file, point_variable, points.get(), values.data());
  }
  int put_and_flush() {
    put();
    return windrow_flush(file);
  }
  int put_and_close() {  // close() flushes
    put();
    return close();
  }
  int get_and_flush() {
    (void)windrow_get(file, grid_variable, block.get(), grid_read.data());
    (void)windrow_get(file, point_variable, points.get(), values_read.data());
    return windrow_flush(file);
  }
  int close() { return windrow_close(std::exchange(file, nullptr)); }
  void expect_read() {
    EXPECT_EQ(grid_read, grid);
    EXPECT_EQ(values_read, values);
  }
  void write_all() {
    begin();
    ASSERT_WINDROW_OK(put_and_flush());
    ASSERT_WINDROW_OK(close());
  }
  // Opens the written file and compares it with what a scene with these numbers writes.
  static void expect_file(const std::string& path, int base) {
    Scene reader(path, {}, base);
    reader.begin_reading();
    EXPECT_WINDROW_OK(reader.get_and_flush());
    reader.expect_read();
    const char* title = nullptr;
    EXPECT_WINDROW_OK(windrow_get_attribute(reader.file, "/", "title", WINDROW_TEXT, &title));
    EXPECT_STREQ(title, "a title that is longer than a short string");
    EXPECT_WINDROW_OK(reader.close());
  }

  Options options;
  std::string path;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  windrow_file* file = nullptr;
  int grid_variable = -1, point_variable = -1, variable = -1;
  Decomposition block, points, made;
  std::vector<int64_t> grid_shape, point_shape, attribute_shape, start, count, list;
  std::vector<unsigned char> owned;
  std::vector<int32_t> grid, grid_read;
  std::vector<double> values, values_read;
  std::vector<double> wide_grid;  // the same in other types
  std::vector<float> narrow_values;
  std::unique_ptr<Options> other_options;
  const char* text = nullptr;

 private:
  int base_;
};

// One collective call: the calls before it, the call itself, and the checks after its success. A call that failed is
// repeated on the same handles, if possible.
struct Call {
  std::string name;
  std::function<void(Scene&)> prepare;
  std::function<int(Scene&)> run;
  std::function<void(Scene&)> finish;
  bool repeatable = true;
  bool publishes = false;  // the file is replaced when it has succeeded
};

inline int make_into(Scene& scene, const std::function<int(windrow_decomposition**)>& make) {
  windrow_decomposition* d = nullptr;
  const int code = make(&d);
  scene.made.reset(d);
  return code;
}

}  // namespace windrow_test
