// SPDX-License-Identifier: BSD-3-Clause
// The life cycle of a file: created, synced, changed in place, discarded; and the file that exists at its path.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../capi/files.hpp"

namespace {

using namespace windrow_test;

TEST_P(Files, appear_at_close) {
  make(path(), 1);
  const auto names = folder_.names();
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 makes its temporary at once
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
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 makes its temporary at once
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
    for (const std::string& name : folder_.names())
      EXPECT_EQ(::chmod(folder_.file(name).c_str(), 0600), 0);
  }
  windrow_file* file = create(path());
  write(file, define(file, "v"), 5);
  for (const std::string& name : folder_.names())
    EXPECT_TRUE(privately(name)) << name;
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_WINDROW_OK(windrow_close(file));
  for (const std::string& name : folder_.names())
    EXPECT_TRUE(privately(name)) << name;
}

TEST_P(Files, may_have_the_longest_name_that_the_file_system_takes) {
  const size_t ending = GetParam().size() + (GetParam() == ".raw" ? 5 : 0);  // the sidecar's too
  const std::string at = path(std::string(255 - ending, 'n'));
  make(at, 1);
  expect_made(at, 1);
  windrow_file* file = nullptr;
  EXPECT_EQ(windrow_create(MPI_COMM_WORLD, path(std::string(256 - ending, 'n')).c_str(), nullptr, &file),
            WINDROW_BAD_ARGUMENT);
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
  for (const std::string& name : folder_.names())
    EXPECT_THAT(name, testing::StartsWith("file"));
}

TEST_P(Files, that_were_synced_stay_when_discarded) {
  windrow_file* file = create(path());
  const int v = define(file, "v"), w = define(file, "w");
  write(file, v, 5);
  write(file, w, 1005);
  EXPECT_WINDROW_OK(windrow_sync(file));
  EXPECT_WINDROW_OK(windrow_discard(file));
  expect_made(path(), 5);
  for (const std::string& name : folder_.names())
    EXPECT_THAT(name, testing::StartsWith("file"));
}

TEST_P(Files, are_changed_in_place) {
  make(path(), 1);
  const std::string before = bytes_of_file(path());
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 opens at once
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
  after.replace(static_cast<size_t>(info.offset), static_cast<size_t>(info.bytes), before,
                static_cast<size_t>(info.offset), static_cast<size_t>(info.bytes));
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
  if (rank_of() == 0)
    std::filesystem::create_symlink(std::filesystem::path(target).filename(), link);
  MPI_Barrier(MPI_COMM_WORLD);
  windrow_file* file = create(link);
  write(file, define(file, "v"), 2);
  write(file, define(file, "w"), 1002);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  expect_made(target, 2);
}

// More variables than bits in one word, in one flush, and more than fit into a short agreement.
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
    if (rank_of() != 0)
      continue;
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
  for (int i = 0; i < k_variables; ++i)
    data.push_back(numbers(i * 10));
  for (int i = 0; i < k_variables; ++i)
    EXPECT_EQ(define(file, ("v" + std::to_string(i)).c_str()), i);
  for (int i = 0; i < k_variables; ++i)
    EXPECT_WINDROW_OK(windrow_put(file, i, d, data[static_cast<size_t>(i)].data()));
  EXPECT_WINDROW_OK(windrow_close(file));  // which flushes
  file = open(path());
  for (int i = 0; i < k_variables; i += 37)
    expect_numbers(file, ("v" + std::to_string(i)).c_str(), i * 10);
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition_free(d);
}

INSTANTIATE_TEST_SUITE_P(Formats, Files, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
