// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/item.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace windrow {
namespace {

// Against the definition, byte by byte: elements of all sizes, pieces that begin and end inside one.
TEST(CopySwapped, reverses_elements_wherever_a_piece_begins_and_ends) {
  constexpr int64_t k_bytes = 240;  // longer than what is reversed at once
  std::vector<std::byte> memory(k_bytes);
  for (int64_t i = 0; i < k_bytes; ++i)
    memory[static_cast<size_t>(i)] = static_cast<std::byte>(i * 7 + 1);
  for (const int64_t size : {2, 3, 4, 8, 12, 16}) {
    const int64_t whole = k_bytes / size * size;
    std::vector<std::byte> file(static_cast<size_t>(whole));
    for (int64_t i = 0; i < whole; ++i)
      file[static_cast<size_t>(i)] = memory[static_cast<size_t>(i / size * size + size - 1 - i % size)];
    for (int64_t phase = 0; phase < size; ++phase)
      for (int64_t length = 0; phase + length <= whole; ++length) {
        std::vector<std::byte> got(static_cast<size_t>(length) + 1, std::byte{0xee});
        copy_swapped_from(got.data(), memory.data(), phase, length, size);
        EXPECT_TRUE(std::equal(got.begin(), got.end() - 1, file.begin() + phase))
            << size << " " << phase << " " << length;
        EXPECT_EQ(got.back(), std::byte{0xee}) << "behind the piece";
        std::vector<std::byte> back(static_cast<size_t>(k_bytes), std::byte{0xee});
        copy_swapped_to(back.data(), file.data() + phase, phase, length, size);
        for (int64_t i = 0; i < whole; ++i) {
          const int64_t place = i / size * size + size - 1 - i % size;  // in memory, of byte i of the file
          const bool inside = i >= phase && i < phase + length;
          ASSERT_EQ(back[static_cast<size_t>(place)], inside ? memory[static_cast<size_t>(place)] : std::byte{0xee})
              << size << " " << phase << " " << length;
        }
      }
  }
}

}  // namespace
}  // namespace windrow
