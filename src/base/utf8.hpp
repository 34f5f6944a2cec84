// SPDX-License-Identifier: BSD-3-Clause
// UTF-8, which all names are.
#pragma once

#include <string>
#include <string_view>

namespace windrow {

// No overlong forms, no surrogates, nothing behind U+10FFFF (RFC 3629, section 4).
bool is_utf8(std::string_view text) noexcept;

// The text with "\xNN" for what is not UTF-8, so that a message about it is.
std::string readable(std::string_view text);

}  // namespace windrow
