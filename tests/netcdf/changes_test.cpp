// SPDX-License-Identifier: BSD-3-Clause
// Definitions after data was written: the data is moved if the header needs its space, and nothing is lost.
#include <gmock/gmock.h>

#include "netcdf.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using windrow::Decomposition;
using windrow::File;
using windrow::Mode;
using windrow::Options;

constexpr int64_t k_y = 17, k_x = 300, k_records = 9;

class Changes : public testing::Test {
 protected:
  std::string path() const { return folder_.file("file.nc"); }

  // Two variables without records and three with, one of them of an odd number of bytes.
  void make(const Options& options = {}) const {
    File file = File::create(MPI_COMM_WORLD, path(), options);
    define_and_write(file);
    file.close();
  }
  void define_and_write(File& file) const {
    const Options grows{{"extendible", "true"}};
    const int scalar = file.define_variable("scalar", WINDROW_INT32, {});
    const int fixed = file.define_variable("fixed", WINDROW_FLOAT64, {k_y, k_x});
    const int odd = file.define_variable("odd", WINDROW_INT8, {0, 5}, grows);
    const int a = file.define_variable("a", WINDROW_FLOAT32, {0, k_y, k_x}, grows);
    const int b = file.define_variable("b", WINDROW_INT16, {0, k_y, k_x}, grows);
    const Decomposition rows = rows_of(k_y, k_x, part_), five = Decomposition::same(MPI_COMM_WORLD, {5});
    const auto of_fixed = values<double>(1, 0, part_, k_x);
    const std::vector<int32_t> one(1, 77);
    const Decomposition all = Decomposition::same(MPI_COMM_WORLD, {});
    file.put(scalar, all, one);
    file.put(fixed, rows, of_fixed);
    std::vector<std::vector<float>> of_a;
    std::vector<std::vector<int16_t>> of_b;
    std::vector<std::vector<int8_t>> of_odd;
    for (int64_t r = 0; r < k_records; ++r) {
      of_a.push_back(values<float>(2, r, part_, k_x));
      of_b.push_back(values<int16_t>(3, r, part_, k_x));
      of_odd.emplace_back(5, static_cast<int8_t>(r));
    }
    for (int64_t r = 0; r < k_records; ++r) {
      const auto i = static_cast<size_t>(r);
      file.put_record(a, r, rows, of_a[i]);
      file.put_record(b, r, rows, of_b[i]);
      file.put_record(odd, r, five, of_odd[i]);
    }
    file.flush();
  }
  void expect_made() const {
    expect_valid(path());
    on_root([&] {
      const int id = open_nc(path());
      EXPECT_EQ(get_nc<int32_t>(id, "scalar", {}, {}), std::vector<int32_t>{77});
      EXPECT_EQ(get_nc<double>(id, "fixed", {0, 0}, {k_y, k_x}), values<double>(1, 0, {0, k_y}, k_x));
      for (int64_t r = 0; r < k_records; ++r) {
        EXPECT_EQ(get_nc<float>(id, "a", {r, 0, 0}, {1, k_y, k_x}), values<float>(2, r, {0, k_y}, k_x)) << r;
        EXPECT_EQ(get_nc<int16_t>(id, "b", {r, 0, 0}, {1, k_y, k_x}), values<int16_t>(3, r, {0, k_y}, k_x)) << r;
        EXPECT_EQ(get_nc<int8_t>(id, "odd", {r, 0}, {1, 5}), std::vector<int8_t>(5, static_cast<int8_t>(r))) << r;
      }
      EXPECT_NC(ncmpi_close(id));
    });
  }
  std::string attribute() const {
    int length = 0;
    std::string text;
    on_root([&] {
      const int id = open_nc(path());
      MPI_Offset characters = 0;
      EXPECT_NC(ncmpi_inq_attlen(id, NC_GLOBAL, "long", &characters));
      text.resize(static_cast<size_t>(characters));
      EXPECT_NC(ncmpi_get_att_text(id, NC_GLOBAL, "long", text.data()));
      EXPECT_NC(ncmpi_close(id));
      length = static_cast<int>(characters);
    });
    return text;
  }
  int64_t inode() const {
    struct stat about {};
    EXPECT_EQ(stat(path().c_str(), &about), 0);
    return static_cast<int64_t>(about.st_ino);
  }

  SharedFolder folder_;
  Part part_ = part_of(k_y);
};

TEST_F(Changes, of_attributes_stay_in_place_where_the_header_has_room) {
  make({{"header_room", "20000"}});
  const int64_t before = inode();
  MPI_Barrier(MPI_COMM_WORLD);
  File file = File::open(MPI_COMM_WORLD, path(), Mode::update);
  file.put_attribute("/", "long", std::string(15000, 'x'));
  file.close();
  EXPECT_EQ(inode(), before);
  expect_made();
  const std::string read = attribute();
  EXPECT_EQ(read, rank_of() == 0 ? std::string(15000, 'x') : "");
}

// For any alignment with which the file was created, and any alignment now.
TEST_F(Changes, of_attributes_stay_in_place_with_another_alignment) {
  for (const char* made : {"1", "12", "256", "512"})
    for (const char* now : {"1", "64"}) {
      make({{"alignment", made}, {"header_room", "1000"}});
      const int64_t before = inode();
      MPI_Barrier(MPI_COMM_WORLD);
      File file = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"alignment", now}});
      file.put_attribute("/", "long", "x");
      file.close();
      EXPECT_EQ(inode(), before) << made << ", " << now;
      expect_made();
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

TEST_F(Changes, of_attributes_move_all_data_where_it_has_none) {
  for (const char* buffer : {"4MiB", "4096"}) {  // more than a record at once, or less
    make();
    MPI_Barrier(MPI_COMM_WORLD);
    File file = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"buffer", buffer}});
    file.put_attribute("/", "long", std::string(15000, 'x'));
    file.close();
    expect_made();
    const std::string read = attribute();
    EXPECT_EQ(read, rank_of() == 0 ? std::string(15000, 'x') : "");
    on_root([&] { EXPECT_EQ(folder_.names(), std::vector<std::string>{"file.nc"}) << "no leftovers"; });
  }
}

// A file has its own CephFS objects: those of the file that takes its name are on other OSDs, which were not queried.
TEST_F(Changes, that_move_data_forget_which_targets_have_its_objects) {
  make();
  File file = File::open(MPI_COMM_WORLD, path(), Mode::update,
                         {{"layout", "mock:stripe=4KiB,count=2,object=8KiB,objects=100,targets=3"},
                          {"domains", "target"},
                          {"writers", "3"}});
  const Decomposition rows = rows_of(k_y, k_x, part_);
  const auto of_fixed = values<double>(1, 0, part_, k_x), of_more = values<double>(5, 0, part_, k_x);
  file.put(file.find_variable("fixed"), rows, of_fixed);
  file.flush();
  EXPECT_THAT(file.report(), HasSubstr("its first 100 objects on 3 targets"));
  file.put_attribute("/", "long", std::string(15000, 'x'));
  const int more = file.define_variable("more", WINDROW_FLOAT64, {k_y, k_x});
  file.put(more, rows, of_more);
  file.flush();
  EXPECT_THAT(file.report(), HasSubstr("mock: stripe size 4 KiB, stripe count 2, object size 8 KiB\n"));
  EXPECT_THAT(file.report(), testing::Not(HasSubstr("its first")));
  if (size_of() > 1) {
    EXPECT_THAT(file.explain(), HasSubstr("columns of stripes of their own"));
  }
  std::vector<double> read(of_more.size());
  file.get(more, rows, read);
  file.flush();
  EXPECT_EQ(read, of_more);
  file.close();
  expect_made();
}

TEST_F(Changes, of_variables_move_records) {
  for (const char* buffer : {"4MiB", "4096"}) {
    make();
    File file = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"buffer", buffer}});
    const int fixed = file.define_variable("more", WINDROW_FLOAT64, {k_y, k_x});
    const int grows =
        file.define_variable("c", WINDROW_INT16, {0, k_y, k_x}, {{"extendible", "true"}, {"fill_value", "-9"}});
    EXPECT_EQ(file.shape(grows), (std::vector<int64_t>{k_records, k_y, k_x}));
    const Decomposition rows = rows_of(k_y, k_x, part_);
    const auto of_more = values<double>(5, 0, part_, k_x);
    const auto of_c = values<int16_t>(6, k_records, part_, k_x);
    file.put(fixed, rows, of_more);
    file.put_record(grows, k_records, rows, of_c);
    file.close();
    expect_made();
    on_root([&] {
      const int id = open_nc(path());
      EXPECT_EQ(get_nc<double>(id, "more", {0, 0}, {k_y, k_x}), values<double>(5, 0, {0, k_y}, k_x));
      EXPECT_EQ(get_nc<int16_t>(id, "c", {k_records, 0, 0}, {1, k_y, k_x}),
                values<int16_t>(6, k_records, {0, k_y}, k_x));
      EXPECT_EQ(get_nc<int16_t>(id, "c", {2, 0, 0}, {1, k_y, k_x}), std::vector<int16_t>(k_y * k_x, -9));
      EXPECT_NC(ncmpi_close(id));
    });
  }
}

TEST_F(Changes, between_flushes_of_a_new_file_move_too) {
  File file = File::create(MPI_COMM_WORLD, path());
  define_and_write(file);
  file.put_attribute("/", "long", std::string(9000, 'y'));
  file.flush();
  file.sync();  // published
  expect_made();
  file.put_attribute("/", "longer", std::string(30000, 'z'));
  const int late = file.define_variable("late", WINDROW_INT32, {0, k_x}, Options{{"extendible", "true"}});
  const Decomposition same = Decomposition::same(MPI_COMM_WORLD, {k_x});
  const std::vector<int32_t> data(k_x, 5);
  file.put_record(late, 1, same, data);
  file.close();
  expect_made();
  on_root([&] {
    const int id = open_nc(path());
    EXPECT_EQ(get_nc<int32_t>(id, "late", {1, 0}, {1, k_x}), data);
    EXPECT_NC(ncmpi_close(id));
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"file.nc"});
  });
}

TEST_F(Changes, of_names_and_links_of_a_path) {
  make();
  const std::string link = folder_.file("link.nc");
  on_root([&] {
    std::filesystem::create_symlink("file.nc", link);
    std::filesystem::permissions(path(), std::filesystem::perms(0640));
  });
  File file = File::open(MPI_COMM_WORLD, link, Mode::update);
  file.put_attribute("/", "long", std::string(15000, 'x'));
  file.close();
  on_root([&] {
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms(0640));
  });
  expect_made();
}

// The first write of the failing rank is one of the copy: an error on every rank, the file is unchanged, and the change
// can be repeated.
TEST_F(Changes, that_fail_leave_the_file_as_it_was) {
  for (int victim = 0; victim < size_of(); ++victim)
    for (const char* operation : {"write", "read"}) {
      make();
      const std::string before = rank_of() == 0 ? bytes_of_file(path()) : "";
      MPI_Barrier(MPI_COMM_WORLD);
      const std::string fault = "rank=" + std::to_string(victim) + ",operation=" + operation + ",error=io";
      File file =
          File::open(MPI_COMM_WORLD, path(), Mode::update, {{"store", "faulty"}, {"fault", fault}, {"buffer", "4096"}});
      file.put_attribute("/", "long", std::string(15000, 'x'));
      const int code = windrow_flush(file.get());
      expect_same_everywhere(code);
      EXPECT_EQ(code, WINDROW_IO) << operation << " of rank " << victim;
      on_root([&] {
        EXPECT_EQ(bytes_of_file(path()), before);
        EXPECT_EQ(folder_.names(), std::vector<std::string>{"file.nc"});
      });
      // What fits goes into the old file again.
      if (victim == 0)
        file.delete_attribute("/", "long");
      if (victim == 0)
        file.put_attribute("/", "a", "b");
      if (victim == 0)
        file.close();
      else
        file.discard();
      expect_made();
    }
}

// Bytes after the last record of the header belong to no record: elements that no rank writes are zero when the file
// has grown past them.
TEST_F(Changes, nothing_of_a_job_that_was_killed_comes_back) {
  make();
  on_root([&] { std::ofstream(path(), std::ios::binary | std::ios::app) << std::string(3 * k_y * k_x * 6, 'x'); });
  const Decomposition rows = rows_of(k_y, k_x, part_);
  const auto data = values<float>(2, k_records + 1, part_, k_x);
  File file = File::open(MPI_COMM_WORLD, path(), Mode::update);
  file.put_record(file.find_variable("a"), k_records + 1, rows, data);
  file.close();
  expect_made();
  on_root([&] {
    const int id = open_nc(path());
    EXPECT_EQ(get_nc<float>(id, "a", {k_records, 0, 0}, {1, k_y, k_x}), std::vector<float>(k_y * k_x));
    EXPECT_EQ(get_nc<float>(id, "a", {k_records + 1, 0, 0}, {1, k_y, k_x}),
              values<float>(2, k_records + 1, {0, k_y}, k_x));
    EXPECT_EQ(get_nc<int16_t>(id, "b", {k_records, 0, 0}, {2, k_y, k_x}), std::vector<int16_t>(2 * k_y * k_x));
    EXPECT_EQ(get_nc<int8_t>(id, "odd", {k_records, 0}, {2, 5}), std::vector<int8_t>(10));
    EXPECT_NC(ncmpi_close(id));
  });
}

// Nor in what is defined there.
TEST_F(Changes, nothing_of_a_job_that_was_killed_is_in_a_new_variable) {
  File file = File::create(MPI_COMM_WORLD, path());
  file.define_variable("fixed", WINDROW_FLOAT64, {k_y, k_x});
  file.close();
  on_root([&] { std::ofstream(path(), std::ios::binary | std::ios::app) << std::string(3 * k_y * k_x * 8, 'x'); });
  file = File::open(MPI_COMM_WORLD, path(), Mode::update);
  file.define_variable("second", WINDROW_FLOAT64, {k_y, k_x});
  file.define_variable("grows", WINDROW_FLOAT64, {1, k_y, k_x}, {{"extendible", "true"}});
  file.close();
  expect_valid(path());
  on_root([&] {
    const int id = open_nc(path());
    EXPECT_EQ(get_nc<double>(id, "second", {0, 0}, {k_y, k_x}), std::vector<double>(k_y * k_x));
    EXPECT_EQ(get_nc<double>(id, "grows", {0, 0, 0}, {1, k_y, k_x}), std::vector<double>(k_y * k_x));
    EXPECT_NC(ncmpi_close(id));
  });
}

}  // namespace
