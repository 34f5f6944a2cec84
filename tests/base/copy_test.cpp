// SPDX-License-Identifier: BSD-3-Clause
#include "base/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace windrow {
namespace {

TEST(Copy, copies_the_same_bytes_at_any_distance_and_of_any_length) {
  constexpr size_t k_most = 10'000;
  std::vector<std::byte> from(k_most + 8192), to(k_most + 3 * 4096);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<std::byte>(i * 2654435761U >> 13 | 1);
  for (const size_t apart : std::initializer_list<size_t>{0, 1, 16, 31, 32, 2048, 4095})
    for (const size_t length : std::initializer_list<size_t>{0, 1, 2047, 2048, 2049, 4096, 6145, 10'000}) {
      std::fill(to.begin(), to.end(), std::byte{0});
      std::byte* const place = to.data() + (address_of(from.data()) + apart - address_of(to.data())) % 4096;
      copy_long(place, from.data(), length);
      EXPECT_TRUE(std::equal(place, place + length, from.data())) << apart << " " << length;
      EXPECT_EQ(place[length], std::byte{0}) << "behind it";
    }
}

#if defined(__x86_64__)
TEST(Copy, knows_which_distances_are_slow) {
  EXPECT_FALSE(copies_slowly(8192, 4096));
  EXPECT_TRUE(copies_slowly(8192 + 1, 4096));
  EXPECT_TRUE(copies_slowly(16, 4096)) << "below the source, too";
  EXPECT_TRUE(copies_slowly(8192 + 31, 4096));
  EXPECT_FALSE(copies_slowly(8192 + 32, 4096));
  EXPECT_FALSE(copies_slowly(4096, 4096 + 16));
}
#endif

}  // namespace
}  // namespace windrow
