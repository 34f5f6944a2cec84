// SPDX-License-Identifier: BSD-3-Clause
// Unicode's normal form C (Unicode Standard Annex 15), in which files have names that other libraries look up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace windrow {

// The normal form of UTF-8 text. nullopt: the text has a character that no text in this form has, and what it becomes is
// not known here. O(length * log(tables) + compositions). Tables of Unicode 14; characters that are newer stay as they are.
std::optional<std::string> normal_form_c(std::string_view text);

}  // namespace windrow
