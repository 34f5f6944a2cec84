// SPDX-License-Identifier: BSD-3-Clause
// Lists as text. For list_text() each module that uses it would compile the formatting of numbers again, for 1 to 3 s.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/list_text.hpp"

namespace windrow {

void append_value(std::string& text, int64_t value);
void append_value(std::string& text, double value);
void append_value(std::string& text, std::string_view value);

// The values, with `between` between them.
template <class List>
std::string list_text(const List& values, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& value : values) {
    if (!first)
      text += between;
    first = false;
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(value)>>)
      append_value(text, static_cast<int64_t>(value));
    else
      append_value(text, value);
  }
  return text;
}

}  // namespace windrow
