// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace windrow {
namespace {

// Bytes of a character that begins with this byte; 0: none does.
size_t size_from(unsigned first) noexcept {
  if (first < 0x80)
    return 1;
  if (first < 0xc2 || first > 0xf4)
    return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// Overlong forms, surrogates and code points above U+10FFFF.
bool is_excluded(unsigned first, unsigned second) noexcept {
  switch (first) {
    case 0xe0:
      return second < 0xa0;
    case 0xed:
      return second > 0x9f;
    case 0xf0:
      return second < 0x90;
    case 0xf4:
      return second > 0x8f;
    default:
      return false;
  }
}

// Bytes of the first character of `text`; 0: not a character.
size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const size_t size = size_from(byte(0));
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  return is_excluded(byte(0), byte(1)) ? 0 : size;
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

std::string with_entities(std::string_view text, std::string_view apostrophe) {
  std::string out;
  for (const char c : text)
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += apostrophe;
        break;
      default:
        out += c;
    }
  return out;
}

bool has_ending(std::string_view name, std::string_view ending) noexcept {
  if (name.size() < ending.size())
    return false;
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, small);
}

}  // namespace windrow
