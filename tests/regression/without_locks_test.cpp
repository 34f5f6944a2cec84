// SPDX-License-Identifier: BSD-3-Clause
// On a file system without locks, a file that a killed program left half changed is restored when it is opened for
// update, as elsewhere.
#include <cerrno>

#include "../capi/checked.hpp"
#include "failing_storage.h"

// In place of the one of libc, as on Lustre without the option flock.
extern "C" int flock(int, int) {
  errno = ENOSYS;
  return -1;
}

namespace {

using namespace windrow_test;

constexpr int k_variables = 12;
constexpr int64_t k_elements = 50;

void write_all(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_SELF, path.c_str(), nullptr, &file));
  for (int i = 0; i < k_variables; ++i) {
    const int64_t start = 0;
    const std::vector<int32_t> data(k_elements, i);
    const std::string name = "v" + std::to_string(i);
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_define_variable(file, name.c_str(), WINDROW_INT32, 1, &k_elements, &variable));
    ASSERT_WINDROW_OK(windrow_write_block(file, variable, &start, &k_elements, data.data()));
    ASSERT_WINDROW_OK(windrow_put_attribute_text(file, name.c_str(), "text", "old"));
  }
  ASSERT_WINDROW_OK(windrow_close(file));
}

void change_attributes(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file));
  for (int i = 0; i < k_variables; ++i)
    ASSERT_WINDROW_OK(
        windrow_put_attribute_text(file, ("v" + std::to_string(i)).c_str(), "text", std::string(300, 'n').c_str()));
  (void)windrow_close(file);
}

void expect_all(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_STREQ(windrow_unsupported_objects(file), "");
  for (int i = 0; i < k_variables; ++i) {
    const int64_t start = 0;
    std::vector<int32_t> data(k_elements, -1);
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, ("v" + std::to_string(i)).c_str(), &variable));
    ASSERT_WINDROW_OK(windrow_read_block(file, variable, &start, &k_elements, data.data()));
    EXPECT_EQ(data, std::vector<int32_t>(k_elements, i));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST(WithoutLocks, half_changed_files_are_restored) {
  const SharedFolder folder;
  int half_changed = 0;
  for (const char* name : {"a.h5", "a.nc"})
    for (long nth = 1, calls = 0; calls == nth - 1; ++nth) {
      SCOPED_TRACE(std::string(name) + ", nothing has an effect from call " + std::to_string(nth) + " on");
      const std::string path = folder.file(name);
      write_all(path);
      volatile int frozen = 0;
      failing_start(folder.path().c_str(), FAILING_FREEZE, nth, &frozen);
      change_attributes(path);
      calls = failing_stop();
      windrow_file* file = nullptr;
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_READ, nullptr, &file));
      half_changed += *windrow_interrupted(file) != '\0' ? 1 : 0;
      ASSERT_WINDROW_OK(windrow_close(file));
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file));
      ASSERT_WINDROW_OK(windrow_close(file));
      expect_all(path);
    }
  EXPECT_GT(half_changed, 2);
}

}  // namespace
