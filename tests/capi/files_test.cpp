// SPDX-License-Identifier: BSD-3-Clause
// The life of a file: made, synced, changed in place, discarded; what stands at its path; names, shapes and attributes that a file
// can have.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "checked.hpp"

namespace {

using namespace windrow_test;
using testing::ElementsAre;

class Files : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0) GTEST_SKIP() << "built without HDF5";
  }
  std::string path(const std::string& name = "file") const { return folder_.file(name + GetParam()); }

  windrow_file* create(const std::string& at) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, at.c_str(), nullptr, &file));
    return file;
  }
  windrow_file* open(const std::string& at, int mode = WINDROW_READ) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), mode, nullptr, &file));
    return file;
  }
  // A variable of three numbers a rank: number, number + 1, ...
  static int define(windrow_file* file, const char* name) {
    const int64_t shape[1] = {3 * size_of()};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_INT32, 1, shape, &variable));
    return variable;
  }
  static std::vector<int32_t> numbers(int32_t from) { return {from + 3 * rank_of(), from + 3 * rank_of() + 1, from + 3 * rank_of() + 2}; }
  static void write(windrow_file* file, int variable, int32_t from) {
    const int64_t start[1] = {3 * rank_of()}, count[1] = {3};
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, numbers(from).data()));
  }
  static void expect_numbers(windrow_file* file, const char* name, int32_t from) {
    const int64_t start[1] = {3 * rank_of()}, count[1] = {3};
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    std::vector<int32_t> read(3, -1);
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, read.data()));
    EXPECT_EQ(read, numbers(from)) << name;
  }
  void make(const std::string& at, int32_t from) const {
    windrow_file* file = create(at);
    write(file, define(file, "v"), from);
    write(file, define(file, "w"), from + 1000);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  void expect_made(const std::string& at, int32_t from) const {
    windrow_file* file = open(at);
    expect_numbers(file, "v", from);
    expect_numbers(file, "w", from + 1000);
    EXPECT_WINDROW_OK(windrow_close(file));
  }

  SharedFolder folder_;
};

TEST_P(Files, appear_at_close) {
  make(path(), 1);
  const auto names = folder_.names();
  windrow_file* file = create(path());
  write(file, define(file, "v"), 5);
  write(file, define(file, "w"), 1005);
  expect_made(path(), 1);
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_made(path(), 5);
  EXPECT_EQ(folder_.names(), names);
}

TEST_P(Files, that_are_discarded_leave_no_trace) {
  make(path(), 1);
  const auto names = folder_.names();
  const std::string before = bytes_of_file(path());
  for (const std::string& at : {path(), path("another")}) {
    windrow_file* file = create(at);
    const int variable = define(file, "v");
    write(file, variable, 5);
    EXPECT_WINDROW_OK(windrow_define_group(file, "g"));
    windrow_decomposition* d = nullptr;
    ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 3 * size_of(), WINDROW_EVEN, &d));
    EXPECT_WINDROW_OK(windrow_put(file, variable, d, numbers(1).data()));  // queued, never flushed
    EXPECT_WINDROW_OK(windrow_discard(file));
    windrow_decomposition_free(d);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(folder_.names(), names);
  EXPECT_TRUE(bytes_of_file(path()) == before);
}

TEST_P(Files, that_replace_a_private_one_are_private_from_the_start) {
  make(path(), 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto privately = [&](const std::string& name) {
    struct stat about {};
    return ::stat(folder_.file(name).c_str(), &about) == 0 && (about.st_mode & 07777) == 0600;
  };
  if (rank_of() == 0) {
    for (const std::string& name : folder_.names()) EXPECT_EQ(::chmod(folder_.file(name).c_str(), 0600), 0);
  }
  windrow_file* file = create(path());
  write(file, define(file, "v"), 5);
  for (const std::string& name : folder_.names()) EXPECT_TRUE(privately(name)) << name;
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_WINDROW_OK(windrow_close(file));
  for (const std::string& name : folder_.names()) EXPECT_TRUE(privately(name)) << name;
}

TEST_P(Files, may_have_the_longest_name_that_the_file_system_takes) {
  const size_t ending = GetParam().size() + (GetParam() == ".raw" ? 5 : 0);  // the sidecar's too
  const std::string at = path(std::string(255 - ending, 'n'));
  make(at, 1);
  expect_made(at, 1);
  windrow_file* file = nullptr;
  EXPECT_EQ(windrow_create(MPI_COMM_WORLD, path(std::string(256 - ending, 'n')).c_str(), nullptr, &file), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_create(MPI_COMM_WORLD, (at + "/below" + GetParam()).c_str(), nullptr, &file), WINDROW_NOT_FOUND);
  EXPECT_EQ(folder_.names().size(), GetParam() == ".raw" ? 2U : 1U);
}

TEST_P(Files, are_published_by_a_sync) {
  make(path(), 1);
  windrow_file* file = create(path());
  const int v = define(file, "v"), w = define(file, "w");
  write(file, v, 5);
  write(file, w, 1005);
  EXPECT_WINDROW_OK(windrow_sync(file));
  expect_made(path(), 5);  // while it is still open
  write(file, v, 7);
  write(file, w, 1007);
  EXPECT_WINDROW_OK(windrow_sync(file));
  expect_made(path(), 7);
  write(file, v, 9);
  write(file, w, 1009);
  EXPECT_WINDROW_OK(windrow_close(file));
  expect_made(path(), 9);
  for (const std::string& name : folder_.names()) EXPECT_THAT(name, testing::StartsWith("file"));
}

TEST_P(Files, that_were_synced_stay_when_discarded) {
  windrow_file* file = create(path());
  const int v = define(file, "v"), w = define(file, "w");
  write(file, v, 5);
  write(file, w, 1005);
  EXPECT_WINDROW_OK(windrow_sync(file));
  EXPECT_WINDROW_OK(windrow_discard(file));
  expect_made(path(), 5);
  for (const std::string& name : folder_.names()) EXPECT_THAT(name, testing::StartsWith("file"));
}

TEST_P(Files, are_changed_in_place) {
  make(path(), 1);
  const std::string before = bytes_of_file(path());
  windrow_file* file = open(path(), WINDROW_UPDATE);
  windrow_variable_info info{};
  info.size = sizeof info;
  ASSERT_WINDROW_OK(windrow_inquire_variable(file, 0, &info));
  ASSERT_STREQ(info.path, "/v");
  EXPECT_WINDROW_OK(windrow_close(file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(bytes_of_file(path()) == before) << "opening and closing is no change";
  MPI_Barrier(MPI_COMM_WORLD);

  file = open(path(), WINDROW_UPDATE);
  write(file, 0, 500);
  EXPECT_WINDROW_OK(windrow_close(file));
  std::string after = bytes_of_file(path());
  ASSERT_EQ(after.size(), before.size());
  after.replace(static_cast<size_t>(info.offset), static_cast<size_t>(info.bytes), before, static_cast<size_t>(info.offset),
                static_cast<size_t>(info.bytes));
  EXPECT_TRUE(after == before) << "bytes of other variables were touched";
  file = open(path());
  expect_numbers(file, "v", 500);
  expect_numbers(file, "w", 1001);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Files, grow_in_place) {
  make(path(), 1);
  windrow_file* file = open(path(), WINDROW_UPDATE);
  write(file, define(file, "more/x"), 50);
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "/v", "unit", "K"));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  expect_numbers(file, "v", 1);
  expect_numbers(file, "w", 1001);
  expect_numbers(file, "more/x", 50);
  const char* unit = nullptr;
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/v", "unit", WINDROW_TEXT, &unit));
  EXPECT_STREQ(unit, "K");
  EXPECT_EQ(windrow_close(file), WINDROW_OK);
}

TEST_P(Files, keep_the_mode_of_what_they_replace) {
  make(path(), 1);
  if (rank_of() == 0) {
    EXPECT_EQ(chmod(path().c_str(), 0640), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  make(path(), 2);
  struct stat about {};
  EXPECT_EQ(stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0640u);
  expect_made(path(), 2);
}

TEST_P(Files, behind_a_symbolic_link_are_replaced_there) {
  const std::string target = path("target"), link = path("link");
  make(target, 1);
  if (rank_of() == 0) std::filesystem::create_symlink(std::filesystem::path(target).filename(), link);
  MPI_Barrier(MPI_COMM_WORLD);
  windrow_file* file = create(link);
  write(file, define(file, "v"), 2);
  write(file, define(file, "w"), 1002);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  expect_made(target, 2);
}

TEST_P(Files, have_names_with_spaces_and_letters_of_the_world) {
  const std::string at = path("prüfung 测试 \"x\" %s {}");
  windrow_file* file = create(at);
  const char* names[] = {"größe in m", "группа/температура %d", "a.b{}", "日本/語", "quote\"d", "back\\slash"};
  int32_t from = 0;
  for (const char* name : names) write(file, define(file, name), from += 100);
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "日本/語", "Überschrift", "ein „Text“\nin zwei Zeilen"));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(at);
  EXPECT_EQ(windrow_variable_count(file), 6);
  from = 0;
  for (const char* name : names) expect_numbers(file, name, from += 100);
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_get_attribute(file, "/日本/語", "Überschrift", WINDROW_TEXT, &text));
  EXPECT_STREQ(text, "ein „Text“\nin zwei Zeilen");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Files, refuse_new_names_that_are_not_utf8) {
  windrow_file* file = create(path());
  define(file, "v");
  int variable = -1;
  const char* latin = "gr\xf6\xdf" "e";
  const auto expect_refused = [](int code) {
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    EXPECT_NE(std::string(windrow_error_message()).find("gr\\xf6\\xdfe\" is not valid UTF-8"), std::string::npos) << windrow_error_message();
  };
  expect_refused(windrow_define_variable(file, latin, WINDROW_INT8, 0, nullptr, &variable));
  expect_refused(windrow_define_group(file, latin));
  expect_refused(windrow_put_attribute_text(file, "v", latin, "text"));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "v", "text", latin));  // a text is anybody's
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Files, hold_scalars_and_nothing) {
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

TEST_P(Files, keep_attributes_of_all_types) {
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
  for (int i = 0; i < 3; ++i) EXPECT_STREQ(read[i], texts[i]);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// What is handed out until the file is closed stays where it is while the file grows.
TEST_P(Files, hand_out_text_that_stays) {
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

// More variables than one word of bits, in one flush, and more than a short agreement holds.
TEST_P(Files, give_something_for_what_was_never_written) {
  windrow_file* file = nullptr;
  int first = -1, second = -1;
  const int64_t shape[1] = {1000}, start[1] = {0};
  const int64_t all[1] = {rank_of() == 0 ? shape[0] : 0}, half[1] = {rank_of() == 0 ? 500 : 0};
  std::vector<int32_t> data(1000, 4), read(1000);
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "first", WINDROW_INT32, 1, shape, &first));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "second", WINDROW_INT32, 1, shape, &second));
  EXPECT_WINDROW_OK(windrow_read_block(file, second, start, all, read.data()));
  EXPECT_WINDROW_OK(windrow_write_block(file, first, start, half, data.data()));
  EXPECT_WINDROW_OK(windrow_read_block(file, first, start, all, read.data()));
  if (rank_of() == 0) {
    EXPECT_TRUE(std::all_of(read.begin(), read.begin() + 500, [](int32_t value) { return value == 4; }));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Files, take_the_byte_order_of_the_option) {
  for (const std::string order : {"big", "little"}) {
    windrow_file* file = nullptr;
    int variable = -1;
    const int64_t shape[1] = {3};
    const int32_t data[3] = {1, 2, 0x01020304};
    const Options options{{"byte_order", order}};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape, &variable));
    const int64_t start[1] = {0}, count[1] = {rank_of() == 0 ? 3 : 0};
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data));
    EXPECT_WINDROW_OK(windrow_close(file));
    if (rank_of() != 0) continue;
    std::ifstream in(path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::string found = order == "big" ? std::string("\x01\x02\x03\x04") : std::string("\x04\x03\x02\x01");
    EXPECT_NE(bytes.find(found), std::string::npos) << order;
  }
}

// The program may go to another folder while a file is open.
TEST_P(Files, stay_where_they_were_created) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  windrow_file* file = nullptr;
  int variable = -1;
  const std::string name = "here" + GetParam();
  const int64_t shape[1] = {size_of()}, start[1] = {rank_of()}, count[1] = {1};
  const int32_t value = rank_of();
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, name.c_str(), nullptr, &file));
  std::filesystem::current_path(before);
  ASSERT_NE(file, nullptr);
  EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape, &variable));
  EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, &value));
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_TRUE(std::filesystem::exists(folder_.file(name)));
}

TEST_P(Files, hold_many_variables) {
  constexpr int k_variables = 300;
  windrow_file* file = create(path());
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 3 * size_of(), WINDROW_EVEN, &d));
  std::vector<std::vector<int32_t>> data;
  for (int i = 0; i < k_variables; ++i) data.push_back(numbers(i * 10));
  for (int i = 0; i < k_variables; ++i) EXPECT_EQ(define(file, ("v" + std::to_string(i)).c_str()), i);
  for (int i = 0; i < k_variables; ++i) EXPECT_WINDROW_OK(windrow_put(file, i, d, data[static_cast<size_t>(i)].data()));
  EXPECT_WINDROW_OK(windrow_close(file));  // which flushes
  file = open(path());
  for (int i = 0; i < k_variables; i += 37) expect_numbers(file, ("v" + std::to_string(i)).c_str(), i * 10);
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition_free(d);
}

INSTANTIATE_TEST_SUITE_P(Formats, Files, testing::Values(".raw", ".h5"), [](const auto& format) { return format.param.substr(1); });

}  // namespace
