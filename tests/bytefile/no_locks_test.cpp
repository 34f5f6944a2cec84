// SPDX-License-Identifier: BSD-3-Clause
// A file system without locks, such as Lustre mounted without them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <nlohmann/json.hpp>

#include "../capi/checked.hpp"

namespace {

int refuse_or_call(int descriptor, int command, void* argument) {
  if (command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK) {
    errno = ENOSYS;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fcntl, descriptor, command, argument));
}

}  // namespace

// In place of those of the C library, which has one for each size of offsets.
extern "C" int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return refuse_or_call(descriptor, command, argument);
}
extern "C" int fcntl64(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return refuse_or_call(descriptor, command, argument);
}

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_pieces = 1000, k_bytes = 8;

class NoLocks : public testing::Test {
 protected:
  std::string path() const { return folder_.file("plain bytes"); }
  windrow_bytes* open(const KeyValues& values) const {
    windrow_bytes* file = nullptr;
    EXPECT_WINDROW_OK(
        windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE_OR_CREATE, Options(values), &file));
    return file;
  }
  void SetUp() override {
    // Every second piece of the file, in turns: there are small holes between short pieces.
    std::vector<int64_t> offsets, lengths(k_pieces, k_bytes);
    for (int64_t i = 0; i < k_pieces; ++i)
      offsets.push_back(2 * k_bytes * (i * size_of() + rank_of()));
    ASSERT_WINDROW_OK(windrow_byte_list_pieces(k_pieces, offsets.data(), nullptr, lengths.data(), &list_));
  }
  void TearDown() override { windrow_byte_list_free(list_); }
  void expect_written(windrow_bytes* file) const {
    std::string found(mine_.size(), '?');
    EXPECT_WINDROW_OK(windrow_bytes_read(file, list_, found.data(), nullptr));
    EXPECT_EQ(found, mine_);
  }

  SharedFolder folder_;
  windrow_byte_list* list_ = nullptr;
  const std::string mine_ = std::string(k_pieces * k_bytes, static_cast<char>('a' + rank_of()));
};

TEST_F(NoLocks, AreNotNeededByAWriteThatIsChosen) {
  windrow_bytes* file = open({});
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_bytes_explain(file, 1, list_, "json", &text));
  const auto plan = nlohmann::json::parse(text)[0];
  EXPECT_EQ(plan["access"], "contiguous");
  EXPECT_THAT(plan["reasons"].dump(), HasSubstr("the file system has no locks"));
  EXPECT_WINDROW_OK(windrow_bytes_write(file, list_, mine_.data()));
  expect_written(file);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST_F(NoLocks, AreNotNeededWithoutSieving) {
  for (const char* access : {"contiguous", "list"}) {
    windrow_bytes* file = open({{"access", access}});
    EXPECT_WINDROW_OK(windrow_bytes_write(file, list_, mine_.data())) << access;
    expect_written(file);
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
  }
}

TEST_F(NoLocks, AreAnErrorWhereSievingIsAskedFor) {
  windrow_bytes* file = open({{"access", "sieve"}});
  const int code = windrow_bytes_write(file, list_, mine_.data());
  EXPECT_EQ(code, WINDROW_UNSUPPORTED);
  EXPECT_THAT(windrow_error_message(), HasSubstr("this file system has no locks"));
  expect_same_everywhere(code);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

}  // namespace
