// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace windrow {
namespace {

constexpr int64_t k_mib = int64_t{1} << 20;

TEST(ParseBytes, takes_what_people_write) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("4k"), 4096);
  EXPECT_EQ(parse_bytes("16MiB"), 16 * k_mib);
  EXPECT_EQ(parse_bytes("16 mib"), 16 * k_mib);
  EXPECT_EQ(parse_bytes("16M"), 16 * k_mib);
  EXPECT_EQ(parse_bytes("16MB"), 16'000'000);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1536 * k_mib);
  EXPECT_EQ(parse_bytes("0.5k"), 512);
  EXPECT_EQ(parse_bytes("17 B"), 17);
  EXPECT_EQ(parse_bytes("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(ParseBytes, refuses_the_rest) {
  for (const char* text : {"",
                           " ",
                           "k",
                           "MiB",
                           "-1",
                           "+1",
                           "4x",
                           "4kk",
                           "4kiBB",
                           "1..5k",
                           ".",
                           "4 k ",
                           " 4k",
                           "4  k",
                           "1e3",
                           "nan",
                           "inf",
                           "9223372036854775808",
                           "8E",
                           "9999999999999999999999999999G",
                           "9000000000.5G",
                           "0x10"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
}

TEST(FormatBytes, is_exact_where_it_can_be) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(16 * k_mib), "16 MiB");
  EXPECT_EQ(format_bytes(1536 * k_mib), "1536 MiB");
  EXPECT_EQ(format_bytes(4'200'000), "4.2 MB");
  EXPECT_EQ(format_bytes(999'999), "1.0 MB");
  EXPECT_EQ(format_bytes(1001), "1.0 kB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "9.2 EB");
}

TEST(FormatSeconds, has_a_unit_that_fits) {
  EXPECT_EQ(format_seconds(0), "0.0 µs");
  EXPECT_EQ(format_seconds(17e-6), "17.0 µs");
  EXPECT_EQ(format_seconds(4.5e-3), "4.50 ms");
  EXPECT_EQ(format_seconds(0.9999), "1.00 s");
  EXPECT_EQ(format_seconds(123.456), "123.46 s");
}

TEST(ParseInteger, takes_whole_numbers_only) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
  for (const char* text : {"", "+", "-", "+-1", "1.0", "1 ", " 1", "9223372036854775808"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

}  // namespace
}  // namespace windrow
