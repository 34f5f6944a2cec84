// SPDX-License-Identifier: BSD-3-Clause
// Names, shapes and attributes that a file can have.
#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "../capi/files.hpp"

namespace {

using namespace windrow_test;
using testing::ElementsAre;

using Objects = Files;

TEST_P(Objects, have_names_with_spaces_and_letters_of_the_world) {
  const std::string at = path("prüfung 测试 \"x\" %s {}");
  windrow_file* file = create(at);
  const char* names[] = {"größe in m", "группа/температура %d", "a.b{}", "日本/語", "quote\"d", "back\\slash"};
  int32_t from = 0;
  for (const char* name : names)
    write(file, define(file, name), from += 100);
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "日本/語", "Überschrift", "ein „Text“\nin zwei Zeilen"));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(at);
  EXPECT_EQ(windrow_variable_count(file), 6);
  from = 0;
  for (const char* name : names)
    expect_numbers(file, name, from += 100);
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/日本/語", "Überschrift", WINDROW_TEXT, &text));
  EXPECT_STREQ(text, "ein „Text“\nin zwei Zeilen");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Objects, are_defined_many_at_once) {
  windrow_file* file = create(path());
  constexpr int k_many = 450;  // more than fit into one word of a message
  const int64_t shape[1] = {3 * size_of()};
  std::vector<std::string> names;
  for (int i = 0; i < k_many; ++i)
    names.push_back("group " + std::to_string(i % 7) + "/number " + std::to_string(i));
  std::vector<windrow_variable_definition> definitions;
  for (const std::string& name : names)
    definitions.push_back({name.c_str(), WINDROW_INT32, 1, shape, nullptr});
  std::vector<int> numbers(k_many, -1);
  // Refused as a whole: a name twice, a variable as a group, another number on the last rank.
  definitions[449].path = names[3].c_str();
  EXPECT_EQ(windrow_define_variables(file, k_many, definitions.data(), numbers.data()), WINDROW_EXISTS);
  const std::string below = names[0] + "/below";
  definitions[449].path = below.c_str();
  EXPECT_EQ(windrow_define_variables(file, k_many, definitions.data(), numbers.data()), WINDROW_EXISTS);
  definitions[449].path = names[449].c_str();
  if (size_of() > 1) {
    EXPECT_EQ(
        windrow_define_variables(file, rank_of() == size_of() - 1 ? 17 : k_many, definitions.data(), numbers.data()),
        WINDROW_BAD_ARGUMENT);
  }
  if (size_of() > 1) {  // one name that reads like two definitions
    const bool last = rank_of() == size_of() - 1;
    const std::string glued = "a|3|" + std::to_string(shape[0]) + "|false;b";
    const windrow_variable_definition one[1] = {{glued.c_str(), WINDROW_INT32, 1, shape, nullptr}};
    const windrow_variable_definition two[2] = {{"a", WINDROW_INT32, 1, shape, nullptr},
                                                {"b", WINDROW_INT32, 1, shape, nullptr}};
    EXPECT_EQ(windrow_define_variables(file, last ? 1 : 2, last ? one : two, numbers.data()), WINDROW_BAD_ARGUMENT);
  }
  EXPECT_EQ(windrow_define_variables(file, -1, definitions.data(), numbers.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_define_variables(file, 1, nullptr, numbers.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_variable_count(file), 0);
  EXPECT_WINDROW_OK(windrow_define_variables(file, 0, nullptr, nullptr));
  EXPECT_WINDROW_OK(windrow_define_variables(file, k_many, definitions.data(), numbers.data()));
  EXPECT_EQ(windrow_group_count(file), 8);
  for (int i = 0; i < k_many; ++i) {
    int found = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, names[static_cast<size_t>(i)].c_str(), &found));
    EXPECT_EQ(found, i);
    EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
  }
  write(file, numbers[449], 5);
  write(file, numbers[0], 9);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  expect_numbers(file, names[449].c_str(), 5);
  expect_numbers(file, names[0].c_str(), 9);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Objects, refuse_new_names_that_are_not_utf8) {
  windrow_file* file = create(path());
  define(file, "v");
  int variable = -1;
  const char* latin =
      "gr\xf6\xdf"
      "e";
  const auto expect_refused = [](int code) {
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    EXPECT_NE(std::string(windrow_error_message()).find("gr\\xf6\\xdfe\" is not valid UTF-8"), std::string::npos)
        << windrow_error_message();
  };
  expect_refused(windrow_define_variable(file, latin, WINDROW_INT8, 0, nullptr, &variable));
  expect_refused(windrow_define_group(file, latin));
  expect_refused(windrow_put_attribute_text(file, "v", latin, "text"));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "v", "text", latin));  // a text of any origin
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Objects, hold_scalars_and_nothing) {
  windrow_file* file = create(path());
  int scalar = -1, none = -1;
  const int64_t empty[3] = {4, 0, 7};
  EXPECT_WINDROW_OK(windrow_define_variable(file, "scalar", WINDROW_FLOAT64, 0, nullptr, &scalar));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "none", WINDROW_UINT16, 3, empty, &none));
  const double value = 2.5 + rank_of();
  EXPECT_WINDROW_OK(windrow_write_block(file, scalar, nullptr, nullptr, &value));
  const int64_t start[3] = {0, 0, 0}, count[3] = {4, 0, 7};
  EXPECT_WINDROW_OK(windrow_write_block(file, none, start, count, nullptr));
  windrow_decomposition* d = nullptr;
  EXPECT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 4, WINDROW_EVEN, &d));
  EXPECT_WINDROW_OK(windrow_write(file, none, d, nullptr));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  double read = 0;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "scalar", &scalar));
  EXPECT_WINDROW_OK(windrow_read_block(file, scalar, nullptr, nullptr, &read));
  EXPECT_EQ(read, 2.5 + size_of() - 1);  // undeclared overlap: the highest rank
  EXPECT_WINDROW_OK(windrow_find_variable(file, "none", &none));
  EXPECT_WINDROW_OK(windrow_read(file, none, d, nullptr));
  windrow_variable_info info{};
  info.size = sizeof info;
  EXPECT_WINDROW_OK(windrow_inquire_variable(file, none, &info));
  EXPECT_EQ(info.ndims, 3);
  EXPECT_THAT(std::vector<int64_t>(info.shape, info.shape + 3), ElementsAre(4, 0, 7));
  EXPECT_EQ(info.bytes, 0);
  EXPECT_STREQ(info.unsupported, "");
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition_free(d);
}

template <class T>
void round_trip(windrow_file* to, const std::function<windrow_file*(windrow_file*)>& reopen, int type) {
  const std::string name = std::string("a list of ") + windrow_type_name(type);
  const std::vector<T> values{std::numeric_limits<T>::lowest(), T{0}, T{1}, std::numeric_limits<T>::max()};
  const int64_t shape[2] = {2, 2};
  EXPECT_WINDROW_OK(windrow_put_attribute(to, "/", name.c_str(), type, 2, shape, values.data()));
  EXPECT_WINDROW_OK(windrow_put_attribute(to, "/v", "one", type, 0, nullptr, &values[3]));
  for (windrow_file* file : {to, reopen(to)}) {
    std::vector<T> read(4);
    T one{};
    EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", name.c_str(), type, read.data()));
    EXPECT_WINDROW_OK(windrow_get_attribute(file, "v", "one", type, &one));
    EXPECT_EQ(read, values) << name;
    EXPECT_EQ(one, values[3]) << name;
    if (file != to) {
      EXPECT_WINDROW_OK(windrow_close(file));
    }
  }
}

TEST_P(Objects, keep_attributes_of_all_types) {
  windrow_file* file = create(path());
  write(file, define(file, "v"), 1);
  const auto reopen = [&](windrow_file* synced) {
    EXPECT_WINDROW_OK(windrow_sync(synced));
    return open(path());
  };
  round_trip<int8_t>(file, reopen, WINDROW_INT8);
  round_trip<uint8_t>(file, reopen, WINDROW_UINT8);
  round_trip<int16_t>(file, reopen, WINDROW_INT16);
  round_trip<uint16_t>(file, reopen, WINDROW_UINT16);
  round_trip<int32_t>(file, reopen, WINDROW_INT32);
  round_trip<uint32_t>(file, reopen, WINDROW_UINT32);
  round_trip<int64_t>(file, reopen, WINDROW_INT64);
  round_trip<uint64_t>(file, reopen, WINDROW_UINT64);
  round_trip<float>(file, reopen, WINDROW_FLOAT32);
  round_trip<double>(file, reopen, WINDROW_FLOAT64);
  const char* texts[3] = {"", "a text that is longer than a short string", "ü"};
  const int64_t three[1] = {3}, none[1] = {0};
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "/", "texts", WINDROW_TEXT, 1, three, texts));
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "/", "none", WINDROW_INT32, 1, none, nullptr));
  EXPECT_WINDROW_OK(windrow_put_attribute(file, "/", "no texts", WINDROW_TEXT, 1, none, nullptr));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  EXPECT_EQ(windrow_attribute_count(file, "/"), 13);
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "none", WINDROW_INT32, nullptr));
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "no texts", WINDROW_TEXT, nullptr));
  EXPECT_EQ(windrow_get_attribute(file, "/", "texts", WINDROW_TEXT, nullptr), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_attribute_count(file, "/v"), 1);
  const char* read[3] = {};
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "texts", WINDROW_TEXT, read));
  for (int i = 0; i < 3; ++i)
    EXPECT_STREQ(read[i], texts[i]);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// What is handed out until the file is closed stays where it is while the file grows.
TEST_P(Objects, hand_out_text_that_stays) {
  windrow_file* file = create(path());
  define(file, "v");
  EXPECT_WINDROW_OK(windrow_define_group(file, "g"));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "/", "a", "old"));
  windrow_variable_info variable{};
  variable.size = sizeof variable;
  windrow_attribute_info attribute{};
  attribute.size = sizeof attribute;
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_inquire_variable(file, 0, &variable));
  EXPECT_WINDROW_OK(windrow_inquire_attribute(file, "/", 0, &attribute));
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "a", WINDROW_TEXT, &text));
  const char* group = windrow_group_path(file, 1);
  for (int i = 0; i < 40; ++i) {
    define(file, ("g" + std::to_string(i) + "/v").c_str());
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "/", ("a" + std::to_string(i)).c_str(), "x"));
  }
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "/", "a", "new"));
  EXPECT_STREQ(variable.path, "/v");
  EXPECT_STREQ(attribute.name, "a");
  EXPECT_STREQ(text, "old");
  EXPECT_STREQ(group, "/g");
  EXPECT_WINDROW_OK(windrow_discard(file));
}

INSTANTIATE_TEST_SUITE_P(Formats, Objects, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
