// SPDX-License-Identifier: BSD-3-Clause
#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace windrow::test {
namespace {

constexpr uint16_t k_infinite = 0x7c00;

Half half(int bits) {
  return Half{static_cast<uint16_t>(bits)};
}

}  // namespace

TEST(Half, every_one_is_a_double_and_comes_back) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const double value = wide(half(bits));
    EXPECT_EQ(std::isnan(value), (bits & 0x7fff) > k_infinite);
    EXPECT_EQ(std::signbit(value), bits >= 0x8000);
    const int quiet = std::isnan(value) ? 0x200 : 0;
    EXPECT_EQ(narrow(value).bits, bits | quiet) << bits;
  }
  EXPECT_EQ(wide(half(0x3c00)), 1);
  EXPECT_EQ(wide(half(0xc100)), -2.5);
  EXPECT_EQ(wide(half(0x0001)), 0x1p-24);
  EXPECT_EQ(wide(half(0x0400)), 0x1p-14);
  EXPECT_EQ(wide(half(0x7bff)), k_most_half);
  EXPECT_TRUE(std::isinf(wide(half(k_infinite))));
}

// Between two neighbours: the middle is rounded to the even one, a value next to it to the nearer one.
TEST(Half, is_the_nearest_of_a_double) {
  for (int below = 0; below < 0x7bff; ++below) {
    const double middle = (wide(half(below)) + wide(half(below + 1))) / 2;
    const auto infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(narrow(middle).bits, below + below % 2) << middle;
    EXPECT_EQ(narrow(std::nextafter(middle, 0)).bits, below) << middle;
    EXPECT_EQ(narrow(std::nextafter(middle, infinity)).bits, below + 1) << middle;
    EXPECT_EQ(narrow(-middle).bits, 0x8000 + below + below % 2) << middle;
  }
}

TEST(Half, ends_at_its_largest) {
  EXPECT_EQ(narrow(std::nextafter(65520, 0)).bits, 0x7bff);
  for (const double much : {65520.0, 1e5, 1e308, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(narrow(much).bits, k_infinite);
    EXPECT_EQ(narrow(-much).bits, 0x8000 + k_infinite);
  }
  EXPECT_EQ(narrow(1e-300).bits, 0);
  EXPECT_EQ(narrow(-1e-300).bits, 0x8000);
}

}  // namespace windrow::test
