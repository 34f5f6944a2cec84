// SPDX-License-Identifier: BSD-3-Clause
// Element types beyond plain numbers, in parallel, and what h5py has to do with them.
#include <gmock/gmock.h>

#include <complex>
#include <cstring>
#include <span>

#include "../format/foreign.hpp"
#include "files.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

using Types = Files;

// Runs on rank 0; every rank gets the answer.
void expect_h5py(const std::string& script, const std::string& path) {
  int exit_code = 0;
  if (rank_of() == 0) {
    const windrow::test::Output output = windrow::test::run_h5py(script, path);
    exit_code = output.exit_code;
    EXPECT_EQ(exit_code, 0) << output.text;
  }
  MPI_Bcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  EXPECT_EQ(exit_code, 0);
}

struct Kind {
  const char* name;
  int type;
  int64_t bytes;  // of an element
  KeyValues options;
};

// Every type that moves in parallel and is no plain number. `chunked`: some once more in compressed chunks.
std::vector<Kind> kinds(bool chunked = false) {
  std::vector<Kind> list{
      {"bool", WINDROW_BOOL, 1, {}},
      {"float16", WINDROW_FLOAT16, 2, {}},
      {"float16 big", WINDROW_FLOAT16, 2, {{"byte_order", "big"}}},
      {"complex64", WINDROW_COMPLEX64, 8, {}},
      {"complex64 big", WINDROW_COMPLEX64, 8, {{"byte_order", "big"}}},
      {"complex128", WINDROW_COMPLEX128, 16, {{"byte_order", "little"}}},
      {"complex128 big", WINDROW_COMPLEX128, 16, {{"byte_order", "big"}}},
      {"text", WINDROW_TEXT, 5, {{"element_bytes", "5"}}},
      {"text ascii",
       WINDROW_TEXT,
       3,
       {{"element_bytes", "3"}, {"text_characters", "ascii"}, {"text_padding", "space_padded"}}},
      {"opaque", WINDROW_OPAQUE, 7, {{"element_bytes", "7"}, {"opaque_tag", "a tag"}}},
      {"colour", WINDROW_INT16, 2, {{"enumeration", "RED=-1\nGREEN=0\nDARK = BLUE=300"}, {"byte_order", "big"}}},
      {"state", WINDROW_UINT64, 8, {{"enumeration", "NONE=0\nALL=18446744073709551615"}}},
  };
  if (!chunked)
    return list;
  const KeyValues filters{{"chunks", "2x2"}, {"filters", "shuffle,deflate:1"}};
  const auto with_filters = [&](KeyValues options) {
    options.insert(options.end(), filters.begin(), filters.end());
    return options;
  };
  list.push_back({"chunked float16", WINDROW_FLOAT16, 2, filters});
  list.push_back({"chunked bool", WINDROW_BOOL, 1, filters});
  list.push_back({"chunked complex", WINDROW_COMPLEX128, 16, with_filters({{"byte_order", "big"}})});
  list.push_back({"chunked text", WINDROW_TEXT, 5, with_filters({{"element_bytes", "5"}})});
  list.push_back({"chunked opaque", WINDROW_OPAQUE, 7, with_filters({{"element_bytes", "7"}})});
  list.push_back({"chunked colour", WINDROW_INT16, 2, with_filters({{"enumeration", "RED=-1\nGREEN=0"}})});
  return list;
}

constexpr int64_t k_rows = 7, k_columns = 3;

// Bytes of elements [first, first + count) of a kind: printable, and booleans that are booleans.
std::vector<unsigned char> content(const Kind& kind, int64_t first, int64_t count) {
  std::vector<unsigned char> bytes(static_cast<size_t>(count * kind.bytes));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto at = static_cast<size_t>(first * kind.bytes) + i;
    bytes[i] = static_cast<unsigned char>(kind.type == WINDROW_BOOL ? (at / 3) % 2 : 'a' + at % 23);
  }
  return bytes;
}

int define_kind(windrow_file* file, const Kind& kind) {
  const int64_t shape[2] = {k_rows, k_columns};
  const Options options(kind.options);
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, kind.name, kind.type, 2, shape, options, &variable));
  return variable;
}

Decomposition even_rows(int64_t& first, int64_t& count) {
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, k_rows, WINDROW_EVEN, &made));
  EXPECT_WINDROW_OK(windrow_decomposition_rows(made, &first, &count));
  return Decomposition(made);
}

windrow_variable_info describe(windrow_file* file, const char* path) {
  int variable = -1;
  windrow_variable_info info{};
  info.size = sizeof info;
  EXPECT_WINDROW_OK(windrow_find_variable(file, path, &variable));
  EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
  return info;
}

// All of a variable whose texts have any length, or of references.
std::vector<std::string> texts_of(windrow_file* file, const char* path) {
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, path, &variable));
  std::vector<const char*> list(static_cast<size_t>(describe(file, path).elements));
  EXPECT_WINDROW_OK(windrow_get_texts(file, variable, list.data()));
  return std::vector<std::string>(list.begin(), list.end());
}

TEST_P(Types, move_in_parallel_and_are_said_again) {
  windrow_file* file = create(path());
  int64_t first = 0, count = 0;
  const Decomposition rows = even_rows(first, count);
  std::vector<std::vector<unsigned char>> mine;
  const bool chunked = GetParam() == ".h5";
  for (const Kind& kind : kinds(chunked)) {
    const int variable = define_kind(file, kind);
    mine.push_back(content(kind, first * k_columns, count * k_columns));
    EXPECT_WINDROW_OK(windrow_put(file, variable, rows.get(), mine.back().data()));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  windrow_decomposition* all = nullptr;
  EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
  for (const Kind& kind : kinds(chunked)) {
    const windrow_variable_info info = describe(file, kind.name);
    EXPECT_EQ(info.type, kind.type) << kind.name;
    EXPECT_EQ(info.element_bytes, kind.bytes) << kind.name;
    EXPECT_EQ(info.elements, k_rows * k_columns);
    EXPECT_EQ(info.bytes, k_rows * k_columns * kind.bytes);
    EXPECT_STREQ(info.unsupported, "");
    for (const auto& [key, value] : kind.options) {
      if (key == "opaque_tag") {
        EXPECT_EQ(info.opaque_tag, value);
      }
      if (key == "enumeration") {
        EXPECT_EQ(info.enumeration, value);
      }
      if (key == "text_padding") {
        EXPECT_EQ(info.text_padding, value);
      }
      if (key == "text_characters") {
        EXPECT_EQ(info.text_characters, value);
      }
      if (key == "byte_order") {
        EXPECT_EQ(info.big_endian, value == "big" ? 1 : 0);
      }
    }
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, kind.name, &variable));
    std::vector<unsigned char> read(static_cast<size_t>(info.bytes));
    EXPECT_WINDROW_OK(windrow_read(file, variable, all, read.data()));
    EXPECT_EQ(read, content(kind, 0, k_rows * k_columns)) << kind.name;
  }
  windrow_decomposition_free(all);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Types, are_attributes_too) {
  windrow_file* file = create(path());
  define(file, "group/v");
  const int64_t shape[2] = {2, 2};
  const char* owners[3] = {"/", "/group", "/group/v"};
  for (const char* owner : owners)
    for (const Kind& kind : kinds()) {
      if (kind.type == WINDROW_TEXT)
        continue;
      const Options options(kind.options);
      EXPECT_WINDROW_OK(
          windrow_put_attribute_with(file, owner, kind.name, kind.type, 2, shape, content(kind, 1, 4).data(), options));
    }
  const char* texts[2] = {"ab", "grü"};
  const int64_t two[1] = {2};
  const Options fixed{{"element_bytes", "4"}, {"text_padding", "space_padded"}}, null{{"null_space", "true"}};
  EXPECT_WINDROW_OK(windrow_put_attribute_with(file, "/", "texts", WINDROW_TEXT, 1, two, texts, fixed));
  EXPECT_WINDROW_OK(windrow_put_attribute_with(file, "/", "null", WINDROW_FLOAT32, 0, nullptr, nullptr, null));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  for (const char* owner : owners)
    for (const Kind& kind : kinds()) {
      if (kind.type == WINDROW_TEXT)
        continue;
      std::vector<unsigned char> read(static_cast<size_t>(4 * kind.bytes));
      EXPECT_WINDROW_OK(windrow_get_attribute(file, owner, kind.name, kind.type, read.data()));
      EXPECT_EQ(read, content(kind, 1, 4)) << kind.name;
    }
  const char* read[2] = {};
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "texts", WINDROW_TEXT, read));
  EXPECT_STREQ(read[0], "ab");
  EXPECT_STREQ(read[1], "grü");
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "null", WINDROW_FLOAT32, nullptr));
  for (int i = 0; i < windrow_attribute_count(file, "/"); ++i) {
    windrow_attribute_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_attribute(file, "/", i, &info));
    const std::string name = info.name;
    if (name == "null") {
      EXPECT_EQ(info.is_null, 1);
      EXPECT_EQ(info.elements, 0);
    }
    if (name == "texts") {
      EXPECT_EQ(info.element_bytes, 4);
    }
    if (name == "opaque") {
      EXPECT_STREQ(info.opaque_tag, "a tag");
    }
    if (name == "colour") {
      EXPECT_STREQ(info.enumeration, "RED=-1\nGREEN=0\nDARK = BLUE=300");
    }
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Types, are_refused_where_they_do_not_fit) {
  windrow_file* file = create(path());
  const int64_t shape[1] = {4};
  int variable = -1;
  const auto refused = [&](int type, const KeyValues& values, const char* why) {
    const Options options(values);
    EXPECT_EQ(windrow_define_variable_with(file, "v", type, 1, shape, options, &variable), WINDROW_BAD_ARGUMENT) << why;
    EXPECT_THAT(windrow_error_message(), HasSubstr(why));
    EXPECT_EQ(windrow_put_attribute_with(file, "/", "a", type, 0, nullptr, "0123456789abcdef", options),
              WINDROW_BAD_ARGUMENT)
        << why;
    EXPECT_THAT(windrow_error_message(), HasSubstr(why));
  };
  refused(WINDROW_OPAQUE, {}, "an element of type opaque cannot have 0 bytes");
  refused(WINDROW_INT32, {{"element_bytes", "4"}}, "elements of type int32 have a fixed size");
  refused(WINDROW_INT32, {{"opaque_tag", "x"}}, "only opaque elements have a tag");
  refused(WINDROW_OPAQUE, {{"element_bytes", "4"}, {"opaque_tag", std::string(256, 'x')}}, "longer than 255 bytes");
  refused(WINDROW_FLOAT32, {{"enumeration", "A=1"}}, "which are not integers");
  refused(WINDROW_INT8, {{"enumeration", "A=128"}}, "\"A=128\", which is not a value of type int8");
  refused(WINDROW_UINT8, {{"enumeration", "A=-1"}}, "not a value of type uint8");
  refused(WINDROW_INT8, {{"enumeration", "A=1\nA=2"}}, "repeated name");
  refused(WINDROW_INT8, {{"enumeration", "A=1\nB=1"}}, "repeated name");
  refused(WINDROW_INT8, {{"enumeration", "A"}}, "not NAME=value");
  const Options filtered_text{{"filters", "deflate"}};
  EXPECT_EQ(windrow_define_variable_with(file, "v", WINDROW_TEXT, 1, shape, filtered_text, &variable),
            WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("text of variable length, references and null spaces have no chunks"));
  const Options null{{"null_space", "true"}};
  EXPECT_EQ(windrow_define_variable_with(file, "v", WINDROW_INT8, 1, shape, null, &variable), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("a null space has no dimensions"));
  if (GetParam() == ".raw") {
    EXPECT_EQ(windrow_define_variable(file, "v", WINDROW_REFERENCE, 1, shape, &variable), WINDROW_UNSUPPORTED);
    EXPECT_THAT(windrow_error_message(), HasSubstr("only HDF5 supports references"));
    const char* root = "/";
    EXPECT_EQ(windrow_put_attribute(file, "/", "a", WINDROW_REFERENCE, 0, nullptr, &root), WINDROW_UNSUPPORTED);
  }
  const Options short_text{{"element_bytes", "2"}};
  const char* text = "abc";
  EXPECT_EQ(windrow_put_attribute_with(file, "/", "a", WINDROW_TEXT, 0, nullptr, &text, short_text),
            WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("a text is longer than its fixed length"));
  if (size_of() > 1) {  // names that differ between the ranks
    const Options names{{"enumeration", rank_of() == 0 ? "A=1" : "B=1"}};
    EXPECT_EQ(windrow_define_variable_with(file, "v", WINDROW_INT8, 1, shape, names, &variable), WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  }
  EXPECT_EQ(windrow_variable_count(file), 0);
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_P(Types, hold_texts_of_variable_length_and_null_spaces) {
  windrow_file* file = create(path());
  const int64_t shape[2] = {2, 2}, none[1] = {0};
  const Options null{{"null_space", "true"}}, ascii{{"text_characters", "ascii"}};
  int texts = -1, scalar = -1, unwritten = -1, nothing = -1, empty = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "texts", WINDROW_TEXT, 2, shape, &texts));
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, "scalar", WINDROW_TEXT, 0, nullptr, ascii, &scalar));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "unwritten", WINDROW_TEXT, 2, shape, &unwritten));
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, "nothing", WINDROW_FLOAT64, 0, nullptr, null, &nothing));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "empty", WINDROW_TEXT, 1, none, &empty));
  const int plain = define(file, "plain");
  const std::string large(100000, 'x');
  const char* values[4] = {"one", "", large.c_str(), "größe"};
  const char* others[4] = {"not", "these", "but", "rank 0's"};
  EXPECT_WINDROW_OK(windrow_put_texts(file, texts, rank_of() == 0 ? values : others));
  EXPECT_WINDROW_OK(windrow_put_texts(file, texts, rank_of() == 0 ? values : nullptr));
  EXPECT_WINDROW_OK(windrow_put_texts(file, scalar, values));
  EXPECT_WINDROW_OK(windrow_put_texts(file, empty, nullptr));
  // A list whose length is known: rank 0's counts.
  EXPECT_WINDROW_OK(windrow_put_texts_counted(file, texts, rank_of() == 0 ? 4 : 3, values));
  EXPECT_WINDROW_OK(windrow_put_texts_counted(file, empty, rank_of() == 0 ? 0 : 1, values));
  EXPECT_EQ(windrow_put_texts_counted(file, texts, rank_of() == 0 ? 3 : 4, values), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("3 texts for \"/texts\", which has 4 elements"));
  EXPECT_EQ(windrow_put_texts_counted(file, empty, 1, values), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("1 text for \"/empty\", which has 0 elements"));
  EXPECT_EQ(windrow_put_texts_counted(file, texts, 4, nullptr), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("no list of 4 texts"));
  // Of the wrong kind.
  windrow_decomposition* all = nullptr;
  EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
  EXPECT_EQ(windrow_put_texts(file, plain, values), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("\"/plain\": it is of type int32, not text of variable length"));
  EXPECT_EQ(windrow_put_texts(file, 99, values), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_write(file, texts, all, values), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("use windrow_put_texts()"));
  const int code = windrow_put_texts(file, texts, rank_of() == 0 ? nullptr : others);
  EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
  expect_same_everywhere(code);
  if (size_of() > 1) {
    EXPECT_EQ(windrow_put_texts(file, rank_of() == 1 ? scalar : texts, values), WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  }
  EXPECT_WINDROW_OK(windrow_write(file, nothing, all, nullptr));
  write(file, plain, 5);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path(), WINDROW_UPDATE);
  expect_numbers(file, "plain", 5);
  EXPECT_WINDROW_OK(windrow_find_variable(file, "texts", &texts));
  const char* read[4] = {};
  EXPECT_WINDROW_OK(windrow_get_texts(file, texts, read));
  for (int i = 0; i < 4; ++i)
    EXPECT_STREQ(read[i], values[i]);
  EXPECT_WINDROW_OK(windrow_find_variable(file, "scalar", &scalar));
  EXPECT_WINDROW_OK(windrow_get_texts(file, scalar, read));
  EXPECT_STREQ(read[0], "one");
  EXPECT_WINDROW_OK(windrow_find_variable(file, "unwritten", &unwritten));
  EXPECT_WINDROW_OK(windrow_get_texts(file, unwritten, read));
  EXPECT_STREQ(read[3], "");
  EXPECT_WINDROW_OK(windrow_put_texts(file, unwritten, others));
  EXPECT_WINDROW_OK(windrow_get_texts(file, unwritten, read));
  EXPECT_STREQ(read[3], "rank 0's");
  EXPECT_EQ(windrow_get_texts(file, texts, nullptr), WINDROW_BAD_ARGUMENT);
  const windrow_variable_info info = describe(file, "nothing");
  EXPECT_EQ(info.is_null, 1);
  EXPECT_EQ(info.elements, 0);
  EXPECT_EQ(info.bytes, 0);
  EXPECT_EQ(info.type, WINDROW_FLOAT64);
  EXPECT_EQ(describe(file, "texts").element_bytes, 0);
  EXPECT_STREQ(describe(file, "scalar").text_characters, "ascii");
  windrow_decomposition_free(all);
  EXPECT_WINDROW_OK(windrow_close(file));
  if (GetParam() != ".h5")
    return;
  expect_h5py(R"(
f = h5py.File(path, "r")
assert f["texts"][1, 1].decode() == "gr\u00f6\u00dfe" and len(f["texts"][1, 0]) == 100000
assert tuple(h5py.check_string_dtype(f["texts"].dtype)) == ("utf-8", None)
assert tuple(h5py.check_string_dtype(f["scalar"].dtype)) == ("ascii", None) and f["scalar"][()] == b"one"
assert f["unwritten"][0, 1] == b"these"
assert f["nothing"].shape is None and f["nothing"].dtype == "f8"
)",
              path());
}

TEST_P(Types, references_are_written_as_paths) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  windrow_file* file = create(path());
  const int64_t shape[2] = {2, 2}, three[1] = {3};
  int references = -1, scalar = -1, unwritten = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "g/references", WINDROW_REFERENCE, 2, shape, &references));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "scalar", WINDROW_REFERENCE, 0, nullptr, &scalar));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "unwritten", WINDROW_REFERENCE, 1, three, &unwritten));
  write(file, define(file, "gr\u00f6\u00dfe"), 5);
  EXPECT_WINDROW_OK(windrow_define_link(file, "soft", "/g/references"));
  EXPECT_WINDROW_OK(windrow_define_link(file, "dangling", "/nowhere"));
  const char* values[4] = {"/gr\u00f6\u00dfe", "", "/soft", "/"};
  const char* others[4] = {"not", "these", "but", "rank 0's"};
  EXPECT_WINDROW_OK(windrow_put_texts(file, references, rank_of() == 0 ? values : others));
  EXPECT_WINDROW_OK(windrow_put_texts(file, scalar, values));
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "g", "list", WINDROW_REFERENCE, 2, shape, values));
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "g", "one", WINDROW_REFERENCE, 0, nullptr, values + 2));
  for (const char* nothing : {"/nothing", "/dangling"}) {
    const int code = windrow_put_texts(file, scalar, &nothing);
    EXPECT_EQ(code, WINDROW_NOT_FOUND);
    EXPECT_THAT(windrow_error_message(),
                HasSubstr("\"/scalar\": its reference to \"" + std::string(nothing) + "\" refers to nothing"));
    expect_same_everywhere(code);
    EXPECT_EQ(windrow_put_attribute(file, "g", "one", WINDROW_REFERENCE, 0, nullptr, &nothing), WINDROW_NOT_FOUND);
  }
  const char* relative = "g";
  EXPECT_EQ(windrow_put_texts(file, scalar, &relative), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path(), WINDROW_UPDATE);
  EXPECT_THAT(texts_of(file, "g/references"), testing::ElementsAre("/gr\u00f6\u00dfe", "", "/g/references", "/"));
  EXPECT_THAT(texts_of(file, "unwritten"), testing::ElementsAre("", "", ""));
  const char* one = nullptr;
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "g", "one", WINDROW_REFERENCE, &one));
  EXPECT_STREQ(one, "/g/references") << "what was refused has left it";
  EXPECT_WINDROW_OK(windrow_find_variable(file, "unwritten", &unwritten));
  EXPECT_WINDROW_OK(windrow_put_texts(file, unwritten, values + 1));
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_h5py(R"(
f = h5py.File(path, "r")
names = lambda references: [f[each].name if each else "" for each in np.ravel(references)]
expected = ["/gr\u00f6\u00dfe", "", "/g/references", "/"]
assert f["g/references"].dtype == h5py.ref_dtype and f["g/references"].shape == (2, 2)
assert names(f["g/references"][...]) == names(f["g"].attrs["list"]) == expected
assert names(f["scalar"][()]) == expected[:1] and names(f["unwritten"][...]) == expected[1:]
assert f[f["g"].attrs["one"]] == f["g/references"]
)",
              path());
}

// Each of the 65536 numbers, NaNs with what they carry among them, in both byte orders and both ways.
TEST_P(Types, halves_are_those_of_h5py) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  expect_h5py(R"(
f = h5py.File(path, "w")
for order in "<>": f[order] = np.arange(65536, dtype="u2").view("f2").astype(order + "f2")
f["<"].attrs["some"] = np.array([1.5, -np.inf], "f2")
)",
              path("foreign"));
  windrow_file* foreign = open(path("foreign"));
  windrow_file* file = create(path());
  const int64_t shape[1] = {65536};
  for (const char* order : {"<", ">"}) {
    const windrow_variable_info info = describe(foreign, order);
    EXPECT_EQ(info.type, WINDROW_FLOAT16);
    EXPECT_EQ(info.big_endian, *order == '>' ? 1 : 0);
    int variable = -1, number = -1, wrong = 0;
    EXPECT_WINDROW_OK(windrow_find_variable(foreign, order, &number));
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made));
    const Decomposition all(made);
    std::vector<uint16_t> halves(65536);
    EXPECT_WINDROW_OK(windrow_read(foreign, number, all.get(), halves.data()));
    for (size_t i = 0; i < halves.size(); ++i)
      wrong += halves[i] != i;
    EXPECT_EQ(wrong, 0);
    const Options options{{"byte_order", *order == '>' ? "big" : "little"}, {"fill_value", "0.5"}};
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, order, WINDROW_FLOAT16, 1, shape, options, &variable));
    EXPECT_WINDROW_OK(windrow_write(file, variable, all.get(), halves.data()));
  }
  uint16_t some[2] = {};
  EXPECT_WINDROW_OK(windrow_get_attribute(foreign, "<", "some", WINDROW_FLOAT16, some));
  EXPECT_EQ(some[0], 0x3e00);
  EXPECT_EQ(some[1], 0xfc00);
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "/", "one", WINDROW_FLOAT16, 0, nullptr, some));
  EXPECT_WINDROW_OK(windrow_close(foreign));
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_h5py(R"(
f = h5py.File(path, "r")
for order in "<>":
    assert f[order].dtype == np.dtype(order + "f2") and f[order].fillvalue == 0.5
    assert (f[order][...].astype("=f2").view("u2") == np.arange(65536)).all()
assert f.attrs["one"] == 1.5 and f.attrs["one"].dtype == "f2"
)",
              path());
}

TEST_P(Types, are_read_by_h5py) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  windrow_file* file = create(path());
  const int64_t shape[1] = {2 * size_of()}, start[1] = {2 * rank_of()}, count[1] = {2};
  const auto put = [&](const char* name, int type, const KeyValues& values, const void* data) {
    const Options options(values);
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, type, 1, shape, options, &variable));
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data));
    EXPECT_WINDROW_OK(windrow_put_attribute_with(file, name, "all", type, 0, nullptr, data, options));
  };
  const bool bools[2] = {true, false};
  const std::complex<float> narrow[2] = {{1.5F, -2}, {0, 1}};
  const std::complex<double> wide[2] = {{1.5, -2}, {0, 1e300}};
  const int16_t colours[2] = {-1, 300};
  put("bool", WINDROW_BOOL, {}, bools);
  put("c8", WINDROW_COMPLEX64, {{"byte_order", "big"}}, narrow);
  put("c16", WINDROW_COMPLEX128, {}, wide);
  put("opaque", WINDROW_OPAQUE, {{"element_bytes", "3"}}, "abcdef");
  put("tagged", WINDROW_OPAQUE, {{"element_bytes", "3"}, {"opaque_tag", "three"}}, "abcdef");
  put("colour", WINDROW_INT16, {{"enumeration", "RED=-1\nBLUE=300"}, {"byte_order", "big"}}, colours);
  const Options fixed{{"element_bytes", "4"}};
  int text = -1;
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, "text", WINDROW_TEXT, 1, shape, fixed, &text));
  EXPECT_WINDROW_OK(windrow_write_block(file, text, start, count, "ab\0\0\xc3\xa4xy"));
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_h5py(R"(
f = h5py.File(path, "r")
n = len(f["bool"]) // 2
assert f["bool"].dtype == np.bool_ and f["bool"][...].tolist() == [True, False] * n
assert f["bool"].attrs["all"] == True and f["bool"].attrs["all"].dtype == np.bool_
assert f["c8"].dtype == ">c8" and f["c8"][...].tolist() == [1.5 - 2j, 1j] * n
assert f["c8"].attrs["all"] == 1.5 - 2j and f["c8"].attrs["all"].dtype.kind == "c"
assert f["c16"].dtype == "c16" and f["c16"][...].tolist() == [1.5 - 2j, 1e300j] * n
assert f["opaque"].dtype == "V3" and f["opaque"][1].tobytes() == b"def"
assert f["tagged"].id.get_type().get_tag() == b"three"  # HDF5 gives elements only to who has the tag, and h5py has none
assert h5py.check_enum_dtype(f["colour"].dtype) == {"RED": -1, "BLUE": 300} and f["colour"].dtype == ">i2"
assert f["colour"][...].tolist() == [-1, 300] * n and f["colour"].attrs["all"] == -1
assert tuple(h5py.check_string_dtype(f["text"].dtype)) == ("utf-8", 4)
assert f["text"][...].tolist() == [b"ab", "\u00e4xy".encode()] * n
)",
              path());
}

TEST_P(Types, of_h5py_are_read) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  expect_h5py(R"(
f = h5py.File(path, "w")
for name, order in (("le", "<"), ("be", ">")):
    g = f.create_group(name)
    g["c8"] = np.array([1 + 2j, 3j, -1, 0.5], order + "c8")
    g["c16"] = np.array([1 + 2j, 3j, -1, 0.5], order + "c16")
    g.create_dataset("enum", data=np.array([1, 500, 7, 1], order + "i2"),
                     dtype=h5py.enum_dtype({"A": 1, "B": 500}, basetype=order + "i2"))
    for n in ("c8", "c16", "enum"): g.attrs.create(n, g[n][...], dtype=g[n].dtype)
f["bool"] = np.array([True, False, False, True])
f["ascii"] = np.array([b"ab", b"", b"abc", b"d"])
f["utf8"] = np.array(["\u00e4".encode(), b"b", b"", b"d"], dtype=h5py.string_dtype("utf-8", 3))
f["opaque"] = np.frombuffer(b"0123456789ab", "V3")
f["texts"] = ["a", "bb", "\u00e4", ""]
f.create_dataset("packed texts", data=["a", "bb"] * 500, compression="gzip", chunks=(100,))
f["refs"] = np.array([f["le"].ref, f["bool"].ref, h5py.Reference()], dtype=h5py.ref_dtype)
f["null"] = h5py.Empty("f4")
f.attrs["ref"] = f["le/c8"].ref
f.attrs["flag"] = np.bool_(True)
f.attrs["null"] = h5py.Empty("S3")
)",
              path());
  if (failed_anywhere())
    return;
  windrow_file* file = open(path());
  windrow_decomposition* blocks = nullptr;
  EXPECT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 4, WINDROW_EVEN, &blocks));
  const Decomposition rows(blocks);
  int64_t first = 0, count = 0;
  EXPECT_WINDROW_OK(windrow_decomposition_rows(blocks, &first, &count));
  const auto read = [&]<class T>(const std::string& name, const std::vector<T>& expected, int64_t per_element = 1) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name.c_str(), &variable));
    const std::span<const T> part =
        std::span(expected).subspan(static_cast<size_t>(first * per_element), static_cast<size_t>(count * per_element));
    auto mine = std::make_unique<T[]>(part.size() + 1);
    EXPECT_WINDROW_OK(windrow_read(file, variable, rows.get(), mine.get()));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), mine.get())) << name;
  };
  for (const std::string group : {"le/", "be/"}) {
    read(group + "c8", std::vector<std::complex<float>>{{1, 2}, {0, 3}, {-1, 0}, {0.5F, 0}});
    read(group + "c16", std::vector<std::complex<double>>{{1, 2}, {0, 3}, {-1, 0}, {0.5, 0}});
    read(group + "enum", std::vector<int16_t>{1, 500, 7, 1});
    EXPECT_STREQ(describe(file, (group + "enum").c_str()).enumeration, "A=1\nB=500");
    std::complex<double> values[4];
    EXPECT_WINDROW_OK(windrow_get_attribute(file, group.c_str(), "c16", WINDROW_COMPLEX128, values));
    EXPECT_EQ(values[0], std::complex<double>(1, 2));
    int16_t numbers[4] = {};
    EXPECT_WINDROW_OK(windrow_get_attribute(file, group.c_str(), "enum", WINDROW_INT16, numbers));
    EXPECT_EQ(numbers[1], 500);
    EXPECT_EQ(numbers[2], 7) << "a value without a name";
  }
  read("bool", std::vector<unsigned char>{1, 0, 0, 1});
  read("ascii", std::vector<char>{'a', 'b', 0, 0, 0, 0, 'a', 'b', 'c', 'd', 0, 0}, 3);
  read("utf8", std::vector<char>{'\xc3', '\xa4', 0, 'b', 0, 0, 0, 0, 0, 'd', 0, 0}, 3);
  read("opaque", std::vector<char>{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b'}, 3);
  EXPECT_EQ(describe(file, "bool").type, WINDROW_BOOL);
  EXPECT_STREQ(describe(file, "ascii").text_characters, "ascii");
  EXPECT_EQ(describe(file, "null").is_null, 1);
  EXPECT_THAT(texts_of(file, "texts"), testing::ElementsAre("a", "bb", "ä", ""));
  EXPECT_EQ(texts_of(file, "packed texts").at(999), "bb");
  EXPECT_EQ(describe(file, "refs").type, WINDROW_REFERENCE);
  EXPECT_THAT(texts_of(file, "refs"), testing::ElementsAre("/le", "/bool", ""));
  const char* path_of = nullptr;
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "ref", WINDROW_REFERENCE, &path_of));
  EXPECT_STREQ(path_of, "/le/c8");
  unsigned char flag = 0;
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "flag", WINDROW_BOOL, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_WINDROW_OK(windrow_close(file));
}

INSTANTIATE_TEST_SUITE_P(Formats, Types, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
