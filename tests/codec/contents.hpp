// SPDX-License-Identifier: BSD-3-Clause
// Contents of messages for the tests of the codec.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace windrow_test {

using Message = std::vector<std::byte>;

inline Message zeros(size_t size) {
  return Message(size);
}

// One element repeated. Adjacent bytes of it differ.
inline Message equal_elements(size_t size, size_t element) {
  Message message(size);
  for (size_t i = 0; i < size; ++i)
    message[i] = static_cast<std::byte>(1 + i % element * 7);
  return message;
}

inline Message smooth_floats(size_t size) {
  Message message(size);
  for (size_t i = 0; 4 * i < size; ++i) {
    const auto value = static_cast<float>(300.0 + 25.0 * std::sin(0.001 * static_cast<double>(i)));
    std::memcpy(message.data() + 4 * i, &value, std::min<size_t>(4, size - 4 * i));
  }
  return message;
}

// Numbers of 4 bytes that change rarely, so every codec makes them smaller.
inline Message steps(size_t size) {
  Message message(size);
  for (size_t i = 0; i < size; i += 4)
    message[i] = static_cast<std::byte>(i / 64 % 50);
  return message;
}

inline Message noise(size_t size) {
  std::mt19937 random(11);
  Message message(size);
  for (std::byte& byte : message)
    byte = static_cast<std::byte>(random() >> 13);
  return message;
}

inline Message text(size_t size) {
  constexpr std::string_view k_words =
      "Ranks hold pieces; a flush moves them in rounds to writers, which write long rows into one file. ";
  Message message(size);
  for (size_t i = 0; i < size; ++i)
    message[i] = static_cast<std::byte>(k_words[(i + i / 500) % k_words.size()]);
  return message;
}

}  // namespace windrow_test
