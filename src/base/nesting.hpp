// SPDX-License-Identifier: BSD-3-Clause
// Bounds the nesting of JSON before it is parsed: functions that walk JSON values recurse once a level, and untrusted
// text can have hundreds of thousands of levels.
#pragma once

#include <string_view>

namespace windrow {

inline constexpr int k_most_nesting = 64;  // levels; our own files have at most ten

// Whether objects and lists are nested more than k_most_nesting levels deep. For text that is not JSON the answer is
// meaningless but safe.
constexpr bool is_nested_too_deep(std::string_view text) noexcept {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char each = text[i];
    if (in_text) {
      if (each == '\\')
        ++i;
      in_text = each != '"';
    } else if (each == '"') {
      in_text = true;
    } else if (each == '{' || each == '[') {
      if (++depth > k_most_nesting)
        return true;
    } else if (each == '}' || each == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace windrow
