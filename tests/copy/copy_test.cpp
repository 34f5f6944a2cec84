// SPDX-License-Identifier: BSD-3-Clause
// windrow_copy(): what comes over, what it says, and errors that are the same on every rank.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <numeric>

#include "../capi/checked.hpp"
#include "windrow/windrow.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_rows = 60, k_columns = 50;

std::vector<double> numbers_of(int64_t first, int64_t rows) {
  std::vector<double> values(static_cast<size_t>(rows * k_columns));
  std::iota(values.begin(), values.end(), static_cast<double>(first * k_columns));
  return values;
}

void make(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file));
  const int64_t shape[2] = {k_rows, k_columns}, start[2] = {0, 0}, count[2] = {rank_of() == 0 ? k_rows : 0, k_columns};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_group(file, "group"));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "group/table", WINDROW_FLOAT64, 2, shape, &variable));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "group/table", "units", "K"));
  EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, numbers_of(0, k_rows).data()));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "one", WINDROW_INT32, 0, nullptr, &variable));
  EXPECT_WINDROW_OK(windrow_close(file));
}

void expect_copied(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "group/table", &variable));
  const int64_t first = rank_of(), start[2] = {first, 0}, count[2] = {k_rows - first, k_columns};
  std::vector<double> values(static_cast<size_t>(count[0] * k_columns), -1);
  EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, values.data()));
  EXPECT_EQ(values, numbers_of(first, count[0]));
  EXPECT_EQ(windrow_attribute_count(file, "group/table"), 1);
  EXPECT_WINDROW_OK(windrow_close(file));
}

struct Steps {
  int64_t calls = 0, done = 0, total = 0;
  static void note(void* context, int64_t done, int64_t total) {
    Steps& steps = *static_cast<Steps*>(context);
    ++steps.calls;
    EXPECT_GT(done, steps.done);
    steps.done = done;
    steps.total = total;
  }
};

class Copies : public testing::Test {
 protected:
  std::string path(const std::string& name) const {
    return folder_.file(name + (windrow_has("hdf5") != 0 ? ".h5" : ".raw"));
  }
  void expect_error(int code, int expected, const std::string& part) {
    EXPECT_EQ(code, expected);
    EXPECT_THAT(windrow_error_message(), HasSubstr(part));
    expect_same_everywhere(code);
  }
  const SharedFolder folder_;
};

TEST_F(Copies, have_all_of_a_file_and_say_what_was_done) {
  make(path("a"));
  Steps steps;
  windrow_copy_info info{};
  info.size = sizeof info;
  info.buffer_bytes = 4096;
  info.explains = 1;
  info.progress = &Steps::note;
  info.context = &steps;
  ASSERT_WINDROW_OK(windrow_copy(MPI_COMM_WORLD, path("a").c_str(), path("b").c_str(), nullptr, &info));
  expect_copied(path("b"));
  const int64_t bytes = k_rows * k_columns * 8 + 4;
  EXPECT_EQ(std::vector<int64_t>({info.begun, info.variables, info.groups, info.attributes, info.bytes}),
            std::vector<int64_t>({1, 2, 2, 1, bytes}));
  EXPECT_GT(steps.calls, 1);
  EXPECT_EQ(steps.done, bytes);
  EXPECT_EQ(steps.total, bytes);
  EXPECT_STREQ(info.refused, "");
  const auto details = nlohmann::json::parse(info.details);
  EXPECT_EQ(details["report"]["write"]["bytes"], bytes);
  EXPECT_EQ(details["plan"]["read"].at(0)["direction"], "read");
  EXPECT_THAT(details["explanation"]["write"].get<std::string>(), HasSubstr("plan to write"));
}

TEST_F(Copies, become_other_formats_and_replace_what_is_there) {
  make(path("a"));
  make(folder_.file("b.raw"));
  const Options raw{{"format", "raw"}, {"strategy", "two-phase"}};
  ASSERT_WINDROW_OK(windrow_copy(MPI_COMM_WORLD, path("a").c_str(), folder_.file("no ending").c_str(), raw, nullptr));
  expect_copied(folder_.file("no ending"));
  ASSERT_WINDROW_OK(
      windrow_copy(MPI_COMM_WORLD, folder_.file("no ending").c_str(), folder_.file("b.raw").c_str(), nullptr, nullptr));
  expect_copied(folder_.file("b.raw"));
}

TEST_F(Copies, are_made_from_cpp) {
  make(path("a"));
  const windrow_copy_info info =
      windrow::copy_file(MPI_COMM_WORLD, path("a"), path("b"), windrow::Options{{"strategy", "list"}});
  EXPECT_EQ(info.variables, 2);
  expect_copied(path("b"));
  EXPECT_THROW(windrow::copy_file(MPI_COMM_WORLD, path("none"), path("b")), windrow::Error);
}

TEST_F(Copies, that_cannot_be_are_errors_on_all_ranks) {
  make(path("a"));
  const std::string a = path("a"), b = path("b");
  const auto copy = [](const char* from, const char* to, windrow_copy_info* info = nullptr) {
    return windrow_copy(MPI_COMM_WORLD, from, to, nullptr, info);
  };
  windrow_copy_info info{};
  info.size = sizeof info;
  expect_error(copy(path("none").c_str(), b.c_str(), &info), WINDROW_NOT_FOUND, "none");
  EXPECT_EQ(info.begun, 0);
  EXPECT_STREQ(info.details, "");
  expect_error(copy(a.c_str(), a.c_str()), WINDROW_BAD_ARGUMENT, "are the same file");
  expect_error(copy(a.c_str(), folder_.path().c_str()), WINDROW_BAD_ARGUMENT, "is a folder");
  expect_error(copy(a.c_str(), folder_.file("no ending").c_str()), WINDROW_BAD_ARGUMENT, "no ending");
  const bool last = rank_of() == size_of() - 1;
  expect_error(copy(a.c_str(), last ? nullptr : b.c_str()), WINDROW_BAD_ARGUMENT, "the target is NULL");
  info.size = last ? 1 : info.size;
  expect_error(copy(a.c_str(), b.c_str(), &info), WINDROW_BAD_ARGUMENT, "size of windrow_copy_info");
  if (size_of() > 1)
    expect_error(copy(a.c_str(), last ? b.c_str() : path("c").c_str()), WINDROW_BAD_ARGUMENT, "differ");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(std::filesystem::exists(b), false);
}

TEST_F(Copies, name_what_the_target_cannot_hold_and_write_nothing) {
  if (windrow_has("netcdf") == 0)
    GTEST_SKIP() << "built without PnetCDF";
  const std::string source = folder_.file("a.raw"), target = folder_.file("b.nc");
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, source.c_str(), nullptr, &file));
  EXPECT_WINDROW_OK(windrow_define_group(file, "group"));  // netCDF classic has none
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_copy_info info{};
  info.size = sizeof info;
  expect_error(windrow_copy(MPI_COMM_WORLD, source.c_str(), target.c_str(), nullptr, &info), WINDROW_UNSUPPORTED,
               "1 part that cannot be copied yet");
  EXPECT_THAT(info.refused, HasSubstr("/group: "));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(folder_.names(), std::vector<std::string>({"a.raw", "a.raw.json"}));
}

}  // namespace
