// SPDX-License-Identifier: BSD-3-Clause
#include "base/list_text.hpp"

#include <fmt/format.h>

namespace windrow {

void append_value(std::string& text, int64_t value) {
  text += std::to_string(value);
}
void append_value(std::string& text, double value) {
  text += fmt::format("{}", value);
}
void append_value(std::string& text, std::string_view value) {
  text += value;
}

}  // namespace windrow
