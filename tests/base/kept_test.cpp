// SPDX-License-Identifier: BSD-3-Clause
#include "base/kept.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using Squares = windrow::Kept<int, std::string>;

std::optional<std::string> ask(const Squares& squares, int number) {
  return squares.find([&](int each) { return each == number; });
}

TEST(Kept, tells_what_was_kept_and_nothing_else) {
  Squares squares;
  EXPECT_EQ(ask(squares, 2), std::nullopt);
  squares.keep(2, "four");
  EXPECT_EQ(ask(squares, 2), "four");
  EXPECT_EQ(ask(squares, 3), std::nullopt);
}

TEST(Kept, forgets_the_oldest) {
  Squares squares;
  for (int i = 0; i < 6; ++i) squares.keep(i, std::to_string(i * i));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(squares, i), std::nullopt);
  for (int i = 2; i < 6; ++i) EXPECT_EQ(ask(squares, i), std::to_string(i * i));
}

}  // namespace
