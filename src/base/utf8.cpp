// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace windrow {
namespace {

// Bytes of the first character of `text`; 0: not a character.
size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80)
    return 1;
  const size_t size = first >= 0xc2 && first <= 0xdf   ? 2
                      : first >= 0xe0 && first <= 0xef ? 3
                      : first >= 0xf0 && first <= 0xf4 ? 4
                                                       : 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool too_large = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : size;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0)
      return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string readable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t size = text[0] == '\0' ? 0 : character_size(text);
    if (size == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else
      result += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

bool has_ending(std::string_view name, std::string_view ending) noexcept {
  if (name.size() < ending.size())
    return false;
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, small);
}

}  // namespace windrow
