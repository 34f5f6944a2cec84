// SPDX-License-Identifier: BSD-3-Clause
#include "base/list_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace windrow {
namespace {

TEST(ListText, lists_of_numbers_and_of_texts) {
  EXPECT_EQ(list_text(std::vector<int64_t>{-1, 0, std::numeric_limits<int64_t>::max()}, " x "),
            "-1 x 0 x 9223372036854775807");
  EXPECT_EQ(list_text(std::vector<int>{7, -8}, ""), "7-8");
  EXPECT_EQ(list_text(std::vector<double>{0.1, 3, 1e300}, " "), "0.1 3 1e+300");
  EXPECT_EQ(list_text(std::vector<std::string>{"", "a", ""}, ", "), ", a, ");
  EXPECT_EQ(list_text(std::array{"one"}, ", "), "one");
}

TEST(ListText, nothing) {
  EXPECT_EQ(list_text(std::vector<int64_t>{}, ", "), "");
  EXPECT_EQ(list_text(std::span<const std::string_view>{}, ", "), "");
}

}  // namespace
}  // namespace windrow
