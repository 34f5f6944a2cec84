// SPDX-License-Identifier: BSD-3-Clause
// Wrong use on all ranks alike: the code, and a message that says what and where. And what can be asked of the library.
#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include "checked.hpp"

namespace {

using namespace windrow_test;
using testing::AllOf;
using testing::HasSubstr;

#define EXPECT_WINDROW_ERROR(call, expected, words)           \
  do {                                                        \
    EXPECT_EQ((call), (expected)) << windrow_error_message(); \
    EXPECT_THAT(windrow_error_message(), HasSubstr(words));   \
  } while (false)

class Misuse : public testing::Test {
 protected:
  std::string path() const { return folder_.file("file.raw"); }
  windrow_file* create() const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
    return file;
  }
  SharedFolder folder_;
};

TEST_F(Misuse, of_paths) {
  windrow_file* file = reinterpret_cast<windrow_file*>(1);
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, folder_.file("no/such/folder/a.raw").c_str(), nullptr, &file),
                       WINDROW_NOT_FOUND, "no such file");
  EXPECT_EQ(file, nullptr);
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, folder_.path().c_str(), nullptr, &file), WINDROW_BAD_ARGUMENT,
                       "does not select a format");
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, folder_.file("a").c_str(), nullptr, &file), WINDROW_BAD_ARGUMENT,
                       ".h5");
  const Options raw{{"format", "raw"}};
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, folder_.path().c_str(), raw, &file), WINDROW_BAD_ARGUMENT,
                       "is a directory");
  EXPECT_WINDROW_ERROR(windrow_open(MPI_COMM_WORLD, folder_.file("missing.raw").c_str(), WINDROW_READ, nullptr, &file),
                       WINDROW_NOT_FOUND, "missing.raw");
  EXPECT_WINDROW_ERROR(windrow_open(MPI_COMM_WORLD, path().c_str(), 2, nullptr, &file), WINDROW_BAD_ARGUMENT,
                       "WINDROW_READ");
  if (rank_of() == 0)
    std::ofstream(folder_.file("text.raw")) << "This is neither.";
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_WINDROW_ERROR(windrow_open(MPI_COMM_WORLD, folder_.file("text.raw").c_str(), WINDROW_READ, nullptr, &file),
                       WINDROW_BAD_FILE, "text.raw");
  EXPECT_WINDROW_ERROR(windrow_open(MPI_COMM_WORLD, folder_.file("text.raw").c_str(), WINDROW_UPDATE, nullptr, &file),
                       WINDROW_BAD_FILE, "text.raw");
  const std::string too_long = folder_.file(std::string(255, 'x') + ".raw");
  EXPECT_NE(windrow_create(MPI_COMM_WORLD, too_long.c_str(), nullptr, &file), WINDROW_OK);
  EXPECT_EQ(windrow_error_rank(), 0) << windrow_error_message();
}

TEST_F(Misuse, of_options) {
  windrow_options* options = nullptr;
  EXPECT_WINDROW_ERROR(windrow_options_create(nullptr), WINDROW_BAD_ARGUMENT, "NULL");
  ASSERT_WINDROW_OK(windrow_options_create(&options));
  EXPECT_WINDROW_ERROR(windrow_options_set(options, "stratgy", "auto"), WINDROW_BAD_ARGUMENT, "did you mean strategy");
  EXPECT_WINDROW_ERROR(windrow_options_set(options, "strategy", "fast"), WINDROW_BAD_ARGUMENT, "two-phase");
  EXPECT_WINDROW_ERROR(windrow_options_set(options, "buffer", "much"), WINDROW_BAD_ARGUMENT, "16MiB");
  EXPECT_WINDROW_ERROR(windrow_options_set(options, "buffer", "-1"), WINDROW_BAD_ARGUMENT, "buffer");
  EXPECT_WINDROW_ERROR(windrow_options_set(options, "gather", "team(0)"), WINDROW_BAD_ARGUMENT, "gather");
  EXPECT_WINDROW_ERROR(windrow_options_set(options, nullptr, "x"), WINDROW_BAD_ARGUMENT, "key of an option is NULL");
  EXPECT_WINDROW_ERROR(windrow_options_set(options, "buffer", nullptr), WINDROW_BAD_ARGUMENT,
                       "value of an option is NULL");
  EXPECT_WINDROW_ERROR(windrow_options_set(nullptr, "buffer", "1"), WINDROW_BAD_ARGUMENT, "options is NULL");
  windrow_file* file = nullptr;
  EXPECT_WINDROW_OK(windrow_options_set(options, "buffer", "2GiB"));
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file), WINDROW_BAD_ARGUMENT, "1 GiB");
  EXPECT_WINDROW_OK(windrow_options_set(options, "buffer", "1MiB"));
  EXPECT_WINDROW_OK(windrow_options_set(options, "fault", "operation=write,error=io"));
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file), WINDROW_BAD_ARGUMENT,
                       "only the store \"faulty\"");
  EXPECT_WINDROW_OK(windrow_options_set(options, "store", "faulty"));
  EXPECT_WINDROW_OK(windrow_options_set(options, "fault", "garbage"));
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file), WINDROW_BAD_ARGUMENT,
                       "fault: garbage");
  windrow_options_free(options);
  windrow_options_free(nullptr);
}

TEST_F(Misuse, of_a_file_that_is_not_there) {
  int number = 0;
  const char* text = nullptr;
  const int64_t shape[1] = {1};
  EXPECT_WINDROW_ERROR(windrow_sync(nullptr), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_flush(nullptr), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_define_group(nullptr, "g"), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_define_variable(nullptr, "v", WINDROW_INT8, 1, shape, &number), WINDROW_BAD_ARGUMENT,
                       "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_put(nullptr, 0, nullptr, nullptr), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_explain(nullptr, "text", &text), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_report(nullptr, "text", &text), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_find_variable(nullptr, "v", &number), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_EQ(windrow_variable_count(nullptr), -1);
  EXPECT_EQ(windrow_group_count(nullptr), -1);
  EXPECT_EQ(windrow_group_path(nullptr, 0), nullptr);
  EXPECT_EQ(windrow_attribute_count(nullptr, "/"), -1);
  EXPECT_STREQ(windrow_unsupported_objects(nullptr), "");
  EXPECT_EQ(windrow_close(nullptr), WINDROW_OK);
  EXPECT_EQ(windrow_discard(nullptr), WINDROW_OK);
  windrow_decomposition_free(nullptr);
}

TEST_F(Misuse, of_definitions) {
  windrow_file* file = create();
  int variable = -1;
  const int64_t shape[2] = {3, 4}, huge[3] = {int64_t{1} << 40, int64_t{1} << 20, 8};
  EXPECT_WINDROW_OK(windrow_define_variable(file, "g/v", WINDROW_INT32, 2, shape, &variable));
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "/g/v", WINDROW_INT32, 2, shape, &variable), WINDROW_EXISTS,
                       "\"/g/v\"");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "g", WINDROW_INT32, 2, shape, &variable), WINDROW_EXISTS,
                       "\"/g\"");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "g/v/w", WINDROW_INT32, 2, shape, &variable), WINDROW_EXISTS,
                       "is a variable, not a group");
  EXPECT_WINDROW_ERROR(windrow_define_group(file, "g/v"), WINDROW_EXISTS, "is a variable, not a group");
  EXPECT_WINDROW_OK(windrow_define_group(file, "g"));  // one that exists is fine
  EXPECT_WINDROW_OK(windrow_define_group(file, "/"));
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "/", WINDROW_INT32, 2, shape, &variable), WINDROW_BAD_ARGUMENT,
                       "needs a name");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "", WINDROW_INT32, 2, shape, &variable), WINDROW_BAD_ARGUMENT,
                       "needs a name");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "a/../b", WINDROW_INT32, 2, shape, &variable),
                       WINDROW_BAD_ARGUMENT, "..");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "t", 99, 2, shape, &variable), WINDROW_BAD_ARGUMENT,
                       "variable \"t\": there is no type 99");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "t", 0, 2, shape, &variable), WINDROW_BAD_ARGUMENT,
                       "there is no type 0");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "h", WINDROW_FLOAT64, 3, huge, &variable), WINDROW_BAD_ARGUMENT,
                       "exceeds the maximum size of a file");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "n", WINDROW_FLOAT64, 3, nullptr, &variable), WINDROW_BAD_ARGUMENT,
                       "the shape is NULL");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "n", WINDROW_FLOAT64, -1, shape, &variable), WINDROW_BAD_ARGUMENT,
                       "ndims is -1");
  EXPECT_EQ(windrow_variable_count(file), 1);
  EXPECT_EQ(windrow_group_count(file), 2);
  EXPECT_WINDROW_ERROR(windrow_find_variable(file, "nothing", &variable), WINDROW_NOT_FOUND, "nothing");
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_F(Misuse, of_inquiries) {
  windrow_file* file = create();
  int variable = -1;
  const int64_t shape[1] = {3};
  EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape, &variable));
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "v", "unit", "K"));
  windrow_variable_info info{};
  EXPECT_WINDROW_ERROR(windrow_inquire_variable(file, 0, &info), WINDROW_BAD_ARGUMENT, "size");
  EXPECT_WINDROW_ERROR(windrow_inquire_variable(file, 0, nullptr), WINDROW_BAD_ARGUMENT, "info is NULL");
  info.size = sizeof info + 1;
  EXPECT_WINDROW_ERROR(windrow_inquire_variable(file, 0, &info), WINDROW_BAD_ARGUMENT, "size");
  info.size = sizeof info;
  EXPECT_WINDROW_ERROR(windrow_inquire_variable(file, 1, &info), WINDROW_BAD_ARGUMENT, "1");
  EXPECT_WINDROW_ERROR(windrow_inquire_variable(file, -1, &info), WINDROW_BAD_ARGUMENT, "-1");
  info.size = offsetof(windrow_variable_info, shape);  // as an older program has it
  info.bytes = 77;
  EXPECT_WINDROW_OK(windrow_inquire_variable(file, 0, &info));
  EXPECT_EQ(info.ndims, 1);
  EXPECT_EQ(info.bytes, 77) << "written beyond what the caller has";
  windrow_attribute_info about{};
  about.size = sizeof about;
  EXPECT_WINDROW_ERROR(windrow_inquire_attribute(file, "/w", 0, &about), WINDROW_NOT_FOUND, "no such");
  EXPECT_WINDROW_ERROR(windrow_inquire_attribute(file, "/v", 1, &about), WINDROW_BAD_ARGUMENT, "1");
  int32_t number = 0;
  EXPECT_WINDROW_ERROR(windrow_get_attribute(file, "/v", "unit", WINDROW_INT32, &number), WINDROW_BAD_ARGUMENT,
                       "is text, not int32");
  EXPECT_WINDROW_ERROR(windrow_get_attribute(file, "/v", "units", WINDROW_INT32, &number), WINDROW_NOT_FOUND,
                       "\"units\"");
  EXPECT_WINDROW_ERROR(windrow_get_attribute(file, "/v", "unit", WINDROW_TEXT, nullptr), WINDROW_BAD_ARGUMENT, "NULL");
  EXPECT_WINDROW_ERROR(windrow_get_attribute(nullptr, "/v", "unit", WINDROW_TEXT, nullptr), WINDROW_BAD_ARGUMENT,
                       "the file is NULL");
  EXPECT_WINDROW_ERROR(windrow_inquire_attribute(nullptr, "/v", 0, &about), WINDROW_BAD_ARGUMENT, "the file is NULL");
  EXPECT_EQ(windrow_attribute_count(file, "/w"), -1);
  EXPECT_EQ(windrow_attribute_count(file, nullptr), -1);
  EXPECT_EQ(windrow_group_path(file, 1), nullptr);
  EXPECT_STREQ(windrow_group_path(file, 0), "/");
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_F(Misuse, of_a_file_that_is_read) {
  windrow_file* file = create();
  int variable = -1;
  const int64_t shape[1] = {size_of()}, start[1] = {rank_of()}, count[1] = {1};
  const int32_t value = 3;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape, &variable));
  EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, &value));
  EXPECT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_WINDROW_ERROR(windrow_define_group(file, "g"), WINDROW_BAD_STATE, "reading only");
  EXPECT_WINDROW_ERROR(windrow_define_variable(file, "w", WINDROW_INT8, 1, shape, &variable), WINDROW_BAD_STATE,
                       "reading only");
  EXPECT_WINDROW_ERROR(windrow_put_attribute_text(file, "/", "a", "b"), WINDROW_BAD_STATE, "reading only");
  EXPECT_WINDROW_ERROR(windrow_sync(file), WINDROW_BAD_STATE, "reading only");
  EXPECT_WINDROW_ERROR(windrow_write_block(file, 0, start, count, &value), WINDROW_BAD_STATE, "reading only");
  int32_t read = 0;
  EXPECT_WINDROW_OK(windrow_read_block(file, 0, start, count, &read));
  EXPECT_EQ(read, 3);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// The flush reports an error in the queue, and empties the queue.
TEST_F(Misuse, of_the_queue) {
  windrow_file* file = create();
  int variable = -1;
  const int64_t shape[1] = {size_of()};
  int32_t value = 3;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape, &variable));
  windrow_decomposition *d = nullptr, *other = nullptr;
  ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, size_of(), WINDROW_EVEN, &d));
  ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, size_of() + 1, WINDROW_EVEN, &other));
  EXPECT_WINDROW_OK(windrow_put(file, variable, d, &value));
  EXPECT_WINDROW_ERROR(windrow_put(file, variable, other, &value), WINDROW_BAD_ARGUMENT, "put of \"/v\"");
  EXPECT_WINDROW_ERROR(windrow_get(file, 9, d, &value), WINDROW_BAD_ARGUMENT, "no variable number 9");
  EXPECT_WINDROW_ERROR(windrow_flush(file), WINDROW_BAD_ARGUMENT, "put of \"/v\"");  // the first of them
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_WINDROW_OK(windrow_write(file, variable, d, &value));
  windrow_decomposition_free(other);
  // Freed after it was queued: against the rules, and harmless.
  EXPECT_WINDROW_OK(windrow_put(file, variable, d, &value));
  windrow_decomposition_free(d);
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_WINDROW_OK(windrow_close(file));
}

// It would keep the file from being published, with all that is in it.
TEST_F(Misuse, of_a_file_system_that_has_no_such_files) {
  windrow_file* file = create();
  int small = -1, huge = -1;
  const int64_t few[1] = {10}, all[1] = {rank_of() == 0 ? 10 : 0}, first[1] = {0}, many[1] = {int64_t{1} << 56};
  std::vector<double> values(10, 1.5);
  ASSERT_WINDROW_OK(windrow_define_variable(file, "small", WINDROW_FLOAT64, 1, few, &small));
  ASSERT_WINDROW_OK(windrow_write_block(file, small, first, all, values.data()));
  int there = 0;
  if (rank_of() == 0) {
    const std::string other = folder_.file("other");
    std::ofstream(other).put(' ');
    there = ::truncate(other.c_str(), int64_t{1} << 59) == 0 ? 1 : 0;
  }
  MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int code = windrow_define_variable(file, "huge", WINDROW_FLOAT64, 1, many, &huge);
  EXPECT_EQ(code == WINDROW_OK, there == 1);
  if (code == WINDROW_OK) {
    EXPECT_WINDROW_OK(windrow_discard(file));
    GTEST_SKIP() << "this file system has such files";
  }
  // With the bytes before it the file may be slightly longer.
  EXPECT_THAT(windrow_error_message(), AllOf(HasSubstr("variable \"/huge\" of 512 PiB: a file of 5"),
                                             HasSubstr(" beside \"" + path() + "\": file too large")));
  EXPECT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  values.assign(10, 0);
  EXPECT_WINDROW_OK(windrow_read_block(file, small, first, few, values.data()));
  EXPECT_EQ(values, std::vector<double>(10, 1.5));
  EXPECT_WINDROW_OK(windrow_close(file));
}

// The next flush reports an error that a binding finds on the last rank to all ranks, and moves nothing.
TEST_F(Misuse, told_by_one_rank) {
  windrow_file* file = create();
  int variable = -1;
  const int64_t shape[1] = {size_of()}, start[1] = {rank_of()}, count[1] = {1}, nothing[1] = {0};
  int32_t value = 3;
  const bool refuses = rank_of() == size_of() - 1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape, &variable));
  EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, &value));
  value = 4;
  if (refuses) {
    EXPECT_WINDROW_ERROR(windrow_refuse(file, "too short a list"), WINDROW_BAD_ARGUMENT, "too short a list");
  }
  EXPECT_WINDROW_ERROR(
      windrow_write_block(file, variable, refuses ? nothing : start, refuses ? nothing : count, &value),
      WINDROW_BAD_ARGUMENT, "too short a list");
  EXPECT_EQ(windrow_error_rank(), size_of() - 1);
  EXPECT_WINDROW_OK(windrow_flush(file));
  // A block of any variable is accepted, with any shape.
  int cube = -1;
  const int64_t sides[3] = {2, 3, 4}, none[3] = {0, 0, 0};
  EXPECT_WINDROW_OK(windrow_define_variable(file, "cube", WINDROW_INT32, 3, sides, &cube));
  if (refuses) {
    EXPECT_WINDROW_ERROR(windrow_refuse(file, "too long a list"), WINDROW_BAD_ARGUMENT, "too long a list");
  }
  EXPECT_WINDROW_ERROR(
      windrow_write_block(file, refuses ? cube : variable, refuses ? none : start, refuses ? none : count, &value),
      WINDROW_BAD_ARGUMENT, "too long a list");
  EXPECT_EQ(windrow_error_rank(), size_of() - 1);
  const int64_t behind[1] = {size_of()};
  EXPECT_WINDROW_ERROR(windrow_write_block(file, variable, refuses ? behind : start, count, &value),
                       WINDROW_BAD_ARGUMENT, "write_block of \"/v\": ");
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, &value));
  EXPECT_EQ(value, 3);
  EXPECT_WINDROW_ERROR(windrow_refuse(nullptr, "only here"), WINDROW_BAD_ARGUMENT, "only here");
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_WINDROW_ERROR(windrow_refuse(nullptr, nullptr), WINDROW_BAD_ARGUMENT, "the message is NULL");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Misuse, of_rows) {
  windrow_decomposition* d = nullptr;
  int64_t first = -1, count = -1;
  const int64_t one[1] = {1}, zero[1] = {0};
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, one, zero, one, nullptr, nullptr, &d));
  EXPECT_WINDROW_ERROR(windrow_decomposition_rows(d, &first, &count), WINDROW_BAD_ARGUMENT, "windrow_rows()");
  windrow_decomposition_free(d);
  ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 0, WINDROW_EVEN, &d));
  EXPECT_WINDROW_OK(windrow_decomposition_rows(d, &first, &count));
  EXPECT_EQ(count, 0);
  windrow_decomposition_free(d);
  EXPECT_WINDROW_ERROR(windrow_rows(MPI_COMM_WORLD, -5, WINDROW_EVEN, &d), WINDROW_BAD_ARGUMENT, "-5");
  EXPECT_EQ(d, nullptr);
}

// Arguments marked [same].
TEST_F(Misuse, of_decompositions_that_differ_between_ranks) {
  if (size_of() < 2)
    GTEST_SKIP() << "needs two ranks";
  windrow_decomposition* d = nullptr;
  const int64_t flat[2] = {2, 6}, tall[2] = {3, 4}, none[2] = {0, 0}, line[1] = {12},
                start[1] = {rank_of() == 1 ? 1 : 0}, count[1] = {5};
  EXPECT_WINDROW_ERROR(windrow_block(MPI_COMM_WORLD, 2, rank_of() == 1 ? tall : flat, none, none, nullptr, nullptr, &d),
                       WINDROW_BAD_ARGUMENT, "differ between the ranks");
  EXPECT_WINDROW_ERROR(windrow_block(MPI_COMM_WORLD, rank_of() == 1 ? 1 : 2, rank_of() == 1 ? line : flat, none, none,
                                     nullptr, nullptr, &d),
                       WINDROW_BAD_ARGUMENT, "differ between the ranks");
  EXPECT_WINDROW_ERROR(windrow_same(MPI_COMM_WORLD, 1, line, start, count, &d), WINDROW_BAD_ARGUMENT,
                       "differ between the ranks");
  EXPECT_EQ(d, nullptr);
}

// One handle of a file that is changed: a second would count on metadata that the first moves.
TEST_F(Misuse, of_a_file_that_is_open) {
  for (const char* ending : {"raw", "h5", "nc"}) {
    if (windrow_has(ending[0] == 'h' ? "hdf5" : ending[0] == 'n' ? "netcdf" : "raw") == 0)
      continue;
    SCOPED_TRACE(ending);
    const std::string at = folder_.file(std::string("open twice.") + ending);
    const std::array<int64_t, 1> shape{6};
    windrow_file *file = nullptr, *second = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, at.c_str(), nullptr, &file));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, shape.data(), &variable));
    EXPECT_WINDROW_OK(windrow_close(file));
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), WINDROW_UPDATE, nullptr, &file));
    if (rank_of() == 0)
      std::filesystem::create_symlink(at, at + ".again");
    MPI_Barrier(MPI_COMM_WORLD);
    for (const std::string& name : {at, at + ".again"}) {
      EXPECT_WINDROW_ERROR(windrow_open(MPI_COMM_WORLD, name.c_str(), WINDROW_UPDATE, nullptr, &second),
                           WINDROW_BAD_STATE, "open for update already");
      EXPECT_EQ(windrow_error_rank(), 0);
      EXPECT_EQ(second, nullptr);
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    if (ending[0] == 'h') {
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), WINDROW_READ, nullptr, &file));
      EXPECT_WINDROW_ERROR(windrow_open(MPI_COMM_WORLD, at.c_str(), WINDROW_UPDATE, nullptr, &second),
                           WINDROW_BAD_STATE, "open for reading in this program");
      EXPECT_WINDROW_OK(windrow_close(file));
    }
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), WINDROW_UPDATE, nullptr, &file));
    EXPECT_WINDROW_OK(windrow_discard(file));
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, at.c_str(), WINDROW_UPDATE, nullptr, &file));
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

TEST_F(Misuse, that_differs_is_named) {
  if (size_of() < 3)
    GTEST_SKIP() << "needs three ranks";
  windrow_file* file = create();
  const bool odd = rank_of() == 2;
  const std::array<int64_t, 2> shape{odd ? 4 : 3, 5};
  int variable = -1;
  EXPECT_WINDROW_ERROR(
      windrow_define_variable(file, "density", WINDROW_FLOAT64, 2, shape.data(), &variable), WINDROW_BAD_ARGUMENT,
      "number 1 is \"/density\" of float64, shape 4 x 5 here and \"/density\" of float64, shape 3 x 5 on rank 0");
  EXPECT_EQ(windrow_error_rank(), 2);
  EXPECT_WINDROW_OK(windrow_discard(file));
  const Options options{{"buffer", odd ? "2MiB" : "1MiB"}};
  EXPECT_WINDROW_ERROR(windrow_create(MPI_COMM_WORLD, path().c_str(), options, &file), WINDROW_BAD_ARGUMENT,
                       "is buffer=2MiB here and buffer=1MiB on rank 0");
  EXPECT_EQ(windrow_error_rank(), 2);
}

TEST(Library, says_what_it_is) {
  EXPECT_STREQ(windrow_version(), "0.1.0");
  for (const char* there : {"raw", "posix", "faulty", "auto", "two-phase", "idg", "owner=balanced", "gather=team",
                            "domains=even", "domains=target", "ylib", "access=sieve", "codec=off"})
    EXPECT_EQ(windrow_has(there), 1) << there;
  for (const char* absent : {"", "adios", "memory", "domains=target(2)", "gather=", "posi"})
    EXPECT_EQ(windrow_has(absent), 0) << absent;
  EXPECT_EQ(windrow_has(nullptr), 0);
  EXPECT_THAT(windrow_features(), HasSubstr("format raw\n"));
  EXPECT_THAT(windrow_features(), HasSubstr("strategy auto\n"));
  EXPECT_EQ(windrow_type_size(WINDROW_FLOAT32), 4);
  EXPECT_EQ(windrow_type_size(WINDROW_TEXT), 0);
  EXPECT_EQ(windrow_type_size(-1), 0);
  EXPECT_EQ(windrow_type_size(99), 0);
  EXPECT_STREQ(windrow_type_name(WINDROW_UINT16), "uint16");
  EXPECT_STREQ(windrow_type_name(99), "none");
  for (int code = WINDROW_OK; code <= WINDROW_INTERNAL; ++code)
    EXPECT_STRNE(windrow_code_name(code), "");
  EXPECT_NE(windrow_code_name(99), nullptr);
  EXPECT_NE(windrow_code_name(-1), nullptr);
}

}  // namespace
