// SPDX-License-Identifier: BSD-3-Clause
#include "base/kept.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using Squares = windrow::Kept<int, std::string>;

TEST(Kept, tells_what_was_kept_and_nothing_else) {
  Squares squares;
  EXPECT_EQ(squares.find(2), std::nullopt);
  squares.keep(2, "four");
  EXPECT_EQ(squares.find(2), "four");
  EXPECT_EQ(squares.find(3), std::nullopt);
}

TEST(Kept, forgets_what_nobody_asked_for_the_longest) {
  Squares squares;
  for (int i = 0; i < 8; ++i) squares.keep(i, std::to_string(i * i));
  EXPECT_EQ(squares.find(0), "0");
  for (int i = 8; i < 10; ++i) squares.keep(i, std::to_string(i * i));
  for (const int gone : {1, 2}) EXPECT_EQ(squares.find(gone), std::nullopt);
  for (const int there : {0, 3, 4, 5, 6, 7, 8, 9}) EXPECT_EQ(squares.find(there), std::to_string(there * there));
}

}  // namespace
