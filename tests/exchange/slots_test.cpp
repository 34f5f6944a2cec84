// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/shared_slots.hpp"

#include <gtest/gtest.h>

#include <set>

namespace windrow {
namespace {

// Files are 2^56 bytes apart in the address space. So with windows of 4 KiB the steps of two files are 2^44 apart, and
// beyond 2^48.
TEST(SharedSlots, steps_and_generations_have_tokens_of_their_own) {
  std::set<int64_t> tokens;
  size_t count = 0;
  for (int64_t generation = 0; generation < 40; ++generation)
    for (int64_t file = 0; file < 40; ++file)
      for (int64_t step = 0; step < 20; ++step, ++count)
        tokens.insert(SharedSlots::token_of(generation, (file << 44) + step));
  EXPECT_EQ(tokens.size(), count);
}

}  // namespace
}  // namespace windrow
