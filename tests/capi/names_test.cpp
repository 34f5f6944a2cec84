// SPDX-License-Identifier: BSD-3-Clause
// Links, names of dimensions, attributes that are large or go; and what h5py and netCDF have to do with them.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "../format/foreign.hpp"
#include "files.hpp"

namespace {

using namespace windrow_test;
using testing::ElementsAre;
using testing::HasSubstr;

using Names = Files;

// Runs on rank 0; every rank gets the answer.
void expect_python(const std::string& script, const std::string& path) {
  int exit_code = 0;
  if (rank_of() == 0) {
    const windrow::test::Output output = windrow::test::run_h5py(script, path);
    exit_code = output.exit_code;
    EXPECT_EQ(exit_code, 0) << output.text;
  }
  MPI_Bcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  EXPECT_EQ(exit_code, 0);
}

int kind_of(windrow_file* file, const char* path) {
  int kind = -1;
  EXPECT_WINDROW_OK(windrow_inquire_object(file, path, &kind));
  return kind;
}

std::vector<std::string> dimension_names(windrow_file* file, const char* path) {
  int variable = -1;
  windrow_variable_info info{};
  info.size = sizeof info;
  EXPECT_WINDROW_OK(windrow_find_variable(file, path, &variable));
  EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
  return {info.dimension_names, info.dimension_names + info.ndims};
}

TEST_P(Names, links_are_listed_and_followed) {
  windrow_file* file = create(path());
  write(file, define(file, "group/inner/v"), 7);
  const char* links[][2] = {{"absolute", "/group/inner/v"},
                            {"group/relative", "inner/v"},
                            {"to group", "group"},
                            {"deep/twice", "/absolute"},
                            {"dangling", "/nowhere"},
                            {"a", "/b"},
                            {"b", "/a"},
                            {"größe", "./group/inner/"}};
  for (const auto& [from, to] : links)
    EXPECT_WINDROW_OK(windrow_define_link(file, from, to));
  EXPECT_EQ(windrow_define_link(file, "absolute", "/x"), WINDROW_EXISTS);
  EXPECT_EQ(windrow_define_link(file, "group", "/x"), WINDROW_EXISTS);
  EXPECT_EQ(windrow_define_link(file, "new", ""), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_define_link(file, "", "x"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_define_link(file, "new", nullptr), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_define_group(file, "to group"), WINDROW_EXISTS);
  int variable = -1;
  const int64_t shape[1] = {1};
  EXPECT_EQ(windrow_define_variable(file, "absolute", WINDROW_INT8, 1, shape, &variable), WINDROW_EXISTS);
  EXPECT_EQ(windrow_define_variable(file, "to group/v", WINDROW_INT8, 1, shape, &variable), WINDROW_EXISTS);
  EXPECT_THAT(windrow_error_message(), HasSubstr("\"/to group\" in"));
  if (size_of() > 1) {
    EXPECT_EQ(windrow_define_link(file, "new", rank_of() == 0 ? "x" : "y"), WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  }
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "to group", "through", "a link"));
  const auto check = [&](windrow_file* at) {
    EXPECT_EQ(windrow_link_count(at), 8);
    EXPECT_STREQ(windrow_unsupported_objects(at), "");
    for (const char* name :
         {"absolute", "group/relative", "to group/inner/v", "to group/relative", "deep/twice", "größe/v"})
      expect_numbers(at, name, 7);
    int found = -1;
    for (const char* name : {"dangling", "a", "b/c", "to group/nothing"})
      EXPECT_EQ(windrow_find_variable(at, name, &found), WINDROW_NOT_FOUND) << name;
    EXPECT_EQ(windrow_attribute_count(at, "to group"), 1);
    EXPECT_EQ(kind_of(at, "/"), WINDROW_GROUP);
    EXPECT_EQ(kind_of(at, "group"), WINDROW_GROUP);
    EXPECT_EQ(kind_of(at, "group/inner/v"), WINDROW_VARIABLE);
    EXPECT_EQ(kind_of(at, "to group/inner/v"), WINDROW_VARIABLE);
    EXPECT_EQ(kind_of(at, "to group"), WINDROW_LINK);
    EXPECT_EQ(kind_of(at, "dangling"), WINDROW_LINK);
    EXPECT_EQ(kind_of(at, "nowhere"), WINDROW_NOTHING);
    EXPECT_EQ(kind_of(at, "a/b"), WINDROW_NOTHING);
  };
  check(file);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  check(file);
  const char *from = nullptr, *to = nullptr;
  std::vector<std::string> listed;
  for (int i = 0; i < windrow_link_count(file); ++i) {
    EXPECT_WINDROW_OK(windrow_inquire_link(file, i, &from, &to));
    EXPECT_EQ(windrow_link_is_hard(file, i), 0);
    listed.push_back(std::string(from) + " -> " + to);
  }
  EXPECT_THAT(listed, testing::Contains("/group/relative -> inner/v"));
  EXPECT_EQ(windrow_inquire_link(file, 8, &from, &to), WINDROW_BAD_ARGUMENT);
  for (const int none : {-1, 8})
    EXPECT_EQ(windrow_link_is_hard(file, none), -1);
  EXPECT_EQ(windrow_define_link(file, "new", "x"), WINDROW_BAD_STATE);
  EXPECT_WINDROW_OK(windrow_close(file));
  if (GetParam() != ".h5")
    return;
  expect_python(R"(
f = h5py.File(path, "a")
assert f["to group/relative"][0] == 7 and f.get("group/relative", getlink=True).path == "inner/v"
assert f.get("dangling", getlink=True).path == "/nowhere"
f["by h5py"] = h5py.SoftLink("group")
f["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
)",
                path());
  file = open(path());
  expect_numbers(file, "by h5py/inner/v", 7);
  EXPECT_EQ(kind_of(file, "elsewhere"), WINDROW_OTHER);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Names, attributes_go) {
  windrow_file* file = create(path());
  define(file, "v");
  for (const char* object : {"/", "v"})
    for (const char* name : {"first", "second", "third"})
      EXPECT_WINDROW_OK(windrow_put_attribute_text(file, object, name, name));
  EXPECT_WINDROW_OK(windrow_delete_attribute(file, "/", "second"));
  EXPECT_WINDROW_OK(windrow_delete_attribute(file, "v", "first"));
  EXPECT_EQ(windrow_delete_attribute(file, "v", "first"), WINDROW_NOT_FOUND);
  EXPECT_EQ(windrow_delete_attribute(file, "nothing", "first"), WINDROW_NOT_FOUND);
  EXPECT_EQ(windrow_delete_attribute(file, "v", nullptr), WINDROW_BAD_ARGUMENT);
  if (size_of() > 1) {
    EXPECT_EQ(windrow_delete_attribute(file, "v", rank_of() == 0 ? "second" : "third"), WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  }
  EXPECT_EQ(windrow_attribute_count(file, "v"), 2);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path(), WINDROW_UPDATE);
  const char* text = nullptr;
  EXPECT_EQ(windrow_attribute_count(file, "/"), 2);
  EXPECT_EQ(windrow_get_attribute(file, "/", "second", WINDROW_TEXT, &text), WINDROW_NOT_FOUND);
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "third", WINDROW_TEXT, &text));
  EXPECT_WINDROW_OK(windrow_delete_attribute(file, "v", "second"));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  EXPECT_EQ(windrow_attribute_count(file, "v"), 1);
  EXPECT_EQ(windrow_delete_attribute(file, "v", "third"), WINDROW_BAD_STATE);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Names, attributes_may_be_large) {
  constexpr int64_t k_many = 100000;
  std::vector<double> large(k_many);
  for (size_t i = 0; i < large.size(); ++i)
    large[i] = 0.5 * static_cast<double>(i);
  std::vector<std::string> texts(20000, "a text of some length");
  std::vector<const char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  const int64_t shape[2] = {k_many / 10, 10}, text_shape[1] = {20000};
  windrow_file* file = create(path());
  write(file, define(file, "group/v"), 3);
  for (const char* object : {"/", "group", "group/v"}) {
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, object, "before", "small"));
    EXPECT_WINDROW_OK(windrow_put_attribute(file, object, "large", WINDROW_FLOAT64, 2, shape, large.data()));
    EXPECT_WINDROW_OK(windrow_put_attribute(file, object, "texts", WINDROW_TEXT, 1, text_shape, pointers.data()));
    EXPECT_WINDROW_OK(
        windrow_put_attribute(file, object, "large", WINDROW_FLOAT64, 2, shape, large.data()));  // replaced
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, object, "after", "small"));
    EXPECT_WINDROW_OK(windrow_delete_attribute(file, object, "before"));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  for (const char* object : {"/", "group", "group/v"}) {
    std::vector<double> read(large.size());
    std::vector<const char*> read_texts(texts.size());
    EXPECT_EQ(windrow_attribute_count(file, object), 3);
    EXPECT_WINDROW_OK(windrow_get_attribute(file, object, "large", WINDROW_FLOAT64, read.data()));
    EXPECT_EQ(read, large);
    EXPECT_WINDROW_OK(windrow_get_attribute(file, object, "texts", WINDROW_TEXT, read_texts.data()));
    EXPECT_STREQ(read_texts.back(), "a text of some length");
  }
  expect_numbers(file, "group/v", 3);
  EXPECT_WINDROW_OK(windrow_close(file));
  if (GetParam() != ".h5")
    return;
  // Superblock 0, groups as HDF5 1.0 had them, object headers of version 2: what HDF5 1.8 reads.
  expect_python(R"(
f = h5py.File(path, "r")
assert f["group/v"].attrs["large"].shape == (10000, 10) and f["group/v"].attrs["large"][9999, 9] == 49999.5
assert f.id.get_create_plist().get_version()[0] == 0
f.close()
f = h5py.File(path, "w", libver="earliest")
f["old"] = np.arange(3)
)",
                path());
  file = open(path(), WINDROW_UPDATE);
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "old", "small", "fits"));
  EXPECT_EQ(windrow_put_attribute(file, "old", "large", WINDROW_FLOAT64, 2, shape, large.data()), WINDROW_UNSUPPORTED);
  EXPECT_THAT(windrow_error_message(), HasSubstr("\"large\" of \"/old\": it takes"));
  EXPECT_EQ(windrow_attribute_count(file, "old"), 1);
  EXPECT_WINDROW_OK(windrow_close(file));
}

int define_as(windrow_file* file, const char* name, const std::vector<int64_t>& shape) {
  int variable = -1;
  EXPECT_WINDROW_OK(
      windrow_define_variable(file, name, WINDROW_FLOAT64, static_cast<int>(shape.size()), shape.data(), &variable));
  return variable;
}

// As when a file is copied in which the first of two variables has no records yet.
TEST_P(Names, of_a_dimension_that_grows_with_its_longest_variable) {
  windrow_file* file = create(path());
  windrow_options* grows = nullptr;
  EXPECT_WINDROW_OK(windrow_options_create(&grows));
  EXPECT_WINDROW_OK(windrow_options_set(grows, "extendible", "true"));
  const char* names[] = {"time", "x"};
  int variable = -1;
  for (const int64_t records : {0, 3, 2}) {
    const int64_t shape[] = {records, 4};
    const std::string name = "v" + std::to_string(records);
    if (windrow_define_variable_with(file, name.c_str(), WINDROW_FLOAT64, 2, shape, grows, &variable) ==
            WINDROW_UNSUPPORTED ||
        windrow_name_dimensions(file, variable, names) == WINDROW_UNSUPPORTED) {
      windrow_options_free(grows);
      EXPECT_WINDROW_OK(windrow_discard(file));
      GTEST_SKIP() << "raw variables do not grow, or it was built without HDF5's high-level library";
    }
    EXPECT_WINDROW_OK(windrow_name_dimensions(file, variable, names));
  }
  windrow_options_free(grows);
  const int fixed = define_as(file, "fixed", {5});
  EXPECT_EQ(windrow_name_dimensions(file, fixed, names), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("\"/time\" has 3"));
  const auto check = [&](windrow_file* at) {
    const char* name = nullptr;
    int64_t length = 0;
    for (int i = 0; i < windrow_dimension_count(at); ++i) {
      EXPECT_WINDROW_OK(windrow_inquire_dimension(at, i, &name, &length));
      EXPECT_EQ(length, name == std::string("/time") ? 3 : 4) << name;
    }
    EXPECT_EQ(windrow_dimension_count(at), 2);
  };
  check(file);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path(), WINDROW_READ);
  check(file);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Names, of_dimensions) {
  windrow_file* file = create(path());
  const int time = define_as(file, "time", {4}), level = define_as(file, "ocean/level", {3});
  const int field = define_as(file, "ocean/field", {4, 3, 5}), other = define_as(file, "other", {5, 4}),
            wrong = define_as(file, "wrong", {7});
  const char* names[3] = {"time", "level", "cell"};
  if (windrow_name_dimensions(file, field, names) == WINDROW_UNSUPPORTED) {
    EXPECT_WINDROW_OK(windrow_discard(file));
    GTEST_SKIP() << "built without HDF5's high-level library";
  }
  EXPECT_WINDROW_OK(windrow_name_dimensions(file, field, names));  // the same once more
  const char* of_other[2] = {"/ocean/cell", "time"};
  EXPECT_WINDROW_OK(windrow_name_dimensions(file, other, of_other));
  EXPECT_WINDROW_OK(windrow_name_dimensions(file, time, names));
  EXPECT_WINDROW_OK(windrow_define_dimension(file, "unused", 11));
  // Wrong ones.
  const auto refused = [&](int variable, std::vector<const char*> list, int code, const char* why) {
    EXPECT_EQ(windrow_name_dimensions(file, variable, list.data()), code) << why;
    EXPECT_THAT(windrow_error_message(), HasSubstr(why));
  };
  refused(field, {"time", "level", "x"}, WINDROW_EXISTS, "have names already: time, level, cell");
  refused(wrong, {"time"}, WINDROW_BAD_ARGUMENT, "\"/time\" cannot name a dimension of length 7: its length is 4");
  refused(wrong, {"unused"}, WINDROW_BAD_ARGUMENT, "dimension 0 of \"/wrong\" has length 7; \"/unused\" has 11");
  refused(wrong, {"other"}, WINDROW_BAD_ARGUMENT, "it is a variable of 2 dimensions");
  refused(wrong, {"ocean"}, WINDROW_EXISTS, "is not a dimension");
  refused(wrong, {"a/b"}, WINDROW_BAD_ARGUMENT, "a name must not contain a slash");
  refused(wrong, {nullptr}, WINDROW_BAD_ARGUMENT, "the name of a dimension is NULL");
  refused(99, {"x"}, WINDROW_BAD_ARGUMENT, "no variable number 99");
  EXPECT_EQ(windrow_name_dimensions(file, wrong, nullptr), WINDROW_BAD_ARGUMENT);
  const int last = size_of() - 1;
  EXPECT_WINDROW_OK(windrow_name_dimensions_counted(file, field, 3, names));  // the same once more
  EXPECT_EQ(windrow_name_dimensions_counted(file, field, rank_of() == last ? 2 : 3, names), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("2 names for \"/ocean/field\", which has 3 dimensions"));
  EXPECT_EQ(windrow_name_dimensions_counted(file, field, -1, names), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("-1 names"));
  EXPECT_EQ(windrow_define_dimension(file, "time", 4), WINDROW_EXISTS);
  EXPECT_EQ(windrow_define_dimension(file, "negative", -4), WINDROW_BAD_ARGUMENT);
  if (size_of() > 1) {
    const char* mine[1] = {rank_of() == 0 ? "x" : "y"};
    EXPECT_EQ(windrow_name_dimensions(file, wrong, mine), WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  }
  (void)level;
  write(file, define(file, "data"), 5);
  const auto check = [&](windrow_file* at) {
    EXPECT_THAT(dimension_names(at, "ocean/field"), ElementsAre("time", "level", "cell"));
    EXPECT_THAT(dimension_names(at, "other"), ElementsAre("/ocean/cell", "time"));
    EXPECT_THAT(dimension_names(at, "time"), ElementsAre("time"));
    EXPECT_THAT(dimension_names(at, "ocean/level"), ElementsAre("level"));
    EXPECT_THAT(dimension_names(at, "wrong"), ElementsAre(""));
    EXPECT_EQ(windrow_dimension_count(at), 2);
    EXPECT_EQ(kind_of(at, "ocean/cell"), WINDROW_DIMENSION);
    EXPECT_EQ(windrow_variable_count(at), 6);
    EXPECT_EQ(windrow_attribute_count(at, "time"), 0);
    EXPECT_EQ(windrow_attribute_count(at, "ocean/field"), 0);
    const char* name = nullptr;
    int64_t length = 0;
    std::vector<std::string> listed;
    for (int i = 0; i < 2; ++i) {
      EXPECT_WINDROW_OK(windrow_inquire_dimension(at, i, &name, &length));
      listed.push_back(std::string(name) + " " + std::to_string(length));
    }
    EXPECT_THAT(listed, testing::UnorderedElementsAre("/ocean/cell 5", "/unused 11"));
    EXPECT_EQ(windrow_inquire_dimension(at, 2, &name, &length), WINDROW_BAD_ARGUMENT);
  };
  check(file);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  check(file);
  expect_numbers(file, "data", 5);
  EXPECT_WINDROW_OK(windrow_close(file));
  if (GetParam() != ".h5")
    return;
  expect_python(R"(
f = h5py.File(path, "r")
assert [len(d) for d in f["ocean/field"].dims] == [1, 1, 1]
assert [d[0].name for d in f["ocean/field"].dims] == ["/time", "/ocean/level", "/ocean/cell"]
assert h5py.h5ds.is_scale(f["time"].id) and f["time"].attrs["NAME"] == b"time"
assert f["ocean/cell"].attrs["NAME"] == b"This is a netCDF dimension but not a netCDF variable.         5"
assert f["ocean/cell"].id.get_storage_size() == 0
f.close()
try:
    import netCDF4
except ImportError:
    sys.exit(0)
# It does not open files with dimensions of another branch: "other" has one.
with h5py.File(path, "r+") as f:
    h5py.h5ds.detach_scale(f["other"].id, f["ocean/cell"].id, 0)
d = netCDF4.Dataset(path)
assert d["ocean/field"].dimensions == ("time", "level", "cell"), d["ocean/field"].dimensions
assert sorted(d.dimensions) == ["phony_dim_0", "phony_dim_1", "time", "unused"] or "time" in d.dimensions, d.dimensions
assert len(d["ocean"].dimensions["cell"]) == 5 and "cell" not in d["ocean"].variables
)",
                path());
}

// To netCDF too: what has grown since its dimension got a name, and in a later session, is not cut at what there was
// then.
TEST_P(Names, of_dimensions_that_grow_have_no_end) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made));
  const Decomposition record(made);
  const auto put = [&](windrow_file* file, const char* name, int64_t number) {
    int variable = -1;
    const std::array<double, 2> values{static_cast<double>(number), 7};
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    EXPECT_WINDROW_OK(windrow_put_record(file, variable, number, record.get(), values.data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
  };
  const auto expect_length = [](windrow_file* file, const std::string& wanted, int64_t expected) {
    for (int i = 0; i < windrow_dimension_count(file); ++i) {
      const char* name = nullptr;
      int64_t length = -1;
      EXPECT_WINDROW_OK(windrow_inquire_dimension(file, i, &name, &length));
      EXPECT_TRUE(wanted != name || length == expected) << wanted << " " << length;
    }
  };
  windrow_file* file = create(path());
  EXPECT_WINDROW_OK(windrow_define_dimension(file, "day", 0));
  for (const auto& [name, rows, dimension] :
       {std::tuple{"u", 0, "time"}, std::tuple{"v", 2, "step"}, std::tuple{"w", 0, "day"}}) {
    const int64_t shape[2] = {rows, 2};
    const char* names[2] = {dimension, "x"};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, WINDROW_FLOAT64, 2, shape,
                                                   Options{{"extendible", "true"}}, &variable));
    EXPECT_WINDROW_OK(windrow_name_dimensions(file, variable, names));
    for (int64_t number = 0; number < 4; ++number)
      put(file, name, number);
  }
  for (const char* name : {"/time", "/step", "/day"})
    expect_length(file, name, 4);
  EXPECT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
  for (const char* name : {"/time", "/step", "/day"})
    expect_length(file, name, 4);
  put(file, "v", 4);
  expect_length(file, "/step", 5);
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_python(R"(
f = h5py.File(path, "r")
assert [f[name].maxshape for name in ("time", "step", "day", "x")] == [(None,), (None,), (None,), (2,)]
f.close()
try:
    import netCDF4
except ImportError:
    sys.exit(0)
d = netCDF4.Dataset(path)
assert [(d.dimensions[name].isunlimited(), len(d.dimensions[name])) for name in ("time", "step", "day", "x")] == [
    (True, 4), (True, 5), (True, 4), (False, 2)]
assert d["v"][:, 0].tolist() == [0, 1, 2, 3, 4], d["v"][:]
)",
                path());
}

TEST_P(Names, of_dimensions_are_read_as_others_write_them) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  expect_python(R"(
f = h5py.File(path, "w")
f["x"] = np.arange(3.); f["labelled"] = np.arange(4.); f["v"] = np.zeros((3, 4, 5))
f["several"] = np.zeros(3); f["none"] = np.zeros((3, 2))
f["x"].make_scale("x"); f["labelled"].make_scale("a label")
f["v"].dims[0].attach_scale(f["x"]); f["v"].dims[1].attach_scale(f["labelled"])
f["y"] = np.arange(3.); f["y"].make_scale("y")
f["several"].dims[0].attach_scale(f["x"]); f["several"].dims[0].attach_scale(f["y"])
f["v"].dims[2].label = "depth"
)",
                path());
  if (failed_anywhere())
    return;
  windrow_file* file = open(path());
  EXPECT_THAT(dimension_names(file, "v"), ElementsAre("x", "labelled", ""));
  EXPECT_THAT(dimension_names(file, "x"), ElementsAre("x"));
  EXPECT_THAT(dimension_names(file, "none"), ElementsAre("", ""));
  EXPECT_THAT(dimension_names(file, "several"), ElementsAre(""));
  EXPECT_EQ(windrow_attribute_count(file, "several"), 1) << "its list is there, as what cannot be read";
  EXPECT_EQ(windrow_attribute_count(file, "labelled"), 2) << "CLASS and its label";
  EXPECT_EQ(windrow_attribute_count(file, "v"), 1) << "DIMENSION_LABELS";
  EXPECT_WINDROW_OK(windrow_close(file));
}

INSTANTIATE_TEST_SUITE_P(Formats, Names, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
