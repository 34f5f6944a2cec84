// SPDX-License-Identifier: BSD-3-Clause
// How deep JSON goes, before it is read: what walks its values calls itself for each level, and a stranger's text can
// have hundreds of thousands.
#pragma once

#include <string_view>

namespace windrow {

inline constexpr int k_most_nesting = 64;  // levels; nothing of ours has more than ten

// Whether objects and lists lie within each other more than k_most_nesting times. Of text that is no JSON the answer
// means nothing, and is safe.
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
