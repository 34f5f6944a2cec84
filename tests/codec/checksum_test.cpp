// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum.hpp"

#include <gtest/gtest.h>

#include "contents.hpp"

#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

namespace windrow {
namespace {

TEST(Checksum, is_xxh32) {
  EXPECT_EQ(xxh32({}), 0x02cc5d05u);
  const char abc[] = {'a', 'b', 'c'};
  EXPECT_EQ(xxh32(std::as_bytes(std::span(abc))), 0x32d153ffu);
}

#ifdef XXH_INLINE_ALL
TEST(Checksum, is_what_the_library_makes_of_every_length) {
  const auto bytes = windrow_test::noise(5000);
  for (size_t length = 0; length < bytes.size(); length += length < 100 ? 1 : 37)
    ASSERT_EQ(xxh32(std::span(bytes).first(length)), XXH32(bytes.data(), length, 0)) << length;
}
#endif

}  // namespace
}  // namespace windrow
