// SPDX-License-Identifier: BSD-3-Clause
// Variables that grow and are split over subfiles, of HDF5: every part grows with the others, chunk by chunk.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "../capi/checked.hpp"
#include "../format/foreign.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 10, k_columns = 7;
constexpr int64_t k_plane[2] = {k_rows, k_columns};
constexpr double k_fill = -7;

double value_at(int64_t record, int64_t row, int64_t column) {
  return static_cast<double>((record * k_rows + row) * k_columns + column);
}

// This rank's share of a record: rows or columns of it. With more ranks than those some have none.
struct Share {
  int64_t start[2] = {0, 0}, count[2] = {k_rows, k_columns};
  Decomposition decomposition;
  Share(size_t axis, MPI_Comm comm = MPI_COMM_WORLD) {
    const int64_t rank = rank_of(comm), size = size_of(comm), length = k_plane[axis];
    start[axis] = length * rank / size;
    count[axis] = length * (rank + 1) / size - start[axis];
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(windrow_block(comm, 2, k_plane, start, count, nullptr, nullptr, &made));
    decomposition.reset(made);
  }
  std::vector<double> of(int64_t record) const {
    std::vector<double> data;
    for (int64_t i = start[0]; i < start[0] + count[0]; ++i)
      for (int64_t j = start[1]; j < start[1] + count[1]; ++j)
        data.push_back(value_at(record, i, j));
    return data;
  }
};

class GrowingSubfiles : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  windrow_file* create(const KeyValues& options) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(options), &file));
    return file;
  }
  windrow_file* open(int mode = WINDROW_READ, MPI_Comm comm = MPI_COMM_WORLD, const KeyValues& options = {}) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(comm, path().c_str(), mode, Options(options), &file));
    return file;
  }
  std::string path() const { return folder_.file("a run.h5"); }
  std::string set_folder() const {
    std::string found;
    for (const std::string& name : folder_.names())
      if (is_set_in_use(folder_.file(name)))
        found = folder_.file(name);
    return found;
  }
  // The subfiles of a set are ordinary files: the second one of two gets a record by itself.
  void append_to_part(int64_t record) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      windrow_file* part = nullptr;
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, (set_folder() + "/1.h5").c_str(), WINDROW_UPDATE, nullptr, &part));
      windrow_variable_info info{};
      info.size = sizeof info;
      EXPECT_WINDROW_OK(windrow_inquire_variable(part, find(part, "v"), &info));
      const int64_t plane[2] = {info.shape[1], info.shape[2]}, origin[2] = {0, 0};
      windrow_decomposition* all = nullptr;
      EXPECT_WINDROW_OK(windrow_block(MPI_COMM_SELF, 2, plane, origin, plane, nullptr, nullptr, &all));
      const std::vector<double> data(k_rows * k_columns, 5);
      EXPECT_WINDROW_OK(windrow_put_record(part, find(part, "v"), record, all, data.data()));
      EXPECT_WINDROW_OK(windrow_close(part));
      windrow_decomposition_free(all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static int define(windrow_file* file, const char* name, int64_t records, KeyValues options = {}) {
    const int64_t shape[3] = {records, k_rows, k_columns};
    options.insert(options.end(), {{"extendible", "true"}, {"fill_value", "-7"}});
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, WINDROW_FLOAT64, 3, shape, Options(options), &variable));
    return variable;
  }
  static int find(windrow_file* file, const char* name) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    return variable;
  }
  static void put(windrow_file* file, int variable, int64_t record, const Share& share,
                  const std::vector<double>& data) {
    EXPECT_WINDROW_OK(windrow_put_record(file, variable, record, share.decomposition.get(), data.data()));
  }
  static void write(windrow_file* file, int variable, int64_t record, const Share& share) {
    const std::vector<double> data = share.of(record);
    put(file, variable, record, share, data);
    EXPECT_WINDROW_OK(windrow_flush(file));
  }
  // Records by their numbers; those that are not among `written` are the fill value.
  static void expect_records(windrow_file* file, const char* name, int64_t records, const std::vector<int64_t>& written,
                             MPI_Comm comm = MPI_COMM_WORLD) {
    const int variable = find(file, name);
    windrow_variable_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
    ASSERT_EQ(info.shape[0], records);
    EXPECT_EQ(info.extendible, 1);
    const auto expected = [&](const Share& share, int64_t record) {
      std::vector<double> data = share.of(record);
      if (std::find(written.begin(), written.end(), record) == written.end())
        std::fill(data.begin(), data.end(), k_fill);
      return data;
    };
    for (const size_t axis : {size_t{0}, size_t{1}}) {
      const Share share(axis, comm);
      std::vector<std::vector<double>> read;
      for (int64_t record = 0; record < records; ++record) {
        read.emplace_back(share.of(0).size() + 1, 0);
        EXPECT_WINDROW_OK(windrow_get_record(file, variable, record, share.decomposition.get(), read.back().data()));
      }
      EXPECT_WINDROW_OK(windrow_flush(file));
      for (int64_t record = 0; record < records; ++record) {
        read[static_cast<size_t>(record)].pop_back();
        EXPECT_TRUE(read[static_cast<size_t>(record)] == expected(share, record))
            << name << ", record " << record << ", axis " << axis;
      }
    }
    // All of it, cut along the records; ranks beyond them have none.
    const int64_t rank = rank_of(comm), size = size_of(comm), first = records * rank / size,
                  last = records * (rank + 1) / size;
    const int64_t start[3] = {first, 0, 0}, count[3] = {last - first, k_rows, k_columns};
    std::vector<double> all(static_cast<size_t>((last - first) * k_rows * k_columns) + 1), wanted;
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, all.data()));
    all.pop_back();
    const Share whole(0, MPI_COMM_SELF);
    for (int64_t record = first; record < last; ++record) {
      const std::vector<double> one = expected(whole, record);
      wanted.insert(wanted.end(), one.begin(), one.end());
    }
    EXPECT_TRUE(all == wanted) << name;
  }
  static std::string problems(windrow_file* file) {
    const char* text = "";
    EXPECT_WINDROW_OK(windrow_check_subfiles(file, &text));
    return text;
  }
  static std::string split_of(windrow_file* file, const char* name) {
    windrow_variable_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, find(file, name), &info));
    return info.split;
  }

  SharedFolder folder_;
};

TEST_F(GrowingSubfiles, have_what_was_appended_to_all_parts) {
  const std::vector<KeyValues> ways{{{"files", "subfiles(3)"}},
                                    {{"files", "subfiles(5)"}, {"split", "2"}},
                                    {{"files", "subfiles(6)"}, {"split", "1,2"}},
                                    {{"files", "per-rank"}},
                                    {{"files", "subfiles(3)"}, {"split_parts", "1x5+1+4x1"}},
                                    {{"files", "subfiles(3)"}, {"buffer", "4096"}, {"writers", "1"}},
                                    {{"files", "subfiles(4)"}, {"checksum", "on"}}};
  const Share rows(0), columns(1);
  for (const KeyValues& way : ways)
    for (const KeyValues& chunks : {KeyValues{{"chunks", "2x4x3"}, {"filters", "shuffle,deflate:1"}},
                                    KeyValues{{"chunks", "1x10x7"}}, KeyValues{}}) {
      SCOPED_TRACE(way.front().second + " " + way.back().second + " " + (chunks.empty() ? "" : chunks.front().second));
      windrow_file* file = create(way);
      const int v = define(file, "v v", 0, chunks), w = define(file, "g/w", 2, chunks);
      write(file, v, 0, rows);
      EXPECT_WINDROW_OK(windrow_sync(file));
      const std::vector<double> first = rows.of(1), second = columns.of(2), third = columns.of(4),
                                wrong(rows.of(0).size() + 1, 99);
      put(file, v, 1, rows, wrong);  // the later put wins
      put(file, v, 1, rows, first);
      put(file, v, 2, columns, second);
      put(file, w, 4, columns, third);
      EXPECT_WINDROW_OK(windrow_flush(file));
      write(file, v, 5, columns);  // and no rank writes those between
      expect_records(file, "v v", 6, {0, 1, 2, 5});
      expect_records(file, "g/w", 5, {4});
      ASSERT_WINDROW_OK(windrow_close(file));

      file = open();
      if (size_of() > 1 || way.front().second != "per-rank") {
        EXPECT_NE(split_of(file, "v v"), "");
      }
      expect_records(file, "v v", 6, {0, 1, 2, 5});
      expect_records(file, "g/w", 5, {4});
      EXPECT_EQ(problems(file), "");
      ASSERT_WINDROW_OK(windrow_close(file));

      file = open(WINDROW_UPDATE, MPI_COMM_WORLD, {{"checksum", "on"}});
      write(file, find(file, "v v"), 3, columns);
      write(file, find(file, "v v"), 6, rows);
      write(file, find(file, "g/w"), 7, rows);
      expect_records(file, "g/w", 8, {4, 7});
      ASSERT_WINDROW_OK(windrow_close(file));
      // The first ranks alone, and each by itself.
      MPI_Comm few = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank_of() < (size_of() + 1) / 2 ? 0 : 1 + rank_of(), rank_of(), &few);
      file = open(WINDROW_READ, few);
      expect_records(file, "v v", 7, {0, 1, 2, 3, 5, 6}, few);
      expect_records(file, "g/w", 8, {4, 7}, few);
      EXPECT_EQ(problems(file), "");
      ASSERT_WINDROW_OK(windrow_close(file));
      MPI_Comm_free(&few);
      if (failed_anywhere())
        return;
    }
}

// To see how long it is, HDF5 opens all files that a virtual dataset without end leads to. Rank 0 does not.
TEST_F(GrowingSubfiles, are_opened_once_each) {
  windrow_file* file = create({{"files", "subfiles(4)"}});
  const Share rows(0);
  const int v = define(file, "v", 0);
  int scalar = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "scalar", WINDROW_FLOAT64, 0, nullptr, &scalar));
  for (int64_t record = 0; record < 3; ++record)
    write(file, v, record, rows);
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open();
  const char* text = nullptr;
  double read = -1;
  EXPECT_WINDROW_OK(windrow_read_block(file, find(file, "scalar"), nullptr, nullptr, &read));
  EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
  EXPECT_EQ(nlohmann::json::parse(text)["metadata_opens"], 1 + 4);
  ASSERT_WINDROW_OK(windrow_close(file));
}

TEST_F(GrowingSubfiles, are_not_cut_along_their_growth) {
  windrow_file* file = create({{"files", "subfiles(4)"}});
  const auto refused = [&](const KeyValues& asked) {
    const int64_t shape[3] = {0, k_rows, k_columns};
    KeyValues options = asked;
    options.emplace_back("extendible", "true");
    int variable = -1;
    const int code = windrow_define_variable_with(file, "v", WINDROW_FLOAT64, 3, shape, Options(options), &variable);
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(code);
    EXPECT_NE(std::string(windrow_error_message()).find("along its extendible dimension"), std::string::npos)
        << windrow_error_message();
  };
  refused({{"split", "0"}});
  refused({{"split_parts", "2x2x1"}});
  const int64_t line[1] = {0};  // nothing else is split: it is in the base file
  int times = -1;
  EXPECT_WINDROW_OK(
      windrow_define_variable_with(file, "times", WINDROW_FLOAT64, 1, line, Options{{"extendible", "true"}}, &times));
  (void)define(file, "v", 0);
  EXPECT_EQ(split_of(file, "v"), "1x4x1");
  EXPECT_EQ(split_of(file, "times"), "");
  ASSERT_WINDROW_OK(windrow_close(file));
}

// Data that a killed job left after the records of the set is no record, also when the set has grown.
TEST_F(GrowingSubfiles, have_no_records_that_a_killed_job_left) {
  const Share rows(0);
  for (const char* filters : {"none", "shuffle,deflate:1"})
    for (const char* chunks : {"2x5x7", "4x3x2", "1x10x7"})
      for (const int64_t next : {3, 4, 5, 8}) {  // the first record that is written then
        SCOPED_TRACE(std::string(filters) + " " + chunks + " " + std::to_string(next));
        windrow_file* file = create({{"files", "subfiles(2)"}});
        const int v = define(file, "v", 0, {{"chunks", chunks}, {"filters", filters}});
        for (int64_t record = 0; record < 3; ++record)
          write(file, v, record, rows);
        ASSERT_WINDROW_OK(windrow_close(file));
        for (int64_t record = 3; record < 6; ++record)
          append_to_part(record);
        file = open(WINDROW_UPDATE);
        expect_records(file, "v", 3, {0, 1, 2});
        write(file, find(file, "v"), next, rows);
        expect_records(file, "v", next + 1, {0, 1, 2, next});
        write(file, find(file, "v"), 9, rows);
        expect_records(file, "v", 10, {0, 1, 2, next, 9});
        ASSERT_WINDROW_OK(windrow_close(file));
        file = open();
        EXPECT_EQ(problems(file), "");
        expect_records(file, "v", 10, {0, 1, 2, next, 9});
        ASSERT_WINDROW_OK(windrow_close(file));
        if (failed_anywhere())
          return;
      }
}

// Chunks without filters are changed in place: a killed job may have written after the last recorded record.
TEST_F(GrowingSubfiles, have_nothing_of_the_rest_of_a_chunk) {
  const Share rows(0);
  for (const char* files : {"subfiles(2)", "one"})
    for (const int64_t next : {4, 8}) {
      SCOPED_TRACE(std::string(files) + " " + std::to_string(next));
      windrow_file* file = create({{"files", files}});
      const int v = define(file, "v", 0, {{"chunks", "4x3x2"}});
      for (int64_t record = 0; record < 3; ++record)
        write(file, v, record, rows);
      ASSERT_WINDROW_OK(windrow_close(file));
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_of() == 0) {
        const auto spoilt = windrow::test::run_h5py(R"(
import glob, os
count = 0
for name in glob.glob(path + ".subfiles-*/*") or [path]:
    with h5py.File(name) as file:
        chunks = [file["v"].id.get_chunk_info(i) for i in range(file["v"].id.get_num_chunks())]
    with open(name, "r+b") as file:
        for chunk in chunks:
            file.seek(chunk.byte_offset + chunk.size * 3 // 4)
            file.write(b"\7" * (chunk.size // 4))
            count += 1
print(count)
)",
                                                    path());
        EXPECT_EQ(spoilt.exit_code, 0) << spoilt.text;
        EXPECT_GT(std::atoi(spoilt.text.c_str()), 10) << spoilt.text;
      }
      MPI_Barrier(MPI_COMM_WORLD);
      file = open(WINDROW_UPDATE);
      expect_records(file, "v", 3, {0, 1, 2});
      write(file, find(file, "v"), next, rows);
      write(file, find(file, "v"), 9, rows);
      ASSERT_WINDROW_OK(windrow_close(file));
      file = open();
      expect_records(file, "v", 10, {0, 1, 2, next, 9});
      ASSERT_WINDROW_OK(windrow_close(file));
      if (failed_anywhere())
        return;
    }
}

// A subfile that has fewer records than the base file is not sound; one that has more, since a job was killed, is.
TEST_F(GrowingSubfiles, that_lag_behind_are_named) {
  const Share rows(0);
  const auto make = [&](int64_t records) {
    windrow_file* file = create({{"files", "subfiles(2)"}});
    const int v = define(file, "v", 0);
    for (int64_t record = 0; record < records; ++record)
      write(file, v, record, rows);
    ASSERT_WINDROW_OK(windrow_close(file));
  };
  make(3);
  append_to_part(4);
  windrow_file* file = open();
  EXPECT_EQ(problems(file), "");
  expect_records(file, "v", 3, {0, 1, 2});
  ASSERT_WINDROW_OK(windrow_close(file));
  // The base file of a longer set over the subfiles of a shorter one is found by its identity; a lagging subfile by its
  // shape.
  const std::string before = set_folder();
  if (rank_of() == 0)
    std::filesystem::copy_file(before + "/0.h5", folder_.file("lagging.h5"));
  MPI_Barrier(MPI_COMM_WORLD);
  file = open(WINDROW_UPDATE);
  write(file, find(file, "v"), 3, rows);
  ASSERT_WINDROW_OK(windrow_close(file));
  if (rank_of() == 0)
    std::filesystem::rename(folder_.file("lagging.h5"), before + "/0.h5");
  MPI_Barrier(MPI_COMM_WORLD);
  file = open();
  EXPECT_NE(problems(file).find("/0.h5\" does not match the map: \"/v\" has another shape"), std::string::npos)
      << problems(file);
  ASSERT_WINDROW_OK(windrow_close(file));
}

}  // namespace
