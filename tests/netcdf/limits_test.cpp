// SPDX-License-Identifier: BSD-3-Clause
// Objects that netCDF classic, or a version of it, cannot hold: an error on every rank that names the object and an
// alternative. And large objects that it can hold.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <functional>

#include "netcdf.hpp"

namespace {

using namespace windrow_test;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using windrow::Decomposition;
using windrow::File;
using windrow::Mode;
using windrow::Options;

class Limits : public testing::Test {
 protected:
  std::string path() const { return folder_.file("file.nc"); }

  // A call on a new file that fails on all ranks with one message, which is returned.
  std::string refused(int expected, const Options& options, const std::function<void(File&)>& work) const {
    File file = File::create(MPI_COMM_WORLD, path(), options);
    std::string message;
    try {
      work(file);
      ADD_FAILURE() << "was not refused";
    } catch (const windrow::Error& error) {
      EXPECT_EQ(error.code(), expected) << error.what();
      expect_same_everywhere(error.code());
      message = error.what();
    }
    file.discard();
    return message;
  }
  SharedFolder folder_;
};

TEST_F(Limits, of_the_format) {
  const Options none;
  const auto define = [](const char* name, int type, const Options& options) {
    return [=, &options](File& file) { (void)file.define_variable(name, type, {4}, options); };
  };
  const auto unsupported = [&](const std::function<void(File&)>& work) {
    return refused(WINDROW_UNSUPPORTED, {}, work);
  };
  EXPECT_THAT(unsupported([](File& file) { file.define_group("g"); }),
              AllOf(HasSubstr("/g"), HasSubstr("no groups"), HasSubstr("format=hdf5")));
  EXPECT_THAT(unsupported(define("g/v", WINDROW_INT32, none)), HasSubstr("no groups"));
  EXPECT_THAT(unsupported(define("z", WINDROW_COMPLEX64, none)), AllOf(HasSubstr("\"/z\""), HasSubstr("complex64")));
  EXPECT_THAT(unsupported(define("t", WINDROW_BOOL, none)), HasSubstr("bool"));
  EXPECT_THAT(unsupported(define("t", WINDROW_TEXT, none)), HasSubstr("element_bytes"));
  const Options names{{"enumeration", "A=1"}}, filters{{"filters", "deflate:1"}}, chunks{{"chunks", "2"}},
      null{{"null_space", "true"}};
  EXPECT_THAT(unsupported(define("e", WINDROW_INT32, names)), HasSubstr("names of values"));
  EXPECT_THAT(unsupported(define("c", WINDROW_INT32, filters)), HasSubstr("no chunks and no filters"));
  EXPECT_THAT(unsupported(define("c", WINDROW_INT32, chunks)), HasSubstr("no chunks and no filters"));
  EXPECT_THAT(unsupported([](File& file) { file.define_link("l", "/v"); }), HasSubstr("no links"));
  EXPECT_THAT(unsupported([](File& file) {
                (void)file.define_variable("v", WINDROW_INT32, {0, 3});
                file.flush();
              }),
              AllOf(HasSubstr("\"/v\""), HasSubstr("extendible")));
  EXPECT_THAT(unsupported([](File& file) {
                for (const char* name : {"t1", "t2"}) {
                  const int v = file.define_variable(name, WINDROW_INT32, {0, 3}, Options{{"extendible", "true"}});
                  file.name_dimensions(v, {name + std::string("_of"), "x"});
                }
              }),
              AllOf(HasSubstr("t1_of"), HasSubstr("t2_of"), HasSubstr("one unlimited dimension")));
  EXPECT_THAT(refused(WINDROW_BAD_ARGUMENT, {}, define("a b ", WINDROW_INT32, none)), HasSubstr("ends with a blank"));
}

// Other libraries look names up in Unicode's normal form C.
TEST_F(Limits, of_names_are_told_when_they_are_defined) {
  const std::string decomposed = "e\xcc\x81t", composed = "\xc3\xa9t",
                    longer(reinterpret_cast<const char*>(u8"\u0958"));
  std::string many;
  for (int i = 0; i < 80; ++i)
    many += longer;  // twice as long in normal form: 480 bytes
  const auto says = AllOf(HasSubstr(decomposed), HasSubstr("normal form C"),
                          AnyOf(HasSubstr(composed), HasSubstr("without utf8proc")));
  for (const Options& options : {Options{}, Options{{"files", "subfiles(2)"}}}) {
    EXPECT_THAT(refused(WINDROW_BAD_ARGUMENT, options,
                        [&](File& file) { (void)file.define_variable(decomposed, WINDROW_INT32, {4}); }),
                says);
    EXPECT_THAT(refused(WINDROW_BAD_ARGUMENT, options,
                        [&](File& file) { (void)file.define_variable(many, WINDROW_INT32, {4}); }),
                HasSubstr("normal form C"));
    EXPECT_THAT(
        refused(WINDROW_BAD_ARGUMENT, options,
                [&](File& file) { file.name_dimensions(file.define_variable("v", WINDROW_INT32, {4}), {decomposed}); }),
        says);
    EXPECT_THAT(refused(WINDROW_BAD_ARGUMENT, options, [&](File& file) { file.put_attribute("/", decomposed, "t"); }),
                says);
    File file = File::create(MPI_COMM_WORLD, path(), options);
    file.name_dimensions(file.define_variable(composed, WINDROW_INT32, {4}), {composed + "x"});
    file.put_attribute(composed, composed, "t");
    file.close();
    MPI_Barrier(MPI_COMM_WORLD);
    File again = File::open(MPI_COMM_WORLD, path(), windrow::Mode::read);
    EXPECT_EQ(again.find_variable(composed), 0);
    again.close();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Limits, of_versions_name_the_one_that_does) {
  const auto wide = [](File& file) { (void)file.define_variable("w", WINDROW_UINT64, {4}); };
  for (const char* version : {"1", "2"})
    EXPECT_THAT(refused(WINDROW_UNSUPPORTED, {{"netcdf_version", version}}, wide),
                AllOf(HasSubstr("uint64"), HasSubstr("netcdf_version=5")));
  EXPECT_THAT(refused(WINDROW_UNSUPPORTED, {{"netcdf_version", "1"}},
                      [](File& file) { file.put_attribute("/", "n", int64_t{1} << 40); }),
              HasSubstr("netcdf_version=5"));
  const auto far = [](File& file) {
    for (const char* name : {"u", "v"})
      (void)file.define_variable(name, WINDROW_FLOAT64, {200'000'000});
    (void)file.define_variable("last", WINDROW_FLOAT64, {5});
    file.flush();
  };
  EXPECT_THAT(refused(WINDROW_UNSUPPORTED, {{"netcdf_version", "1"}}, far),
              AllOf(HasSubstr("\"last\""), HasSubstr("netcdf_version=2")));
  const auto large = [](File& file) {
    (void)file.define_variable("large", WINDROW_FLOAT64, {800'000'000});
    (void)file.define_variable("last", WINDROW_FLOAT64, {5});
    file.flush();
  };
  EXPECT_THAT(refused(WINDROW_UNSUPPORTED, {{"netcdf_version", "2"}}, large),
              AllOf(HasSubstr("\"large\""), HasSubstr("netcdf_version=5")));
  const auto long_one = [](File& file) {
    (void)file.define_variable("long", WINDROW_INT8, {int64_t{5} << 30});
    file.flush();
  };
  EXPECT_THAT(refused(WINDROW_UNSUPPORTED, {{"netcdf_version", "2"}}, long_one),
              AllOf(HasSubstr("5368709120"), HasSubstr("netcdf_version=5")));
  const auto shorter = [](File& file) {
    (void)file.define_variable("shorter", WINDROW_INT8, {INT32_MAX});
    file.flush();
  };
  EXPECT_THAT(refused(WINDROW_UNSUPPORTED, {{"netcdf_version", "1"}}, shorter),
              AllOf(HasSubstr("2147483647"), HasSubstr("netcdf_version=2")));
}

// A header that the process may not write is refused as such. Nor may it make shared memory of that length, which Open
// MPI would wait for for ever.
TEST_F(Limits, of_the_process_on_files_are_those_of_headers) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{.rlim_cur = 40'000, .rlim_max = before.rlim_max};
  File file = File::create(MPI_COMM_WORLD, path());
  const int v = file.define_variable("v", WINDROW_INT32, {100});
  file.put_attribute("/", "long", std::string(100'000, 'a'));
  const Decomposition rows = Decomposition::rows(MPI_COMM_WORLD, 100);
  const std::vector<int32_t> data(static_cast<size_t>(rows.my_rows().count), 7);
  EXPECT_WINDROW_OK(windrow_put(file.get(), v, rows.get(), data.data()));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(windrow_flush(file.get()), WINDROW_IO);
  EXPECT_THAT(windrow_error_message(), AllOf(HasSubstr("header"), HasSubstr("file too large")));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  file.discard();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// The smallest version that holds the file, with data after 2 and 4 GiB of holes.
TEST_F(Limits, are_met_by_the_version_that_is_chosen) {
  struct Case {
    int64_t hole;
    int type, version;
  };
  for (const Case& each : {Case{10, WINDROW_INT32, 1}, Case{600'000'000, WINDROW_INT32, 2},
                           Case{1'200'000'000, WINDROW_INT32, 5}, Case{10, WINDROW_UINT8, 5}}) {
    File file = File::create(MPI_COMM_WORLD, path());
    const int hole = file.define_variable("hole", WINDROW_INT32, {each.hole});
    const int v = file.define_variable("v", each.type, {10});
    const Decomposition rows = Decomposition::rows(MPI_COMM_WORLD, 10);
    std::vector<int32_t> data;
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < rows.my_rows().count; ++i)
      data.push_back(static_cast<int32_t>(rows.my_rows().first + i + 1));
    for (const int32_t number : data)
      bytes.push_back(static_cast<uint8_t>(number));
    if (each.type == WINDROW_INT32)
      file.write(v, rows, data);
    else
      file.write(v, rows, bytes);
    const std::vector<int32_t> one(1, 9);
    const Decomposition last = Decomposition::same(MPI_COMM_WORLD, {each.hole}, {each.hole - 1}, {1});
    file.put(hole, last, one);
    file.close();
    expect_valid(path());
    on_root([&] {
      std::ifstream stream(path(), std::ios::binary);
      char head[4] = {};
      stream.read(head, sizeof head);
      EXPECT_EQ(static_cast<int>(head[3]), each.version);
      const int id = open_nc(path());
      EXPECT_EQ(get_nc<int32_t>(id, "hole", {each.hole - 1}, {1}), one);
      EXPECT_EQ(get_nc<int32_t>(id, "hole", {0}, {1}), std::vector<int32_t>(1));
      EXPECT_NC(ncmpi_close(id));
    });
    File again = File::open(MPI_COMM_WORLD, path());
    std::vector<int32_t> read(data.size());
    again.get_as(again.find_variable("v"), rows, read);
    again.flush();
    EXPECT_EQ(read, data);
    again.close();
  }
}

TEST_F(Limits, of_a_file_that_exists_are_those_of_its_version) {
  File file = File::create(MPI_COMM_WORLD, path());
  (void)file.define_variable("v", WINDROW_INT32, {4});
  file.close();
  File old = File::open(MPI_COMM_WORLD, path(), Mode::update);
  const int64_t shape[1] = {4};
  int variable = -1;
  EXPECT_EQ(windrow_define_variable(old.get(), "w", WINDROW_INT64, 1, shape, &variable), WINDROW_UNSUPPORTED);
  EXPECT_THAT(windrow_error_message(), HasSubstr("netcdf_version=5"));
  old.close();
  File raised = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"netcdf_version", "5"}});
  EXPECT_WINDROW_OK(windrow_define_variable(raised.get(), "w", WINDROW_INT64, 1, shape, &variable));
  raised.close();
  expect_valid(path());
  on_root([&] { EXPECT_EQ(bytes_of_file(path())[3], 5); });
}

}  // namespace
