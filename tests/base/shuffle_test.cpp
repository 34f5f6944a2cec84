// SPDX-License-Identifier: BSD-3-Clause
#include "base/shuffle.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace windrow {
namespace {

// By the definition: byte k of element i is byte i of plane k.
std::vector<std::byte> slowly_shuffled(const std::vector<std::byte>& from, size_t element) {
  const size_t elements = from.size() / element;
  std::vector<std::byte> to = from;
  for (size_t i = 0; i < elements; ++i)
    for (size_t k = 0; k < element; ++k)
      to[k * elements + i] = from[i * element + k];
  return to;
}

TEST(Shuffle, puts_bytes_of_one_place_together_and_back_for_every_size) {
  std::mt19937 random(5);
  for (const size_t size : {0u, 1u, 2u, 3u, 7u, 8u, 15u, 16u, 17u, 255u, 256u, 4096u, 4097u, 40003u}) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random());
    for (size_t element = 1; element <= 255; ++element) {
      std::vector<std::byte> there(size), back(size);
      shuffle_bytes(bytes, element, there);
      ASSERT_EQ(there, slowly_shuffled(bytes, element)) << size << " bytes, elements of " << element;
      unshuffle_bytes(there, element, back);
      ASSERT_EQ(back, bytes) << size << " bytes, elements of " << element;
    }
  }
}

TEST(Shuffle, leaves_behind_what_is_no_whole_element) {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  std::vector<std::byte> there(bytes.size());
  shuffle_bytes(bytes, 2, there);
  EXPECT_EQ(there, (std::vector<std::byte>{std::byte{1}, std::byte{3}, std::byte{2}, std::byte{4}, std::byte{5}}));
  shuffle_bytes(bytes, 6, there);
  EXPECT_EQ(there, bytes);
}

}  // namespace
}  // namespace windrow
