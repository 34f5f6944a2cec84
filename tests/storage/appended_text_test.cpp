// SPDX-License-Identifier: BSD-3-Clause
#include "storage/appended_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "../temporary_folder.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

class AppendedTextTest : public testing::Test {
 protected:
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_.path("a text");
};

TEST_F(AppendedTextTest, is_added_to_by_one_after_the_other) {
  for (const char* line : {"{\"a\":1}\n", "{\"b\":2}\n"}) {
    auto text = AppendedText::open(path_, "{\"a\":");
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_TRUE(text.value().append(line).ok());
  }
  EXPECT_EQ(read(path_), "{\"a\":1}\n{\"b\":2}\n");
}

TEST_F(AppendedTextTest, is_not_what_somebody_else_has_written) {
  for (const char* content : {"something else\n", "{\"a", "{\"a\":1}\n{\"cut"}) {
    std::ofstream(path_) << content;
    const auto text = AppendedText::open(path_, "{\"a\":");
    EXPECT_EQ(text.status().code(), Code::bad_file) << content;
    EXPECT_THAT(text.status().message(), HasSubstr(path_));
    EXPECT_EQ(read(path_), content);
  }
}

TEST_F(AppendedTextTest, is_a_file) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(AppendedText::open(path_, "a").status().code(), Code::bad_argument);
  EXPECT_EQ(AppendedText::open("/dev/full", "a").status().code(), Code::bad_argument);
  EXPECT_FALSE(AppendedText::open(folder_.path(), "a").ok());
  EXPECT_EQ(AppendedText::open(folder_.path("none/text"), "a").status().code(), Code::not_found);
}

TEST_F(AppendedTextTest, beyond_the_limit_of_a_file_is_an_error_and_no_signal) {
  auto text = AppendedText::open(path_, "a");
  ASSERT_TRUE(text.ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(text.value().append(std::string(90, 'a')).ok());
  const Status status = text.value().append(std::string(20, 'a'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_THAT(status.message(), HasSubstr(path_));
  EXPECT_EQ(read(path_).size(), 90);
}

}  // namespace
}  // namespace windrow::test
