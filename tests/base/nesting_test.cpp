// SPDX-License-Identifier: BSD-3-Clause
#include "base/nesting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace windrow::test {

TEST(Nesting, is_counted_outside_of_texts) {
  const auto lists = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_FALSE(is_nested_too_deep(""));
  EXPECT_FALSE(is_nested_too_deep(lists(k_most_nesting)));
  EXPECT_TRUE(is_nested_too_deep(lists(k_most_nesting + 1)));
  EXPECT_TRUE(is_nested_too_deep("{\"a\":" + lists(k_most_nesting) + "}"));
  EXPECT_FALSE(is_nested_too_deep("\"" + lists(1000) + "\""));
  EXPECT_FALSE(is_nested_too_deep("\"\\\"" + lists(1000) + "\"")) << "a quote in a text does not end it";
  EXPECT_TRUE(is_nested_too_deep("\"\\\\\"" + lists(1000))) << "a backslash behind a backslash does not hide the quote";
  EXPECT_FALSE(is_nested_too_deep(std::string(1000, ']') + "\"\\")) << "what is no JSON is safe";
  std::string beside;
  for (int i = 0; i < 1000; ++i)
    beside += "[{}],";
  EXPECT_FALSE(is_nested_too_deep(beside));
}

}  // namespace windrow::test
