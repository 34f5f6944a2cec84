// SPDX-License-Identifier: BSD-3-Clause
// Variables that are called like dimensions: coordinates of one or more dimensions, and others that have only the name.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>

#include "../capi/files.hpp"
#include "../format/foreign.hpp"

namespace {

using namespace windrow_test;
using testing::ElementsAre;

class SameNames : public Files {
 protected:
  static int make(windrow_file* file, const char* path, const std::vector<int64_t>& shape) {
    int variable = -1;
    EXPECT_WINDROW_OK(
        windrow_define_variable(file, path, WINDROW_FLOAT32, static_cast<int>(shape.size()), shape.data(), &variable));
    return variable;
  }
  static void name(windrow_file* file, int variable, std::vector<const char*> names) {
    EXPECT_WINDROW_OK(windrow_name_dimensions(file, variable, names.data()));
  }
  static void write(windrow_file* file, int variable, const std::vector<int64_t>& shape, float from) {
    int64_t elements = 1;
    for (const int64_t extent : shape)
      elements *= extent;
    std::vector<float> values(static_cast<size_t>(elements));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = from + static_cast<float>(i);
    windrow_decomposition* same = nullptr;
    EXPECT_WINDROW_OK(
        windrow_same(MPI_COMM_WORLD, static_cast<int>(shape.size()), shape.data(), nullptr, nullptr, &same));
    EXPECT_WINDROW_OK(windrow_write(file, variable, same, values.data()));
    windrow_decomposition_free(same);
  }
  static void expect(windrow_file* file, const char* path, const std::vector<std::string>& names, float from) {
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, path, &variable));
    windrow_variable_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
    EXPECT_EQ(std::vector<std::string>(info.dimension_names, info.dimension_names + info.ndims), names) << path;
    int64_t elements = 1;
    for (int i = 0; i < info.ndims; ++i)
      elements *= info.shape[i];
    std::vector<float> values(static_cast<size_t>(elements), -1), wanted;
    for (size_t i = 0; i < values.size(); ++i)
      wanted.push_back(from + static_cast<float>(i));
    windrow_decomposition* same = nullptr;
    EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, info.ndims, info.shape, nullptr, nullptr, &same));
    EXPECT_WINDROW_OK(windrow_read(file, variable, same, values.data()));
    EXPECT_EQ(values, wanted) << path;
    windrow_decomposition_free(same);
  }
  static std::vector<std::pair<std::string, int64_t>> dimensions(windrow_file* file) {
    std::vector<std::pair<std::string, int64_t>> found;
    for (int i = 0; i < windrow_dimension_count(file); ++i) {
      const char* path = "";
      int64_t length = -1;
      EXPECT_WINDROW_OK(windrow_inquire_dimension(file, i, &path, &length));
      found.emplace_back(path, length);
    }
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_P(SameNames, in_the_file_that_defines_them_and_when_it_is_opened_or_changed) {
  windrow_file* file = create(path());
  EXPECT_WINDROW_OK(windrow_define_dimension(file, "unused", 6));
  EXPECT_WINDROW_OK(windrow_define_dimension(file, "scalar", 5));
  EXPECT_WINDROW_OK(windrow_define_dimension(file, "late", 4));
  const int time = make(file, "time", {2}), bounds = make(file, "bounds", {2, 3}),
            station = make(file, "station", {4, 5});
  const int x = make(file, "x", {3, 2}), field = make(file, "field", {4, 3, 2}), scalar = make(file, "scalar", {}),
            unused = make(file, "unused", {});
  const int late = make(file, "late", {4}), other = make(file, "other", {5});
  EXPECT_EQ(windrow_define_dimension(file, "unused", 6), WINDROW_EXISTS);
  const int64_t shape[1] = {1};
  int again = -1;
  EXPECT_EQ(windrow_define_variable(file, "scalar", WINDROW_INT8, 1, shape, &again), WINDROW_EXISTS);
  name(file, bounds, {"time", "bounds"});
  name(file, station, {"station", "length"});
  name(file, x, {"bounds", "x"});
  name(file, field, {"station", "bounds", "time"});
  name(file, late, {"late"});
  name(file, other, {"scalar"});
  EXPECT_EQ(windrow_define_dimension(file, "time", 2), WINDROW_EXISTS);
  EXPECT_EQ(windrow_define_dimension(file, "station", 4), WINDROW_EXISTS);
  write(file, time, {2}, 1);
  write(file, bounds, {2, 3}, 10);
  write(file, station, {4, 5}, 20);
  write(file, x, {3, 2}, 50);
  write(file, field, {4, 3, 2}, 60);
  write(file, scalar, {}, 90);
  write(file, unused, {}, 91);
  write(file, late, {4}, 92);
  write(file, other, {5}, 97);
  const auto look = [](windrow_file* at) {
    expect(at, "time", {"time"}, 1);
    expect(at, "bounds", {"time", "bounds"}, 10);
    expect(at, "station", {"station", "length"}, 20);
    expect(at, "x", {"bounds", "x"}, 50);
    expect(at, "field", {"station", "bounds", "time"}, 60);
    expect(at, "scalar", {}, 90);
    expect(at, "unused", {}, 91);
    expect(at, "late", {"late"}, 92);
    expect(at, "other", {"scalar"}, 97);
  };
  using testing::Pair;
  const auto are_there =
      ElementsAre(Pair("/bounds", 3), Pair("/length", 5), Pair("/scalar", 5), Pair("/unused", 6), Pair("/x", 2));
  look(file);
  EXPECT_THAT(dimensions(file), are_there);
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(path());
  look(file);
  EXPECT_THAT(dimensions(file), are_there);
  ASSERT_WINDROW_OK(windrow_close(file));

  file = open(path(), WINDROW_UPDATE);
  const int more = make(file, "more", {3, 5}), length = make(file, "length", {3, 5});
  name(file, length, {"bounds", "length"});
  name(file, more, {"bounds", "length"});
  write(file, more, {3, 5}, 200);
  write(file, length, {3, 5}, 300);
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "bounds", "of", "time"));
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(path());
  look(file);
  expect(file, "more", {"bounds", "length"}, 200);
  expect(file, "length", {"bounds", "length"}, 300);
  EXPECT_EQ(windrow_attribute_count(file, "bounds"), 1);
  EXPECT_THAT(dimensions(file), are_there);
  ASSERT_WINDROW_OK(windrow_close(file));
}

// A variable that has the name of a dimension which others have already is not moved: it keeps what it is in memory and
// in the file.
TEST_P(SameNames, of_a_dimension_that_has_users) {
  windrow_file* file = create(path());
  EXPECT_WINDROW_OK(windrow_define_dimension(file, "n", 3));
  const int user = make(file, "user", {3});
  name(file, user, {"n"});
  const int n = make(file, "n", {3});
  name(file, n, {"n"});
  write(file, n, {3}, 4);
  write(file, user, {3}, 7);
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(path());
  expect(file, "n", {"n"}, 4);
  expect(file, "user", {"n"}, 7);
  EXPECT_EQ(windrow_dimension_count(file), 0);
  ASSERT_WINDROW_OK(windrow_close(file));
}

// netCDF numbers scales that say no number as it finds them: those that are there keep theirs when Windrow adds some,
// in a group and below it.
TEST_P(SameNames, of_dimensions_that_are_added_to_a_file_of_netcdf) {
  if (GetParam() != ".h5")
    return;
  const auto python = [&](const char* script) {
    int exit_code = 0;
    if (rank_of() == 0) {
      const windrow::test::Output output = windrow::test::run_h5py(
          std::string("try:\n    import netCDF4\nexcept ImportError:\n    sys.exit(77)\n") + script, path());
      exit_code = output.exit_code;
      EXPECT_TRUE(exit_code == 0 || WEXITSTATUS(exit_code) == 77) << output.text;
    }
    MPI_Bcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return exit_code == 0;
  };
  if (!python(R"(
with netCDF4.Dataset(path, "w") as f:
    f.createDimension("time", None)
    f.createVariable("time", "f4", ("time",))[:] = [1, 2]
    f.createDimension("x", 3)
    f.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
    g = f.createGroup("sub")
    g.createDimension("q", 4)
    g.createVariable("q", "f4", ("q",))[:] = 5
    g.createVariable("v", "f4", ("x", "q"))[:] = 6
with h5py.File(path, "a") as f:
    for name in ("time", "x", "sub/q"):
        f[name].attrs.pop("_Netcdf4Dimid", None)  # which netCDF leaves out itself where the order says the same
)"))
    GTEST_SKIP() << "no netCDF4";
  windrow_file* file = open(path(), WINDROW_UPDATE);
  const int more = make(file, "more", {3, 5}), own = make(file, "sub/fresh", {6, 4});
  name(file, more, {"x", "fresh"});
  name(file, own, {"fresh6", "inner"});
  write(file, more, {3, 5}, 200);
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(path());
  expect(file, "more", {"x", "fresh"}, 200);
  ASSERT_WINDROW_OK(windrow_close(file));
  EXPECT_TRUE(python(R"(
with netCDF4.Dataset(path, "a") as f:
    assert list(f.variables) == ["time", "x", "more"] and list(f["sub"].variables) == ["q", "v", "fresh"]
    assert [f[name].dimensions for name in ("time", "x", "more", "sub/q", "sub/v", "sub/fresh")] == [
        ("time",), ("x",), ("x", "fresh"), ("q",), ("x", "q"), ("fresh6", "inner")], [
        f[name].dimensions for name in ("sub/v", "sub/fresh")]
    assert (f["more"][:] == np.arange(200, 215).reshape(3, 5)).all() and (f["sub/v"][:] == 6).all()
    f.createVariable("newest", "i4", ("fresh", "x"))[:] = 1
    f["time"][3] = 4
with netCDF4.Dataset(path) as f:
    assert f["newest"].dimensions == ("fresh", "x") and len(f.dimensions["time"]) == 4
)"));
}

// Each new group was looked for from the root, and all its parents in a list: 1000 in each other took 12 s. A path has
// 200 names at most.
TEST_P(SameNames, and_a_thousand_groups_of_two_hundred_in_each_other) {
  windrow_file* file = create(path());
  const double start = MPI_Wtime();
  for (int branch = 0; branch < 5; ++branch) {
    std::string path = "/b" + std::to_string(branch);
    for (int i = 1; i < 200; ++i)
      path += "/d";
    const int code = windrow_define_group(file, path.c_str());
    EXPECT_EQ(code, GetParam() == ".nc" ? WINDROW_UNSUPPORTED : WINDROW_OK);
  }
  EXPECT_LT(MPI_Wtime() - start, 6);
  ASSERT_WINDROW_OK(windrow_close(file));
}

// HDF5 counts the bytes of a link's target in 16 bits.
TEST_P(SameNames, not_those_of_links_to_what_is_too_far) {
  const bool is_hdf5 = GetParam() == ".h5", has_links = GetParam() != ".nc";
  const int if_it_has_links = has_links ? WINDROW_OK : WINDROW_UNSUPPORTED;
  const std::string longest(65535, 'n');
  windrow_file* file = create(path());
  write(file, make(file, "v", {2}), {2}, 1);
  EXPECT_EQ(windrow_define_link(file, "longest", longest.c_str()), if_it_has_links);
  for (const size_t length : {65536U, 70000U, 200000U}) {
    const std::string link = "link" + std::to_string(length), target(length, 'n');
    const int code = windrow_define_link(file, link.c_str(), target.c_str());
    EXPECT_EQ(code, is_hdf5 ? WINDROW_BAD_ARGUMENT : if_it_has_links);
    expect_same_everywhere(code);
  }
  if (is_hdf5) {  // a variable that gives way to a dimension has a longer name in the file
    const std::string name = "/" + std::string(65530, 'd');
    EXPECT_WINDROW_OK(windrow_define_dimension(file, name.c_str(), 3));
    EXPECT_WINDROW_OK(windrow_define_link(file, "dimension", name.c_str()));
    make(file, name.c_str(), {});
    EXPECT_EQ(windrow_define_link(file, "variable", name.c_str()), WINDROW_BAD_ARGUMENT);
  }
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(path());
  expect(file, "v", {has_links ? "" : "dim_2"}, 1);
  int found = 0;
  for (int i = 0; i < windrow_link_count(file); ++i) {
    const char *link = "", *target = "";
    ASSERT_WINDROW_OK(windrow_inquire_link(file, i, &link, &target));
    if (std::string(link) != "/longest")
      continue;
    EXPECT_EQ(target, longest);
    ++found;
  }
  EXPECT_EQ(found, has_links ? 1 : 0);
  ASSERT_WINDROW_OK(windrow_close(file));
}

std::vector<std::string> endings() {
  std::vector<std::string> list{".h5", ".raw"};
  if (windrow_has("netcdf") != 0)
    list.push_back(".nc");
  return list;
}

INSTANTIATE_TEST_SUITE_P(Formats, SameNames, testing::ValuesIn(endings()),
                         [](const auto& each) { return each.param.substr(1); });

}  // namespace
