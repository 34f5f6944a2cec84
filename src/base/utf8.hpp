// SPDX-License-Identifier: BSD-3-Clause
// UTF-8, which all names are.
#pragma once

#include <string>
#include <string_view>

namespace windrow {

// No overlong forms, no surrogates, nothing behind U+10FFFF (RFC 3629, section 4).
bool is_utf8(std::string_view text) noexcept;

// The text with "\xNN" for what is not UTF-8, and for NUL, at which a message about it would end.
std::string readable(std::string_view text);

// Whether a name ends in `ending`, which is of small letters, whatever the capitals of the name: "RUN.H5" is ".h5".
bool has_ending(std::string_view name, std::string_view ending) noexcept;

}  // namespace windrow
