// SPDX-License-Identifier: BSD-3-Clause
// NetCDF classic files, written and read by any number of ranks, in the hands of PnetCDF and from them.
#include <gmock/gmock.h>

#include "format/netcdf/header.hpp"
#include "netcdf.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using windrow::Decomposition;
using windrow::File;
using windrow::Options;

constexpr int64_t k_y = 7, k_x = 5, k_records = 4;

// Every external type; numbers of variables are their places here.
struct Kind {
  const char* name;
  int type;
  int netcdf;
};
const std::vector<Kind> k_kinds{{"b", WINDROW_INT8, NC_BYTE},      {"s", WINDROW_INT16, NC_SHORT},
                                {"i", WINDROW_INT32, NC_INT},      {"f", WINDROW_FLOAT32, NC_FLOAT},
                                {"d", WINDROW_FLOAT64, NC_DOUBLE}, {"ub", WINDROW_UINT8, NC_UBYTE},
                                {"us", WINDROW_UINT16, NC_USHORT}, {"ui", WINDROW_UINT32, NC_UINT},
                                {"l", WINDROW_INT64, NC_INT64},    {"ul", WINDROW_UINT64, NC_UINT64}};

// Calls work(T) with the C type of a kind.
template <class Work>
void with_type(int type, Work&& work) {
  switch (type) {
    case WINDROW_INT8:
      return work(int8_t{});
    case WINDROW_INT16:
      return work(int16_t{});
    case WINDROW_INT32:
      return work(int32_t{});
    case WINDROW_FLOAT32:
      return work(float{});
    case WINDROW_FLOAT64:
      return work(double{});
    case WINDROW_UINT8:
      return work(uint8_t{});
    case WINDROW_UINT16:
      return work(uint16_t{});
    case WINDROW_UINT32:
      return work(uint32_t{});
    case WINDROW_INT64:
      return work(int64_t{});
    default:
      return work(uint64_t{});
  }
}

size_t kinds_of(int version) {
  return version == 5 ? k_kinds.size() : 5;
}

class NetcdfFiles : public testing::TestWithParam<int> {
 protected:
  std::string path() const { return folder_.file("file.nc"); }
  Options options(std::initializer_list<std::pair<const char*, std::string>> more = {}) const {
    Options all(more);
    all.set("netcdf_version", std::to_string(GetParam()));
    return all;
  }
  SharedFolder folder_;
  Part part_ = part_of(k_y);
};

// One variable of each type without records, and one that grows.
void write_kinds(const std::string& path, int version, const Options& options, Part part) {
  File file = File::create(MPI_COMM_WORLD, path, options);
  const Decomposition rows = rows_of(k_y, k_x, part);
  const Options grows{{"extendible", "true"}};
  std::vector<int> fixed, growing;
  for (size_t i = 0; i < kinds_of(version); ++i) {
    fixed.push_back(file.define_variable(k_kinds[i].name, k_kinds[i].type, {k_y, k_x}));
    growing.push_back(file.define_variable(k_kinds[i].name + std::string("_t"), k_kinds[i].type, {0, k_y, k_x}, grows));
    file.name_dimensions(growing.back(), {"time", "y", "x"});
  }
  for (size_t i = 0; i < fixed.size(); ++i)
    with_type(k_kinds[i].type, [&](auto zero) {
      using T = decltype(zero);
      const std::vector<T> data = values<T>(static_cast<int>(i), 0, part, k_x);
      file.write(fixed[i], rows, data);
      std::vector<std::vector<T>> records;
      for (int64_t r = 0; r < k_records; ++r)
        records.push_back(values<T>(static_cast<int>(i), r, part, k_x));
      for (int64_t r = 0; r < k_records; ++r)
        file.put_record(growing[i], r, rows, records[static_cast<size_t>(r)]);
      file.flush();
    });
  file.put_attribute("/", "title", "a test");
  file.put_attribute("f", "range", std::vector<float>{-1.5F, 2.5F});
  file.put_attribute("s_t", "scale", 0.25);
  file.close();
}

TEST_P(NetcdfFiles, are_read_by_pnetcdf) {
  write_kinds(path(), GetParam(), options(), part_);
  expect_valid(path());
  on_root([&] {
    EXPECT_EQ(static_cast<int>(bytes_of_file(path())[3]), GetParam());
    const int id = open_nc(path());
    MPI_Offset records = 0;
    int unlimited = -1;
    EXPECT_NC(ncmpi_inq_unlimdim(id, &unlimited));
    EXPECT_NC(ncmpi_inq_dimlen(id, unlimited, &records));
    EXPECT_EQ(records, k_records);
    for (size_t i = 0; i < kinds_of(GetParam()); ++i)
      with_type(k_kinds[i].type, [&](auto zero) {
        using T = decltype(zero);
        const auto number = static_cast<int>(i);
        EXPECT_EQ(get_nc<T>(id, k_kinds[i].name, {0, 0}, {k_y, k_x}), values<T>(number, 0, {0, k_y}, k_x))
            << k_kinds[i].name;
        for (int64_t r = 0; r < k_records; ++r)
          EXPECT_EQ(get_nc<T>(id, k_kinds[i].name + std::string("_t"), {r, 0, 0}, {1, k_y, k_x}),
                    values<T>(number, r, {0, k_y}, k_x))
              << k_kinds[i].name;
      });
    char title[16] = {};
    EXPECT_NC(ncmpi_get_att_text(id, NC_GLOBAL, "title", title));
    EXPECT_STREQ(title, "a test");
    EXPECT_NC(ncmpi_close(id));
  });
}

void expect_kinds(const std::string& path, int version, Part part) {
  File file = File::open(MPI_COMM_WORLD, path);
  const Decomposition rows = rows_of(k_y, k_x, part), all = rows_of_all(k_records, k_y, k_x, part);
  for (size_t i = 0; i < kinds_of(version); ++i)
    with_type(k_kinds[i].type, [&](auto zero) {
      using T = decltype(zero);
      const auto number = static_cast<int>(i);
      const int fixed = file.find_variable(k_kinds[i].name),
                growing = file.find_variable(k_kinds[i].name + std::string("_t"));
      EXPECT_EQ(file.variable(fixed).type, k_kinds[i].type);
      EXPECT_EQ(file.variable(growing).extendible, 1);
      EXPECT_EQ(file.shape(growing), (std::vector<int64_t>{k_records, k_y, k_x}));
      EXPECT_EQ(file.dimension_names(growing), (std::vector<std::string>{"time", "y", "x"}));
      std::vector<T> read(static_cast<size_t>(part.rows * k_x)), expected,
          whole(static_cast<size_t>(k_records * part.rows * k_x));
      file.get(fixed, rows, read);
      file.get(growing, all, whole);  // records of several variables, whole ones and single ones, in one plan
      std::vector<std::vector<T>> single(k_records, std::vector<T>(read.size()));
      for (int64_t r = 0; r < k_records; ++r)
        file.get_record(growing, r, rows, single[static_cast<size_t>(r)]);
      file.flush();
      EXPECT_EQ(read, values<T>(number, 0, part, k_x)) << k_kinds[i].name;
      for (int64_t r = 0; r < k_records; ++r) {
        const auto record = values<T>(number, r, part, k_x);
        EXPECT_EQ(single[static_cast<size_t>(r)], record) << k_kinds[i].name << " record " << r;
        expected.insert(expected.end(), record.begin(), record.end());
      }
      EXPECT_EQ(whole, expected) << k_kinds[i].name;
    });
  file.close();
}

TEST_P(NetcdfFiles, are_read_again) {
  write_kinds(path(), GetParam(), options(), part_);
  expect_kinds(path(), GetParam(), part_);
}

TEST_P(NetcdfFiles, of_pnetcdf_are_read_and_recognised_whatever_they_are_called) {
  const std::string other = folder_.file("of another.data");
  on_root([&] {
    const int flag = GetParam() == 5 ? NC_64BIT_DATA : GetParam() == 2 ? NC_64BIT_OFFSET : 0;
    int id = -1, dimensions[3] = {};
    EXPECT_NC(ncmpi_create(MPI_COMM_SELF, other.c_str(), NC_CLOBBER | flag, MPI_INFO_NULL, &id));
    EXPECT_NC(ncmpi_def_dim(id, "time", NC_UNLIMITED, &dimensions[0]));
    EXPECT_NC(ncmpi_def_dim(id, "y", k_y, &dimensions[1]));
    EXPECT_NC(ncmpi_def_dim(id, "x", k_x, &dimensions[2]));
    std::vector<int> fixed, growing;
    for (size_t i = 0; i < kinds_of(GetParam()); ++i) {
      EXPECT_NC(ncmpi_def_var(id, k_kinds[i].name, k_kinds[i].netcdf, 2, dimensions + 1, &fixed.emplace_back()));
      EXPECT_NC(ncmpi_def_var(id, (k_kinds[i].name + std::string("_t")).c_str(), k_kinds[i].netcdf, 3, dimensions,
                              &growing.emplace_back()));
    }
    EXPECT_NC(ncmpi__enddef(id, 777, 512, 100, 1024));
    EXPECT_NC(ncmpi_begin_indep_data(id));
    for (size_t i = 0; i < fixed.size(); ++i)
      with_type(k_kinds[i].type, [&](auto zero) {
        using T = decltype(zero);
        for (MPI_Offset r = 0; r < k_records; ++r) {
          const auto data = values<T>(static_cast<int>(i), r, {0, k_y}, k_x);
          const MPI_Offset start[3] = {r, 0, 0}, count[3] = {1, k_y, k_x};
          if (r == 0) {
            EXPECT_NC(ncmpi_put_vara(id, fixed[i], start + 1, count + 1, data.data(), k_y * k_x, mpi_type<T>()));
          }
          EXPECT_NC(ncmpi_put_vara(id, growing[i], start, count, data.data(), k_y * k_x, mpi_type<T>()));
        }
      });
    EXPECT_NC(ncmpi_close(id));
  });
  expect_kinds(other, GetParam(), part_);
}

INSTANTIATE_TEST_SUITE_P(versions, NetcdfFiles, testing::Values(1, 2, 5),
                         [](const auto& version) { return "cdf" + std::to_string(version.param); });

class NetcdfFile : public testing::Test {
 protected:
  std::string path() const { return folder_.file("file.nc"); }
  SharedFolder folder_;
  Part part_ = part_of(k_y);
};

TEST_F(NetcdfFile, holds_what_any_strategy_writes) {
  const std::vector<std::vector<std::pair<const char*, std::string>>> strategies{
      {},
      {{"strategy", "two-phase"}, {"buffer", "4096"}, {"align", "4096"}},
      {{"strategy", "two-phase"}, {"access", "sieve"}, {"writers", "2"}},
      {{"strategy", "scorpio"}, {"gather", "team(2)"}, {"buffer", "4096"}},
      {{"strategy", "list"}},
      {{"io_thread", "on"}, {"direct_bytes", "64"}}};
  std::string first;
  constexpr int64_t k_ny = 13, k_nx = 37;
  const Part part = part_of(k_ny);
  for (const auto& strategy : strategies) {
    Options options;
    for (const auto& [key, text] : strategy)
      options.set(key, text);
    File file = File::create(MPI_COMM_WORLD, path(), options);
    const Options grows{{"extendible", "true"}}, filled{{"fill_value", "-7.5"}},
        both{{"extendible", "true"}, {"fill_value", "-3"}};
    const int fixed = file.define_variable("fixed", WINDROW_FLOAT64, {k_ny, k_nx});
    const int holes = file.define_variable("holes", WINDROW_FLOAT32, {k_ny, k_nx}, filled);
    const int a = file.define_variable("a", WINDROW_INT16, {0, k_ny, k_nx}, grows);
    const int b = file.define_variable("b", WINDROW_FLOAT64, {0, k_ny, k_nx}, both);
    (void)file.define_variable("z", WINDROW_INT16, {0, k_ny, k_nx}, grows);
    const int c = file.define_variable("c", WINDROW_INT8, {0, k_ny, k_nx}, both);
    const Decomposition rows = rows_of(k_ny, k_nx, part), whole = rows_of_all(3, k_ny, k_nx, part);
    const Part some{part.first, part.rows / 2};
    const Decomposition half = rows_of(k_ny, k_nx, some);
    const auto of_fixed = values<double>(1, 0, part, k_nx);
    const auto of_holes = values<float>(2, 0, some, k_nx);
    const auto of_a = values<int16_t>(3, 2, part, k_nx);
    const auto of_c = values<int8_t>(5, 1, some, k_nx);
    file.put(fixed, rows, of_fixed);
    file.put(holes, half, of_holes);
    file.put_record(a, 2, rows, of_a);  // makes b and c as long
    file.put_record(c, 1, half, of_c);
    file.flush();
    EXPECT_EQ(file.shape(b), (std::vector<int64_t>{3, k_ny, k_nx}));
    std::vector<double> of_b;
    for (int64_t r = 0; r < 3; ++r) {
      const auto record = values<double>(4, r, part, k_nx);
      of_b.insert(of_b.end(), record.begin(), record.end());
    }
    // All records of several variables in one plan, which are interleaved, with a part of a variable that does not
    // grow.
    std::vector<int16_t> of_whole_a;
    for (int64_t r = 0; r < 3; ++r) {
      const auto record = values<int16_t>(3, r, part, k_nx);
      of_whole_a.insert(of_whole_a.end(), record.begin(), record.end());
    }
    file.put(b, whole, of_b);
    file.put(a, whole, of_whole_a);
    file.put(fixed, half, of_fixed);
    file.flush_begin();
    file.flush_end();
    std::vector<double> read_b(of_b.size()), read_fixed(of_fixed.size());
    std::vector<int16_t> read_a(of_whole_a.size()), read_record(of_a.size());
    file.get(a, whole, read_a);
    file.get(b, whole, read_b);
    file.get_record(a, 1, rows, read_record);
    file.get(fixed, rows, read_fixed);
    file.flush();
    EXPECT_EQ(read_a, of_whole_a);
    EXPECT_EQ(read_b, of_b);
    EXPECT_EQ(read_fixed, of_fixed);
    EXPECT_EQ(read_record, values<int16_t>(3, 1, part, k_nx));
    file.close();
    expect_valid(path());
    on_root([&] {
      const int id = open_nc(path());
      EXPECT_EQ(get_nc<double>(id, "fixed", {0, 0}, {k_ny, k_nx}), values<double>(1, 0, {0, k_ny}, k_nx));
      for (int64_t r = 0; r < 3; ++r)
        EXPECT_EQ(get_nc<int16_t>(id, "a", {r, 0, 0}, {1, k_ny, k_nx}), values<int16_t>(3, r, {0, k_ny}, k_nx)) << r;
      EXPECT_EQ(get_nc<int16_t>(id, "z", {0, 0, 0}, {3, k_ny, k_nx}), std::vector<int16_t>(3 * k_ny * k_nx))
          << "zeros where nobody writes";
      EXPECT_EQ(get_nc<int8_t>(id, "c", {0, 0, 0}, {1, k_ny, k_nx}), std::vector<int8_t>(k_ny * k_nx, -3)) << "filled";
      for (int64_t r = 0; r < 3; ++r)
        EXPECT_EQ(get_nc<double>(id, "b", {r, 0, 0}, {1, k_ny, k_nx}), values<double>(4, r, {0, k_ny}, k_nx)) << r;
      const auto holes_read = get_nc<float>(id, "holes", {0, 0}, {k_ny, k_nx});
      EXPECT_EQ(holes_read[0], part.rows > 1 ? values<float>(2, 0, some, k_nx)[0] : -7.5F);
      EXPECT_EQ(holes_read.back(), -7.5F);
      int variable = -1;
      double fill = 0;
      EXPECT_NC(ncmpi_inq_varid(id, "b", &variable));
      EXPECT_NC(ncmpi_get_att_double(id, variable, "_FillValue", &fill));
      EXPECT_EQ(fill, -3);
      EXPECT_NC(ncmpi_close(id));
      const std::string bytes = bytes_of_file(path());
      if (first.empty())
        first = bytes;
      EXPECT_TRUE(bytes == first) << "the same bytes, whatever the strategy";
    });
  }
}

TEST_F(NetcdfFile, of_one_growing_variable_has_no_padding) {
  constexpr int64_t k_nx = 3;  // of int16: 6 bytes a record
  const Part part = part_of(k_nx);
  {
    File file = File::create(MPI_COMM_WORLD, path());
    const int v = file.define_variable("v", WINDROW_INT16, {0, k_nx}, Options{{"extendible", "true"}});
    const Decomposition mine = Decomposition::block(MPI_COMM_WORLD, {k_nx}, {part.first}, {part.rows});
    std::vector<std::vector<int16_t>> data;
    for (int16_t r = 0; r < 5; ++r) {
      data.emplace_back();
      for (int64_t x = part.first; x < part.first + part.rows; ++x)
        data.back().push_back(static_cast<int16_t>(100 * r + x));
    }
    for (int64_t r = 0; r < 5; ++r)
      file.put_record(v, r, mine, data[static_cast<size_t>(r)]);
    file.close();
  }
  expect_valid(path());
  on_root([&] {
    const int id = open_nc(path());
    MPI_Offset record = 0;
    EXPECT_NC(ncmpi_inq_recsize(id, &record));
    EXPECT_EQ(record, 6);
    EXPECT_EQ(get_nc<int16_t>(id, "v", {0, 0}, {5, k_nx}),
              (std::vector<int16_t>{0, 1, 2, 100, 101, 102, 200, 201, 202, 300, 301, 302, 400, 401, 402}));
    EXPECT_NC(ncmpi_close(id));
  });
  File file = File::open(MPI_COMM_WORLD, path());
  std::vector<int16_t> read(15);
  file.get(file.find_variable("v"), Decomposition::same(MPI_COMM_WORLD, {5, k_nx}), read);
  file.flush();
  EXPECT_EQ(read[14], 402);
  file.close();
}

TEST_F(NetcdfFile, may_hold_nothing) {
  File::create(MPI_COMM_WORLD, path()).close();
  expect_valid(path());
  File file = File::open(MPI_COMM_WORLD, path());
  EXPECT_EQ(file.variable_count(), 0);
  file.close();
  File grows = File::create(MPI_COMM_WORLD, path());
  const int v = grows.define_variable("v", WINDROW_FLOAT64, {0, 4}, Options{{"extendible", "true"}});
  (void)grows.define_variable("scalar", WINDROW_INT32, {});
  grows.close();
  expect_valid(path());
  File again = File::open(MPI_COMM_WORLD, path());
  EXPECT_EQ(again.shape(v), (std::vector<int64_t>{0, 4}));
  again.close();
}

TEST_F(NetcdfFile, has_text_as_characters) {
  constexpr int64_t k_names = 6, k_length = 8;
  const Part part = part_of(k_names);
  std::string mine;
  for (int64_t i = part.first; i < part.first + part.rows; ++i) {
    std::string name = "name" + std::to_string(i);
    name.resize(k_length, '\0');
    mine += name;
  }
  {
    File file = File::create(MPI_COMM_WORLD, path());
    const int names =
        file.define_variable("names", WINDROW_TEXT, {k_names}, Options{{"element_bytes", std::to_string(k_length)}});
    const Decomposition rows = Decomposition::rows(MPI_COMM_WORLD, k_names, part.rows);
    windrow::check(windrow_write(file.get(), names, rows.get(), mine.data()));
    file.put_attribute("names", "empty", "");
    file.close();
  }
  expect_valid(path());
  on_root([&] {
    const int id = open_nc(path());
    int dimension = -1;
    EXPECT_NC(ncmpi_inq_dimid(id, "string8", &dimension));
    const auto read = get_nc<char>(id, "names", {2, 0}, {1, k_length});
    EXPECT_STREQ(read.data(), "name2");
    EXPECT_NC(ncmpi_close(id));
  });
  File file = File::open(MPI_COMM_WORLD, path());
  const auto info = file.variable(file.find_variable("names"));
  EXPECT_EQ(info.type, WINDROW_TEXT);
  EXPECT_EQ(info.element_bytes, k_length);
  EXPECT_EQ(info.ndims, 1);
  EXPECT_EQ(file.attribute_text("names", "empty"), std::vector<std::string>{""});
  file.close();
}

TEST_F(NetcdfFile, has_room_and_alignment_as_asked_for) {
  File file = File::create(MPI_COMM_WORLD, path(),
                           {{"header_room", "100000"}, {"alignment", "65536"}, {"record_alignment", "1048576"}});
  for (const char* name : {"v", "w"})
    (void)file.define_variable(name, WINDROW_INT8, {100});
  const int r = file.define_variable("r", WINDROW_INT32, {0, 10}, Options{{"extendible", "true"}});
  const Decomposition same = Decomposition::same(MPI_COMM_WORLD, {10});
  const std::vector<int32_t> data(10, 1);
  file.put_record(r, 0, same, data);
  file.sync();
  EXPECT_EQ(file.variable(0).offset, 131072);
  EXPECT_EQ(file.variable(1).offset, 196608);
  EXPECT_EQ(file.variable(2).offset, 1048576);
  file.close();
  expect_valid(path());
}

TEST_F(NetcdfFile, has_alignments_that_are_no_multiple_of_four) {
  File file = File::create(MPI_COMM_WORLD, path(), {{"alignment", "7"}, {"record_alignment", "10"}});
  for (const char* name : {"v", "w"})
    (void)file.define_variable(name, WINDROW_INT8, {101});
  (void)file.define_variable("r", WINDROW_INT32, {0, 10}, Options{{"extendible", "true"}});
  file.sync();
  EXPECT_EQ(file.variable(0).offset % 7, 0);
  EXPECT_EQ(file.variable(1).offset % 7, 0);
  EXPECT_EQ(file.variable(2).offset % 10, 0);
  file.close();
  expect_valid(path());
  EXPECT_THROW(File::create(MPI_COMM_WORLD, path(), {{"alignment", "2TiB"}}), windrow::Error);
}

// The same definitions by PnetCDF, with the alignments requested of Windrow and as much room after the header.
std::string header_of_pnetcdf(const std::string& path, int version, int64_t header_bytes, int64_t data_begin) {
  int id = -1, t = -1, x = -1;
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "nc_var_align_size", "64");
  const int flag = version == 5 ? NC_64BIT_DATA : version == 2 ? NC_64BIT_OFFSET : 0;
  EXPECT_NC(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | flag, hints, &id));
  MPI_Info_free(&hints);
  EXPECT_NC(ncmpi_def_dim(id, "t", NC_UNLIMITED, &t));
  EXPECT_NC(ncmpi_def_dim(id, "x", k_x, &x));
  const std::vector<double> range{-1.5, 2};
  EXPECT_NC(ncmpi_put_att_text(id, NC_GLOBAL, "title", 5, "title"));
  EXPECT_NC(ncmpi_put_att_double(id, NC_GLOBAL, "range", NC_DOUBLE, 2, range.data()));
  for (size_t i = 0; i < kinds_of(version); ++i) {
    const int both[2] = {t, x};
    int grows = -1, fixed = -1;
    EXPECT_NC(ncmpi_def_var(id, ("grows_" + std::string(k_kinds[i].name)).c_str(), k_kinds[i].netcdf, 2, both, &grows));
    EXPECT_NC(ncmpi_def_var(id, ("fixed_" + std::string(k_kinds[i].name)).c_str(), k_kinds[i].netcdf, 1, &x, &fixed));
    EXPECT_NC(ncmpi_put_att_text(id, fixed, "units", 1, "m"));
  }
  EXPECT_NC(ncmpi__enddef(id, data_begin - header_bytes, 64, 0, 512));
  EXPECT_NC(ncmpi_close(id));
  return bytes_of_file(path).substr(0, static_cast<size_t>(header_bytes));
}

TEST_F(NetcdfFile, has_the_header_that_pnetcdf_writes) {
  for (const int version : {1, 2, 5}) {
    SCOPED_TRACE(version);
    const Options options{{"netcdf_version", std::to_string(version)},
                          {"alignment", "64"},
                          {"record_alignment", "512"},
                          {"header_room", "3000"}};
    File file = File::create(MPI_COMM_WORLD, path(), options);
    file.put_attribute("/", "title", "title");
    file.put_attribute("/", "range", std::vector<double>{-1.5, 2});
    for (size_t i = 0; i < kinds_of(version); ++i) {
      const int grows = file.define_variable("grows_" + std::string(k_kinds[i].name), k_kinds[i].type, {0, k_x},
                                             Options{{"extendible", "true"}});
      file.name_dimensions(grows, {"t", "x"});
      const std::string name = "fixed_" + std::string(k_kinds[i].name);
      file.name_dimensions(file.define_variable(name, k_kinds[i].type, {k_x}), {"x"});
      file.put_attribute(name, "units", "m");
    }
    file.close();
    on_root([&] {
      const std::string bytes = bytes_of_file(path());
      const auto header = windrow::decode_header(std::as_bytes(std::span(bytes)), std::ssize(bytes), "it");
      ASSERT_TRUE(header.ok()) << header.status().message();
      const std::string other = header_of_pnetcdf(folder_.file("other.nc"), version, header.value().bytes,
                                                  header.value().contents.variables[1].offset);
      EXPECT_TRUE(bytes.substr(0, static_cast<size_t>(header.value().bytes)) == other);
    });
  }
}

TEST_F(NetcdfFile, keeps_fill_values_of_others_where_it_grows) {
  on_root([&] {
    int id = -1, dimensions[2] = {}, v = -1, w = -1;
    const float fill = 9.5F;
    EXPECT_NC(ncmpi_create(MPI_COMM_SELF, path().c_str(), NC_CLOBBER, MPI_INFO_NULL, &id));
    EXPECT_NC(ncmpi_def_dim(id, "time", NC_UNLIMITED, &dimensions[0]));
    EXPECT_NC(ncmpi_def_dim(id, "x", k_x, &dimensions[1]));
    EXPECT_NC(ncmpi_def_var(id, "v", NC_FLOAT, 2, dimensions, &v));
    EXPECT_NC(ncmpi_def_var(id, "w", NC_SHORT, 2, dimensions, &w));
    EXPECT_NC(ncmpi_put_att_float(id, v, "_FillValue", NC_FLOAT, 1, &fill));
    EXPECT_NC(ncmpi_enddef(id));
    EXPECT_NC(ncmpi_close(id));
  });
  File file = File::open(MPI_COMM_WORLD, path(), windrow::Mode::update);
  const Decomposition same = Decomposition::same(MPI_COMM_WORLD, {k_x});
  const std::vector<int16_t> data(k_x, 4);
  file.put_record(file.find_variable("w"), 2, same, data);
  file.close();
  expect_valid(path());
  on_root([&] {
    const int id = open_nc(path());
    EXPECT_EQ(get_nc<float>(id, "v", {0, 0}, {3, k_x}), std::vector<float>(3 * k_x, 9.5F));
    EXPECT_EQ(get_nc<int16_t>(id, "w", {2, 0}, {1, k_x}), data);
    EXPECT_NC(ncmpi_close(id));
  });
}

}  // namespace
