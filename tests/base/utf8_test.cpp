// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace windrow::test {

TEST(Utf8, is_told_from_other_bytes) {
  for (const char* good :
       {"", "plain", "gr\u00fc\u00dfe", "\u65e5\u672c", "\U0001f33e", "\x7f", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"gr\xfc\xdf"
                          "e",
                          "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x8c", "\xc0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80",
                          "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xc3(", "\xe2(\xa1"})
    EXPECT_FALSE(is_utf8(bad)) << readable(bad);
}

TEST(Utf8, can_be_made_of_any_bytes) {
  EXPECT_EQ(readable("gr\u00fc\u00dfe"), "gr\u00fc\u00dfe");
  EXPECT_EQ(readable("gr\xfc\xdf"
                     "e \xe2\x82"),
            "gr\\xfc\\xdfe \\xe2\\x82");
  EXPECT_EQ(readable(std::string_view("a\0b\n", 4)), "a\\x00b\n") << "a message ends at NUL";
}

}  // namespace windrow::test
