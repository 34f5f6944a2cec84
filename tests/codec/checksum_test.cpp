// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Checksum, is_the_same_of_pieces) {
  const auto bytes = windrow_test::noise(5000);
  for (const SumKind kind : {SumKind::xxh32, SumKind::xxh3}) {
    if (!has_sum(kind))
      continue;
    for (const size_t piece : {16u, 48u, 4096u, 8192u}) {
      for (const size_t length : {0u, 1u, 15u, 16u, 17u, 240u, 241u, 4096u, 4999u}) {
        ElementSum sum(kind), all(kind);
        const auto whole = std::span(bytes).first(length);
        all.add(whole);
        for (size_t at = 0; at < length; at += piece)
          sum.add(whole.subspan(at, std::min(piece, length - at)));
        EXPECT_EQ(sum.sum(), all.sum()) << length << " bytes in pieces of " << piece;
        if (kind == SumKind::xxh32) {
          EXPECT_EQ(all.sum(), xxh32(whole));
        }
#ifdef XXH_INLINE_ALL
        if (kind == SumKind::xxh3) {
          EXPECT_EQ(all.sum(), XXH3_64bits(whole.data(), whole.size()));
        }
#endif
      }
    }
  }
  EXPECT_TRUE(has_sum(best_sum()));
  EXPECT_FALSE(has_sum(static_cast<SumKind>(7)));
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
